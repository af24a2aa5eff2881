"""Take periodic interference out of camera frames in the frequency domain.

Narrow peaks that stand out of the mean spectrum of the tapered frames are notched out, a few times over,
since weaker stripes show only when the stronger ones are gone. High frequencies are damped at the end.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np


def frequencies(size):
    """Distance of each Fourier coefficient from zero frequency, in cycles per pixel."""
    f = np.fft.fftfreq(size)
    return np.sqrt(f[:, None] ** 2 + f[None, :] ** 2)


def damping(radius, cutoff):
    """Butterworth low-pass of order 4."""
    return 1.0 / (1.0 + (radius / cutoff) ** 8)


def taper(size, share=0.1):
    """A window that falls to zero over the outer share of each border."""
    edge = max(1, int(size * share))
    ramp = 0.5 - 0.5 * np.cos(np.pi * np.arange(edge) / edge)
    line = np.ones(size)
    line[:edge] = ramp
    line[-edge:] = ramp[::-1]
    return np.outer(line, line)


def mean_spectrum(frames, window):
    """Mean power of all frames, each with its mean taken off first."""
    total = np.zeros(frames.shape[1:])
    for frame in frames:
        spectrum = np.fft.fft2((frame - frame.mean()) * window)
        total += np.abs(spectrum) ** 2
    return total / len(frames)


def notches(power, radius, strength):
    """1 where a coefficient is kept, 0 where it stands out of the noise; the scene near the centre is spared."""
    detail = radius > 0.1
    floor = np.median(power[detail])
    return np.where(detail & (power > strength * floor), 0.0, 1.0)


def filter_frames(frames, transfer):
    """Apply a transfer function to every frame."""
    result = np.empty_like(frames)
    for number, frame in enumerate(frames):
        spectrum = np.fft.fft2(frame)
        result[number] = np.fft.ifft2(spectrum * transfer).real
    return result


def radial_profile(power, radius, bins):
    """Mean power by distance from zero frequency."""
    number = np.minimum((radius / 0.5 * bins).astype(np.int64), bins - 1).ravel()
    counts = np.bincount(number, minlength=bins)
    sums = np.bincount(number, weights=power.ravel(), minlength=bins)
    return sums / np.maximum(counts, 1)


def clean(frames, passes, cutoff, strength):
    """All passes; returns the frames, the spectrum at the end and how many coefficients went at each pass."""
    size = frames.shape[1]
    radius = frequencies(size)
    window = taper(size)
    removed = []
    for _ in range(passes):
        power = mean_spectrum(frames, window)
        keep = notches(power, radius, strength)
        removed.append(int(np.count_nonzero(keep == 0.0)))
        frames = filter_frames(frames, keep)
    frames = filter_frames(frames, damping(radius, cutoff))
    return frames, mean_spectrum(frames, window), removed


def main():
    parser = argparse.ArgumentParser(description="Take periodic interference out of camera frames")
    parser.add_argument("frames", type=Path)
    parser.add_argument("--passes", type=int, default=6)
    parser.add_argument("--cutoff", type=float, default=0.25)
    parser.add_argument("--strength", type=float, default=25.0)
    parser.add_argument("--bins", type=int, default=64)
    parser.add_argument("--out", type=Path, default=Path("cleaned"))
    args = parser.parse_args()

    started = time.perf_counter()
    args.out.mkdir(exist_ok=True)
    frames = np.load(args.frames).astype(np.float64)
    print(f"{len(frames)} frames of {frames.shape[1]} x {frames.shape[2]}, noise {frames.std():.5f}")

    cleaned, power, removed = clean(frames, args.passes, args.cutoff, args.strength)
    profile = radial_profile(power, frequencies(frames.shape[1]), args.bins)

    np.save(args.out / "mean.npy", cleaned.mean(axis=0))
    np.save(args.out / "frames.npy", cleaned.astype(np.float32))
    np.savetxt(args.out / "profile.csv", profile, fmt="%.8e", header="power")
    residual = cleaned - frames
    summary = {
        "removed": removed,
        "residual_rms": float(np.sqrt((residual**2).mean())),
        "brightest": [int(value) for value in np.unravel_index(cleaned[0].argmax(), cleaned[0].shape)],
    }
    (args.out / "summary.json").write_text(json.dumps(summary, indent=2) + "\n")
    print("coefficients removed:", *removed)
    print(f"residual {summary['residual_rms']:.6f}, brightest pixel of the first frame {summary['brightest']}")
    print(f"took {time.perf_counter() - started:.1f} s")


if __name__ == "__main__":
    main()
