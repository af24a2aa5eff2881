"""Write a table of invented customers: 50 measures of use and billing, and whether the customer left."""

import argparse

import numpy as np

SEGMENTS = 6
FEATURES = 50


def customers(rng, rows):
    """Customers of a few kinds; leaving depends on some measures, on the kind and on chance."""
    centres = rng.normal(0.0, 2.2, size=(SEGMENTS, FEATURES))
    kind = rng.choice(SEGMENTS, size=rows, p=[0.28, 0.22, 0.18, 0.14, 0.10, 0.08])
    X = centres[kind] + rng.normal(0.0, 1.0, size=(rows, FEATURES))
    own = X - centres[kind]
    score = (
        1.2 * own[:, 0]
        - 0.9 * own[:, 1]
        + 0.8 * own[:, 2] * own[:, 3]
        + 0.7 * np.maximum(own[:, 4], 0.0)
        + np.array([-1.5, -0.5, 0.0, 0.5, 1.0, 1.5])[kind]
    )
    left = score + rng.logistic(0.0, 0.7, size=rows) > 0.6
    scale = rng.lognormal(1.0, 1.0, size=FEATURES)
    return (X * scale + 10.0 * scale).astype(np.float32), left.astype(np.int32)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--seed", type=int, default=17)
    parser.add_argument("--out", default="customers.npz")
    args = parser.parse_args()
    X, left = customers(np.random.default_rng(args.seed), args.rows)
    np.savez(args.out, X=X, left=left)
    print(f"{args.out}: {X.shape[0]} customers, {X.shape[1]} measures, {left.mean():.3f} left")


if __name__ == "__main__":
    main()
