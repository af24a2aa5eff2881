"""Write a starting state for simulate.py: both chemicals on an n × n grid, as one .npy file."""

import argparse

import numpy as np


def seeded_state(n, spots, seed):
    """A plate full of the first chemical, with square spots of the second and a little noise."""
    rng = np.random.default_rng(seed)
    u = np.ones((n, n))
    v = np.zeros((n, n))
    radius = max(2, n // 64)
    for row, column in rng.integers(radius, n - radius, size=(spots, 2)):
        u[row - radius : row + radius, column - radius : column + radius] = 0.50
        v[row - radius : row + radius, column - radius : column + radius] = 0.25
    u += rng.uniform(-0.01, 0.01, size=u.shape)
    v += rng.uniform(0.0, 0.01, size=v.shape)
    return np.stack([u, v])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=2048, help="cells per side")
    parser.add_argument("--spots", type=int, default=40)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--out", default="state.npy")
    args = parser.parse_args()
    state = seeded_state(args.n, args.spots, args.seed)
    np.save(args.out, state)
    print(f"{args.out}: {state.shape[1]} x {state.shape[2]} cells, {state.nbytes / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
