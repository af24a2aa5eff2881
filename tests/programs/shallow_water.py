"""Linear shallow water on a staggered grid with open boundaries, gauges and a restart file."""
import sys
import time

import numpy as np

G = 9.81
STATIONS = {"harbour": (5, 7), "mill": (20, 30), "cape": (35, 12)}


class Config:
    def __init__(self, nx, ny, steps):
        self.nx = nx
        self.ny = ny
        self.steps = steps
        self.dx = 100.0
        self.depth = 40.0

    @property
    def dt(self):
        return 0.4 * self.dx / np.sqrt(G * self.depth)


def bathymetry(cfg):
    y, x = np.mgrid[0 : cfg.ny, 0 : cfg.nx]
    h = cfg.depth * (1.0 - 0.5 * np.exp(-(((x - cfg.nx / 2) / 8.0) ** 2 + ((y - cfg.ny / 2) / 6.0) ** 2)))
    h[:, 0] = h[:, 1]
    h[-1, :] = np.minimum(h[-2, :], cfg.depth / 2)
    return h


def bump(cfg):
    eta = np.zeros((cfg.ny, cfg.nx))
    yy = np.arange(cfg.ny)[:, None]
    xx = np.arange(cfg.nx)[None, :]
    eta += np.exp(-((xx - 10) ** 2 + (yy - 10) ** 2) / 20.0)
    return eta


def advance(eta, u, v, h, cfg):
    dt, dx = cfg.dt, cfg.dx
    u[:, 1:-1] -= G * dt / dx * (eta[:, 1:] - eta[:, :-1])
    v[1:-1, :] -= G * dt / dx * (eta[1:, :] - eta[:-1, :])
    hu = 0.5 * (h[:, 1:] + h[:, :-1]) * u[:, 1:-1]
    hv = 0.5 * (h[1:, :] + h[:-1, :]) * v[1:-1, :]
    flux = np.zeros_like(eta)
    flux[:, :-1] += hu
    flux[:, 1:] -= hu
    flux[:-1, :] += hv
    flux[1:, :] -= hv
    eta -= dt / dx * flux
    damp_edges(eta)


def damp_edges(eta, width=3, factor=0.95):
    eta[:width, :] *= factor
    eta[-width:, :] *= factor
    eta[:, :width] *= factor
    eta[:, -width:] *= factor


def volume(eta, cfg):
    return eta.sum() * cfg.dx**2


def simulate(cfg, eta, every):
    h = bathymetry(cfg)
    u = np.zeros((cfg.ny, cfg.nx + 1))
    v = np.zeros((cfg.ny + 1, cfg.nx))
    gauges = {name: [] for name in STATIONS}
    highest = eta.copy()
    snapshots = []
    for k in range(cfg.steps):
        advance(eta, u, v, h, cfg)
        np.maximum(highest, eta, out=highest)
        if k % every == 0:
            for name, (j, i) in STATIONS.items():
                gauges[name].append(float(eta[j, i]))
            snapshots.append(eta[::4, ::4].copy())
            print("step", k, "volume %.6e" % volume(eta, cfg), "speed", round(float(np.hypot(u[:, 1:], v[1:, :]).max()), 6))
    return eta, highest, gauges, np.array(snapshots)


def save(eta, highest, snapshots, path="restart.npz"):
    np.savez_compressed(path, eta=eta, highest=highest, snapshots=snapshots)


def restart(path="restart.npz"):
    with np.load(path) as data:
        eta = data["eta"]
        shape = data["snapshots"].shape
    return eta, shape


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    cfg = Config(48, 44, steps)
    start = time.time()
    eta, highest, gauges, snapshots = simulate(cfg, bump(cfg), 10)
    save(eta, highest, snapshots)
    print("gauges", {name: [round(x, 6) for x in values] for name, values in gauges.items()})
    j, i = np.unravel_index(highest.argmax(), highest.shape)
    print("highest", f"{highest[j, i]:.6f}", "at", int(j), int(i), "mean", f"{highest.mean():.8f}")
    again, shape = restart()
    again, top, _, _ = simulate(cfg, again, 20)
    print("restarted", shape, f"{np.abs(again).sum():.6f}", np.count_nonzero(top > 0.1))
    order = np.argsort(top.ravel())[::-1][:3]
    for rank, index in enumerate(order):
        print(rank, divmod(int(index), top.shape[1]))
    assert time.time() >= start


if __name__ == "__main__":
    main()
