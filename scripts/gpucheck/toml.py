"""Reading of TOML, also on Python 3.10."""

from __future__ import annotations

from pathlib import Path
from typing import Any

try:
    import tomllib
except ModuleNotFoundError:  # pip carries the library that became tomllib
    from pip._vendor import tomli as tomllib  # type: ignore[no-redef]


def read(path: Path) -> dict[str, Any]:
    """The file's tables."""
    with open(path, "rb") as file:
        return tomllib.load(file)
