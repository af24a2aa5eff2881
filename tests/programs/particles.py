"""Lennard-Jones particles in a box: forces by pairs, velocity Verlet, radial distribution."""
import json
import math
from dataclasses import asdict, dataclass

import numpy as np


@dataclass(frozen=True)
class Settings:
    n: int = 48
    box: float = 7.0
    dt: float = 0.002
    steps: int = 30
    cutoff: float = 2.5
    seed: int = 11


def lattice(settings):
    side = math.ceil(settings.n ** (1 / 3))
    grid = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    return (grid[: settings.n] + 0.5) * (settings.box / side)


def velocities(settings):
    rng = np.random.default_rng(settings.seed)
    v = rng.normal(0.0, 0.5, size=(settings.n, 3))
    v -= v.mean(axis=0)
    return v


def displacements(x, box):
    d = x[:, None, :] - x[None, :, :]
    return d - box * np.round(d / box)


def forces(x, settings):
    d = displacements(x, settings.box)
    r2 = np.einsum("ijk,ijk->ij", d, d)
    np.fill_diagonal(r2, np.inf)
    near = r2 < settings.cutoff**2
    inv6 = np.where(near, 1.0 / r2, 0.0) ** 3
    pair = 24.0 * (2.0 * inv6**2 - inv6) / r2
    f = (pair[:, :, None] * d).sum(axis=1)
    potential = 2.0 * (inv6**2 - inv6).sum()
    return f, potential


def kinetic(v):
    return 0.5 * (v**2).sum()


def radial(x, box, bins=8):
    d = displacements(x, box)
    r = np.sqrt((d**2).sum(axis=-1))[np.triu_indices(len(x), 1)]
    counts, edges = np.histogram(r, bins=bins, range=(0.0, box / 2))
    shells = 4.0 / 3.0 * np.pi * (edges[1:] ** 3 - edges[:-1] ** 3)
    return counts / shells, 0.5 * (edges[1:] + edges[:-1])


def integrate(x, v, settings, log):
    f, potential = forces(x, settings)
    energies = []
    for step in range(settings.steps):
        v += 0.5 * settings.dt * f
        x += settings.dt * v
        x %= settings.box
        f, potential = forces(x, settings)
        v += 0.5 * settings.dt * f
        total = kinetic(v) + potential
        energies.append(total)
        if step % 10 == 9:
            log(step, total, potential)
    return np.array(energies)


def log(step, total, potential):
    print(f"step {step} total {total:.6f} potential {potential:.6f}")


def main():
    settings = Settings()
    x, v = lattice(settings), velocities(settings)
    energies = integrate(x, v, settings, log)
    drift = np.abs(energies - energies[0]).max() / abs(energies[0])
    g, r = radial(x, settings.box)
    print("drift below 1e-2:", bool(drift < 1e-2), "momentum", np.round(v.sum(axis=0), 9).tolist())
    print("temperature", round(2 * kinetic(v) / (3 * settings.n), 6))
    print("peak at", f"{r[np.argmax(g)]:.4f}", "values", [round(value, 4) for value in g.tolist()])
    speeds = np.sort(np.linalg.norm(v, axis=1))
    q1, q2, q3 = np.quantile(speeds, [0.25, 0.5, 0.75])
    print(f"quartiles {q1:.5f} {q2:.5f} {q3:.5f}")
    np.savetxt("positions.txt", x, fmt="%.6f")
    with open("run.json", "w") as out:
        json.dump({"settings": asdict(settings), "energies": energies.tolist(), "last": energies[-1]}, out)
    print(np.loadtxt("positions.txt").shape)


if __name__ == "__main__":
    main()
