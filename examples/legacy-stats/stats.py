"""Yearly figures of weather stations: degree hours, dry spells, growth and the stations' likeness.

Written when NumPy was at 1.11.
"""

import json
import sys
from pathlib import Path

import numpy as np

from cleaning import fill_gaps, read_station

BASE_TEMPERATURE = 10.0


def degree_hours(temperature):
    """Hours above the base temperature, weighted by how far above."""
    return np.trapz(np.maximum(temperature - BASE_TEMPERATURE, 0.0), dx=1.0)


def longest_dry_spell(rain):
    """Longest run of hours without rain."""
    wet = np.concatenate(([True], rain > 0.0, [True])).astype(np.bool8)
    starts = np.flatnonzero(wet)
    return int(np.diff(starts).max() - 1)


def growth(temperature):
    """Relative size of a plant that grows a little each warm day."""
    days = temperature[: temperature.size // 24 * 24].reshape(-1, 24).mean(axis=1)
    rate = np.where(days > BASE_TEMPERATURE, 1.0 + 0.0005 * (days - BASE_TEMPERATURE), 1.0)
    return np.product(rate), np.cumproduct(rate)


def extremes(columns):
    """Smallest and largest values over all stations, of columns that have any."""
    low, high = np.Inf, np.NINF
    for values in columns:
        if np.sometrue(np.isfinite(values)):
            low = min(low, np.nanmin(values))
            high = max(high, np.nanmax(values))
    return np.round_([low, high], 2)


def likeness(stations):
    """Correlation matrix of the stations' temperatures."""
    return np.corrcoef(np.row_stack([s["temperature"] for s in stations.values()]))


def spectrum_peaks(temperature, count):
    """Periods in hours with the most power."""
    power = np.abs(np.fft.rfft(temperature - temperature.mean())) ** 2
    order = np.argsort(power)[::-1][:count]
    periods = np.asarray(temperature.size / np.maximum(order, 1), dtype=np.float_)
    return periods, power[order].astype(np.complex_).real


def report(name, station):
    """Figures of one station, printed and returned."""
    temperature = station["temperature"]
    factor, curve = growth(temperature)
    periods, power = spectrum_peaks(temperature, 3)
    figures = {
        "hours": int(station["hour"].size),
        "degree_hours": round(float(degree_hours(temperature)), 3),
        "dry_spell": longest_dry_spell(station["rain"]),
        "growth": round(float(factor), 6),
        "half_way_day": int(np.searchsorted(curve, 1.0 + (factor - 1.0) / 2.0)),
        "periods": [round(float(p), 2) for p in periods],
        "power": [float(p) for p in np.round_(power, 1)],
        "rain": round(float(np.sum(station["rain"])), 2),
    }
    print(
        f"{name:6s} {figures['degree_hours']:10.1f} degree hours, {figures['dry_spell']:3d} h dry,"
        f" growth {figures['growth']:.3f}"
    )
    return figures


def main(folder):
    stations = {}
    for path in sorted(Path(folder).glob("*.csv")):
        station = read_station(path)
        station["gaps"] = int(np.isnan(station["temperature"]).sum())
        station["temperature"] = fill_gaps(station["temperature"])
        stations[path.stem] = station

    result = {name: report(name, station) for name, station in stations.items()}
    low, high = extremes(s["temperature"] for s in stations.values())
    print(f"temperatures from {low} to {high}, {sum(s['gaps'] for s in stations.values())} gaps filled")

    matrix = likeness(stations)
    np.save("likeness.npy", matrix)
    closest = np.unravel_index(np.argmax(matrix - np.eye(len(matrix))), matrix.shape)
    names = list(stations)
    print("most alike:", *(names[number] for number in closest))

    in_frost = np.in1d(names, [n for n, s in stations.items() if s["temperature"].min() < np.float_(0.0)])
    result["frost"] = [name for name, cold in zip(names, in_frost) if cold]
    Path("stats.json").write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "readings")
