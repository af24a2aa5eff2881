"""Write a stack of camera frames with stripes of interference, as one float32 .npy file."""

import argparse

import numpy as np


def scene(size):
    """What the camera looks at: broad hills and a few sharp discs."""
    y, x = np.mgrid[0:size, 0:size] / size
    image = 0.4 + 0.2 * np.sin(5.0 * x) * np.cos(4.0 * y)
    for row, column, radius in ((0.3, 0.3, 0.06), (0.6, 0.7, 0.10), (0.8, 0.2, 0.04)):
        image[(y - row) ** 2 + (x - column) ** 2 < radius**2] += 0.3
    return image


def frames(count, size, seed):
    """The scene with sensor noise and with stripes that drift from frame to frame."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:size, 0:size]
    clean = scene(size)
    stack = np.empty((count, size, size), dtype=np.float32)
    for number in range(count):
        phase = rng.uniform(0.0, 2.0 * np.pi)
        stripes = 0.1 * np.sin(2.0 * np.pi * (0.21 * x + 0.13 * y) + phase)
        stack[number] = clean + stripes + rng.normal(0.0, 0.03, size=clean.shape)
    return stack


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=12)
    parser.add_argument("--size", type=int, default=2048)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--out", default="frames.npy")
    args = parser.parse_args()
    stack = frames(args.count, args.size, args.seed)
    np.save(args.out, stack)
    print(f"{args.out}: {stack.shape}, {stack.nbytes / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
