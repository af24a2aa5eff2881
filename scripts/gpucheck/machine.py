"""What the results depend on: the hardware, the driver, versions, and gpuport itself."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

DISTRIBUTIONS = (
    "numpy",
    "scipy",
    "pandas",
    "pyarrow",
    "scikit-learn",
    "scikit-image",
    "networkx",
    "cupy-cuda12x",
    "cupy-cuda13x",
    "cudf-cu12",
    "cudf-cu13",
    "cuml-cu12",
    "cuml-cu13",
    "nx-cugraph-cu12",
    "nx-cugraph-cu13",
    "cucim-cu12",
    "cucim-cu13",
)
VERSIONS = """
import importlib.metadata, json, platform, sys
found = {"python": platform.python_version()}
for name in sys.argv[1:]:
    try:
        found[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        pass
print(json.dumps(found))
"""
MODULES = "import importlib.util, sys; print(*(m for m in sys.argv[1:] if importlib.util.find_spec(m) is None))"


def gpus() -> list[dict[str, str]]:
    """Name, memory and driver of each GPU, by nvidia-smi; none where that is missing or fails."""
    query = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return []
    if done.returncode != 0:
        return []
    rows = [[cell.strip() for cell in line.split(",")] for line in done.stdout.splitlines() if line.strip()]
    return [{"name": row[0], "memory": row[1], "driver": row[2]} for row in rows if len(row) == 3]


def processor() -> str:
    """The CPU's model."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    models = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor())


def describe(gpuport: Path, python: str, legacy: str | None) -> dict[str, Any]:
    """Everything that has to be equal for results to stand beside each other."""
    binary = hashlib.sha256(gpuport.read_bytes()).hexdigest()
    return {
        "gpus": gpus(),
        "cpu": processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": versions(python),
        "legacy_versions": versions(legacy) if legacy else {},
        "gpuport": version(gpuport),
        "gpuport_sha256": binary,
    }


def version(gpuport: Path) -> str:
    """What the binary calls itself."""
    done = subprocess.run([str(gpuport), "--version"], capture_output=True, text=True, timeout=60)
    return done.stdout.strip() or "unknown"


def versions(python: str) -> dict[str, str]:
    """Versions of the libraries that an interpreter has; raises OSError or ValueError where it doesn't run."""
    done = subprocess.run([python, "-c", VERSIONS, *DISTRIBUTIONS], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise ValueError(f"{python} doesn't run: {done.stderr.strip()[-300:]}")
    return json.loads(done.stdout)


def missing(python: str, modules: tuple[str, ...]) -> list[str]:
    """Those of the modules that the interpreter can't find."""
    done = subprocess.run([python, "-c", MODULES, *modules], capture_output=True, text=True, timeout=120)
    return done.stdout.split()


def identity(environment: dict[str, Any]) -> str:
    """A short name for an environment: equal only for equal ones."""
    return hashlib.sha256(json.dumps(environment, sort_keys=True).encode()).hexdigest()[:12]
