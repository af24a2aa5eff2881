"""Two-dimensional turbulence: pseudo-spectral vorticity equation, fourth-order Runge-Kutta."""
from __future__ import annotations

import argparse
import csv
import json
import os
from pathlib import Path

import numpy as np
from numpy.fft import fft2, ifft2

NU = 1e-3
OUT = Path("out")


def wavenumbers(n):
    k = np.fft.fftfreq(n, d=1.0 / n)
    kx, ky = np.meshgrid(k, k, indexing="ij")
    k2 = kx**2 + ky**2
    inv = np.zeros_like(k2)
    inv[k2 > 0] = 1.0 / k2[k2 > 0]
    mask = (np.abs(kx) < n / 3) & (np.abs(ky) < n / 3)
    return kx, ky, k2, inv, mask


def initial_vorticity(n, seed=0):
    rng = np.random.default_rng(seed)
    x = np.linspace(0.0, 2 * np.pi, n, endpoint=False)
    X, Y = np.meshgrid(x, x, indexing="ij")
    w = np.sin(X) * np.cos(Y) + 0.5 * np.sin(3 * X + 2 * Y)
    return w + 0.01 * rng.standard_normal((n, n))


def rhs(w_hat, kx, ky, k2, inv, mask):
    psi_hat = w_hat * inv
    u = np.real(ifft2(1j * ky * psi_hat))
    v = np.real(ifft2(-1j * kx * psi_hat))
    wx = ifft2(1j * kx * w_hat).real
    wy = ifft2(1j * ky * w_hat).real
    advection = fft2(u * wx + v * wy)
    advection *= mask
    return -advection - NU * k2 * w_hat


def rk4(w_hat, dt, *, kx, ky, k2, inv, mask):
    k1 = rhs(w_hat, kx, ky, k2, inv, mask)
    k2_ = rhs(w_hat + 0.5 * dt * k1, kx, ky, k2, inv, mask)
    k3 = rhs(w_hat + 0.5 * dt * k2_, kx, ky, k2, inv, mask)
    k4 = rhs(w_hat + dt * k3, kx, ky, k2, inv, mask)
    return w_hat + dt / 6.0 * (k1 + 2 * k2_ + 2 * k3 + k4)


def energy(w_hat, inv):
    n = w_hat.shape[0]
    return 0.5 * np.sum(np.abs(w_hat) ** 2 * inv) / n**4


def enstrophy(w_hat):
    return float(0.5 * np.mean(np.abs(ifft2(w_hat)) ** 2))


def spectrum(w_hat, k2, bins=12):
    k = np.sqrt(k2).ravel()
    power = (np.abs(w_hat) ** 2).ravel()
    edges = np.arange(bins + 1) - 0.5
    total, _ = np.histogram(k, bins=edges, weights=power)
    return total / power.sum()


def run(n, steps, dt, seed, report_every):
    kx, ky, k2, inv, mask = wavenumbers(n)
    w_hat = fft2(initial_vorticity(n, seed)) * mask
    rows = []
    peak = 0.0
    for step in range(1, steps + 1):
        w_hat = rk4(w_hat, dt, kx=kx, ky=ky, k2=k2, inv=inv, mask=mask)
        if step % report_every == 0 or step == steps:
            e, z = energy(w_hat, inv), enstrophy(w_hat)
            w = np.real(ifft2(w_hat))
            peak = max(peak, np.abs(w).max())
            rows.append({"step": step, "energy": e, "enstrophy": z, "max": w.max(), "min": float(w.min())})
            print(f"{step:5d} energy {e:.8e} enstrophy {z:.8e} max {w.max():.5f}")
            np.save(OUT / f"w_{step:04d}.npy", w.astype(np.float32))
    return w_hat, k2, rows, peak


def write_table(path, rows):
    with open(path, "w", newline="") as f:
        writer = csv.DictWriter(f, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=32)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--dt", type=float, default=1e-2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=int, default=5)
    args = parser.parse_args(argv)
    OUT.mkdir(exist_ok=True)
    scale = float(os.environ.get("CASE_SCALE", "1.0"))
    n = int(args.n * scale)
    w_hat, k2, rows, peak = run(n, args.steps, args.dt, args.seed, args.every)
    shares = spectrum(w_hat, k2)
    print("shares", np.round(shares, 6).tolist())
    print("largest mode", np.unravel_index(np.argmax(np.abs(w_hat)), w_hat.shape))
    write_table(OUT / "table.csv", rows)
    (OUT / "summary.json").write_text(json.dumps({"peak": float(peak), "shares": shares.tolist(), "n": n}))
    for path in sorted(OUT.glob("*.npy")):
        w = np.load(path)
        print(path.name, w.dtype, f"{w.mean():.3e} {w.std():.6f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
