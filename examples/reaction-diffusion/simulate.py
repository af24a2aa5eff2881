"""Gray-Scott reaction-diffusion: two chemicals that spread, react and grow spots and stripes.

    du/dt = Du lap(u) - u v^2 + feed (1 - u)
    dv/dt = Dv lap(v) + u v^2 - (feed + kill) v

The plate is square and its borders are periodic. The feed rate grows from left to right, so that one
run shows several kinds of pattern beside each other.

usage: simulate.py [--n 2048] [--steps 300] [--state state.npy] [--out results]
"""

import argparse
import json
from pathlib import Path

import numpy as np

DIFFUSION_U = 1.0
DIFFUSION_V = 0.5
KILL = 0.062
FEED_RANGE = (0.030, 0.060)
DT = 1.0
ACTIVE = 0.1


def initial_state(n, seed=7, spots=40):
    """A plate full of u with square spots of v, and noise to break the symmetry."""
    rng = np.random.default_rng(seed)
    u = np.ones((n, n))
    v = np.zeros((n, n))
    radius = max(2, n // 64)
    for row, column in rng.integers(radius, n - radius, size=(spots, 2)):
        u[row - radius : row + radius, column - radius : column + radius] = 0.50
        v[row - radius : row + radius, column - radius : column + radius] = 0.25
    u += rng.uniform(-0.01, 0.01, size=(n, n))
    v += rng.uniform(0.0, 0.01, size=(n, n))
    return u, v


def load_state(path):
    """Both chemicals from a file that make_state.py or an earlier run wrote."""
    state = np.load(path)
    if state.ndim != 3 or state.shape[0] != 2 or state.shape[1] != state.shape[2]:
        raise SystemExit(f"{path}: expected shape (2, n, n), found {state.shape}")
    return state[0].copy(), state[1].copy()


def feed_map(n):
    """The feed rate at each cell: constant along a column."""
    return np.tile(np.linspace(FEED_RANGE[0], FEED_RANGE[1], n), (n, 1))


def laplacian(z):
    """Nine-point Laplacian with periodic borders."""
    up = np.roll(z, 1, axis=0)
    down = np.roll(z, -1, axis=0)
    edges = up + down + np.roll(z, 1, axis=1) + np.roll(z, -1, axis=1)
    corners = np.roll(up, 1, axis=1) + np.roll(up, -1, axis=1) + np.roll(down, 1, axis=1) + np.roll(down, -1, axis=1)
    return 0.2 * edges + 0.05 * corners - z


def step(u, v, feed):
    """One explicit Euler step; concentrations stay between 0 and 1."""
    reaction = u * v * v
    u_next = u + DT * (DIFFUSION_U * laplacian(u) - reaction + feed * (1.0 - u))
    v_next = v + DT * (DIFFUSION_V * laplacian(v) + reaction - (feed + KILL) * v)
    return np.clip(u_next, 0.0, 1.0), np.clip(v_next, 0.0, 1.0)


def interface_length(v):
    """How much border the pattern has: the integral of the gradient's length."""
    across = 0.5 * (np.roll(v, -1, axis=1) - np.roll(v, 1, axis=1))
    along = 0.5 * (np.roll(v, -1, axis=0) - np.roll(v, 1, axis=0))
    return np.sqrt(across**2 + along**2).sum()


def diagnostics(u, v):
    """The figures that a run is judged by."""
    return {
        "mean_u": float(np.mean(u)),
        "mean_v": float(np.mean(v)),
        "contrast": float(np.std(v)),
        "peak": float(v.max()),
        "active": int(np.count_nonzero(v > ACTIVE)),
        "interface": float(interface_length(v)),
    }


def column_profile(v, bands):
    """Mean of v in vertical bands: what each feed rate grew."""
    usable = v.shape[1] // bands * bands
    return v[:, :usable].reshape(v.shape[0], bands, -1).mean(axis=(0, 2))


def simulate(u, v, steps, every, out):
    """Run the steps, saving a snapshot of v and its figures every so often."""
    feed = feed_map(u.shape[0])
    history = []
    for number in range(1, steps + 1):
        u, v = step(u, v, feed)
        if number % every == 0 or number == steps:
            figures = diagnostics(u, v)
            history.append({"step": number, **figures})
            np.save(out / f"v_{number:05d}.npy", v[::4, ::4].astype(np.float32))
            print(
                f"step {number:5d}  mean v {figures['mean_v']:.6f}  contrast {figures['contrast']:.6f}"
                f"  active {figures['active']}"
            )
    return u, v, history


def parse_arguments():
    parser = argparse.ArgumentParser(description="Gray-Scott reaction-diffusion")
    parser.add_argument("--n", type=int, default=2048, help="cells per side, where no state is read")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--every", type=int, default=100, help="steps between snapshots")
    parser.add_argument("--bands", type=int, default=8)
    parser.add_argument("--state", type=Path, help="start from this .npy file")
    parser.add_argument("--out", type=Path, default=Path("results"))
    return parser.parse_args()


def main():
    args = parse_arguments()
    args.out.mkdir(parents=True, exist_ok=True)
    u, v = load_state(args.state) if args.state else initial_state(args.n)
    print(f"grid {u.shape[0]} x {u.shape[1]}, {args.steps} steps")

    u, v, history = simulate(u, v, args.steps, args.every, args.out)

    np.save(args.out / "final.npy", np.stack([u, v]))
    profile = column_profile(v, args.bands)
    summary = {
        "cells": u.size,
        "steps": args.steps,
        "history": history,
        "profile": profile.tolist(),
        "strongest_band": int(np.argmax(profile)),
    }
    (args.out / "summary.json").write_text(json.dumps(summary, indent=2) + "\n")
    print("bands", " ".join(f"{value:.5f}" for value in profile))
    print(f"strongest band {summary['strongest_band']} of {args.bands}")


if __name__ == "__main__":
    main()
