"""Gray-Scott reaction-diffusion."""
import argparse
import json
import time
from dataclasses import dataclass

import numpy as np


@dataclass
class Params:
    du: float = 0.16
    dv: float = 0.08
    feed: float = 0.035
    kill: float = 0.065


def laplacian(u, dx):
    return (
        np.roll(u, 1, axis=0)
        + np.roll(u, -1, axis=0)
        + np.roll(u, 1, axis=1)
        + np.roll(u, -1, axis=1)
        - 4.0 * u
    ) / dx**2


def step(u, v, dt, dx, params):
    uvv = u * v * v
    u = u + dt * (params.du * laplacian(u, dx) - uvv + params.feed * (1.0 - u))
    v = v + dt * (params.dv * laplacian(v, dx) + uvv - (params.feed + params.kill) * v)
    return u, v


def initial(n, seed):
    rng = np.random.default_rng(seed)
    u = np.ones((n, n))
    v = np.zeros_like(u)
    r = n // 10
    u[n // 2 - r : n // 2 + r, n // 2 - r : n // 2 + r] = 0.50
    v[n // 2 - r : n // 2 + r, n // 2 - r : n // 2 + r] = 0.25
    u += 0.02 * rng.random((n, n))
    v += 0.02 * rng.random((n, n))
    return u, v


def load(path, n):
    data = np.load(path)
    if data.shape != (n, n):
        raise ValueError("bad shape")
    return data.astype(np.float64)


def simulate(u, v, steps, dt, dx, params, every):
    history = []
    means = np.zeros(steps)
    for k in range(steps):
        u, v = step(u, v, dt, dx, params)
        np.clip(u, 0.0, 1.5, out=u)
        means[k] = u.mean()
        if k % every == 0:
            history.append((k, float(u.mean()), v.std()))
            print(f"step {k:5d} u {u.mean():.6f} v max {v.max():.6f}")
        if np.isnan(u).any():
            raise RuntimeError("diverged")
    return u, v, history, means


def spectrum(u):
    f = np.fft.fftshift(np.fft.fft2(u))
    power = np.abs(f) ** 2
    ky = np.fft.fftfreq(u.shape[0])
    kx = np.fft.fftfreq(u.shape[1])
    KX, KY = np.meshgrid(kx, ky)
    k = np.sqrt(KX**2 + KY**2)
    bins = np.linspace(0.0, 0.5, 20)
    which = np.digitize(k.ravel(), bins)
    total = np.bincount(which, weights=power.ravel(), minlength=len(bins) + 1)
    return bins, total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=64)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--input")
    args = parser.parse_args()
    params = Params()
    u, v = initial(args.n, args.seed)
    if args.input:
        u = load(args.input, args.n)
    start = time.perf_counter()
    u, v, history, means = simulate(u, v, args.steps, 1.0, 1.0, params, 10)
    elapsed = time.perf_counter() - start
    np.save("u.npy", u)
    np.savez("both.npz", u=u, v=v)
    bins, total = spectrum(u)
    print("mean", u.mean(), "max", u.max(), "argmax", np.argmax(u))
    print("centre", u[args.n // 2, args.n // 2])
    summary = {"mean": float(u.mean()), "std": u.std(), "means": means.tolist(), "last": history[-1]}
    with open("out.json", "w") as f:
        json.dump(summary, f, default=float)
    for lo, t in zip(bins, total):
        print(f"{lo:.3f} {t:.3f}")


if __name__ == "__main__":
    main()
