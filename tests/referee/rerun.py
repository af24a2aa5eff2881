"""Runs a program in a clean copy of its tree, and says what it printed and which files it wrote."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

SKIP = shutil.ignore_patterns(".git", ".gpuport", "__pycache__", ".venv*", ".pytest_cache", ".ipynb_checkpoints")
# Files that accelerators and plotting libraries leave behind, whatever the program does.
BYPRODUCTS = ("__pycache__", ".gpuport", "cudf_pandas_unit_tests_debug.log", ".ipynb_checkpoints")
ACCELERATOR_VARIABLES = ("CUML_ACCEL_", "NX_CUGRAPH_", "NETWORKX_", "CUDF_PANDAS_")
NOTEBOOK = """
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=None, kernel_name="python3").execute()
for cell in notebook.cells:
    for output in cell.get("outputs", []):
        if output.output_type == "stream" and output.name == "stdout":
            sys.stdout.write(output.text)
"""


@dataclass(frozen=True)
class Run:
    """What one run left behind."""

    folder: Path
    status: int | None
    """None: stopped when its time was up."""
    stdout: str
    stderr: str
    written: frozenset[str]
    removed: frozenset[str]

    @property
    def end(self) -> str:
        """How it ended, with the last line that it wrote to standard error."""
        if self.status is None:
            return "ran out of time"
        last = self.stderr.strip().splitlines()[-1:] or ["nothing on standard error"]
        return f"ended with status {self.status}: {last[0]}"


def command(python: str, arguments: list[str]) -> list[str]:
    """The command line for a script or a notebook with its arguments."""
    if arguments[0].endswith(".ipynb"):
        return [python, "-c", NOTEBOOK, *arguments]
    return [python, *arguments]


def run(tree: Path, python: str, arguments: list[str], variables: dict[str, str], timeout: float, into: Path) -> Run:
    """Copies the tree into a new folder and runs there."""
    folder = Path(tempfile.mkdtemp(dir=into)) / "tree"
    shutil.copytree(tree, folder, ignore=SKIP, symlinks=True)
    earlier = _digests(folder)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ACCELERATOR_VARIABLES)}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0", "MPLBACKEND": "Agg"} | variables
    status, stdout, stderr = _execute(command(python, arguments), folder, environment, timeout)
    later = _digests(folder)
    return Run(
        folder,
        status,
        stdout.decode("utf-8", "replace"),
        stderr.decode("utf-8", "replace"),
        frozenset(path for path, digest in later.items() if earlier.get(path) != digest),
        frozenset(earlier.keys() - later.keys()),
    )


def _execute(
    words: list[str], folder: Path, environment: dict[str, str], timeout: float
) -> tuple[int | None, bytes, bytes]:
    """Runs in a session of its own, so that children end with it when its time is up."""
    process = subprocess.Popen(
        words,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        stdout, stderr = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None, b"", b""
    return process.returncode, stdout, stderr


def _digests(folder: Path) -> dict[str, str]:
    found = {}
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if path.is_file() and not path.is_symlink() and not any(part in BYPRODUCTS for part in relative.parts):
            with open(path, "rb") as file:
                digest = hashlib.sha256()
                while block := file.read(1 << 20):
                    digest.update(block)
            found[relative.as_posix()] = digest.hexdigest()
    return found
