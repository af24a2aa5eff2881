"""Copies of an item's project with its data, and what changed in them."""

from __future__ import annotations

import hashlib
import shlex
import shutil
import subprocess
from pathlib import Path

from .items import Item, Size, source_files

IGNORED_PARTS = {".git", ".gpuport", "__pycache__"}
GIT = ["git", "-c", "user.name=gpu-check", "-c", "user.email=gpu-check@localhost", "-c", "commit.gpgsign=false"]


class PreparationError(Exception):
    """An item's data could not be made."""


def prepare(item: Item, size: Size, python: str, folder: Path) -> Path:
    """A copy of the project with its data, made once and kept: `folder` is named by what goes into it."""
    key = hashlib.sha256(repr((item.digest, size.data, python)).encode()).hexdigest()[:12]
    project = folder / f"{item.name}-{key}"
    if (project / ".prepared").exists():
        return project
    shutil.rmtree(project, ignore_errors=True)
    for path in source_files(item.source):
        # What only describes the item would be a hint, or an output.
        if path.name in ("case.toml", "expected_stdout.txt"):
            continue
        target = project / path.relative_to(item.source)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)
    for command in size.data:
        done = subprocess.run([python, *shlex.split(command)], cwd=project, capture_output=True, text=True)
        if done.returncode != 0:
            raise PreparationError(f"{item.name}: {command} ended with status {done.returncode}: {done.stderr[-500:]}")
    for cache in project.rglob("__pycache__"):
        shutil.rmtree(cache)
    (project / ".prepared").touch()
    return project


def copy(project: Path, target: Path) -> bool:
    """A fresh copy under version control, if there is git; says whether there is."""
    shutil.rmtree(target, ignore_errors=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    # Where the file system can, data is shared until written.
    subprocess.run(["cp", "-a", "--reflink=auto", str(project), str(target)], check=True)
    (target / ".prepared").unlink()
    if shutil.which("git") is None:
        return False
    exclude = "\n".join(sorted(_data_files(target))) + "\n"
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "Original"]):
        subprocess.run([*GIT, *arguments], cwd=target, check=True, capture_output=True)
        if arguments[0] == "init":
            (target / ".git" / "info" / "exclude").write_text(exclude)
    return True


def _data_files(project: Path) -> set[str]:
    """Large files are data, which projects don't commit."""
    limit = 1 << 20
    return {
        "/" + path.relative_to(project).as_posix()
        for path in project.rglob("*")
        if path.is_file() and path.stat().st_size > limit
    }


def digests(project: Path) -> dict[str, str]:
    """SHA-256 of every file that belongs to the project or its data."""
    found = {}
    for path in sorted(project.rglob("*")):
        relative = path.relative_to(project)
        if IGNORED_PARTS & set(relative.parts) or relative.name == ".prepared":
            continue
        if path.is_symlink():
            found[relative.as_posix()] = f"-> {path.readlink()}"
        elif path.is_file():
            digest = hashlib.sha256()
            with open(path, "rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
            found[relative.as_posix()] = digest.hexdigest()
    return found


def difference(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """Paths that were added, removed or changed."""
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
