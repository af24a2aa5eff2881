"""Write one CSV of sensor readings a station, with gaps and a few broken values."""

import argparse
import csv
import math
import random
from pathlib import Path

STATIONS = ["alder", "birch", "cedar", "elm", "hazel"]


def station_rows(rng, hours, level):
    """Hourly temperature, humidity and rain; -999 marks a broken reading."""
    for hour in range(hours):
        day = 2.0 * math.pi * hour / 24.0
        temperature = level + 6.0 * math.sin(day - 2.0) + rng.gauss(0.0, 1.5)
        humidity = 65.0 - 12.0 * math.sin(day - 2.0) + rng.gauss(0.0, 5.0)
        rain = max(0.0, rng.gauss(-1.0, 1.2))
        if rng.random() < 0.01:
            temperature = -999.0
        yield hour, round(temperature, 2), round(min(humidity, 100.0), 1), round(rain, 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=int, default=8760)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("readings"))
    args = parser.parse_args()
    args.out.mkdir(exist_ok=True)
    rng = random.Random(args.seed)
    for number, station in enumerate(STATIONS):
        with open(args.out / f"{station}.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["hour", "temperature", "humidity", "rain"])
            writer.writerows(station_rows(rng, args.hours, 8.0 + 2.0 * number))


if __name__ == "__main__":
    main()
