"""Temperature of a small heated plate over a long time: a 48 × 48 grid, many thousand steps."""

import argparse

import numpy as np


def source(n):
    """A heater near one corner, a cooler near the other."""
    q = np.zeros((n, n))
    q[n // 8 : n // 4, n // 8 : n // 4] = 0.02
    q[-n // 4 : -n // 8, -n // 4 : -n // 8] = -0.01
    return q


def relax(t, q, alpha, steps):
    """Explicit diffusion with fixed borders."""
    for _ in range(steps):
        inner = t[1:-1, 1:-1]
        change = t[:-2, 1:-1] + t[2:, 1:-1] + t[1:-1, :-2] + t[1:-1, 2:] - 4.0 * inner
        t[1:-1, 1:-1] = inner + alpha * change + q[1:-1, 1:-1]
    return t


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=48)
    parser.add_argument("--steps", type=int, default=200_000)
    args = parser.parse_args()
    t = relax(np.full((args.n, args.n), 20.0), source(args.n), 0.2, args.steps)
    np.savetxt("plate.csv", t, fmt="%.6f", delimiter=",")
    print(f"min {t.min():.6f}  mean {t.mean():.6f}  max {t.max():.6f}")
    print("hottest cell", *np.unravel_index(t.argmax(), t.shape))


if __name__ == "__main__":
    main()
