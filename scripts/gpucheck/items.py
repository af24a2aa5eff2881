"""What is checked: examples and cases, with what is expected of each."""

from __future__ import annotations

import hashlib
import json
import shlex
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from . import toml

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
CASE_SETTINGS = Path(__file__).with_name("cases.toml")
SIZES = ("demo", "gpu", "full")
# Import names of the libraries that a case's `libs` stands for; those marked optional there are left out.
IMPORT_NAMES = {"scikit-learn": "sklearn", "scikit-image": "skimage"}


@dataclass(frozen=True)
class Size:
    """One size of a program."""

    data: tuple[str, ...] = ()
    """Scripts with arguments that make the data, run in this order."""
    arguments: str = ""
    """Arguments of the entry script."""
    variables: tuple[tuple[str, str], ...] = ()
    """Environment variables."""
    configured: bool = False
    """Whether the project's configuration has the workload."""
    options: tuple[str, ...] = ()
    """Further options of `gpuport apply`."""


@dataclass(frozen=True)
class Item:
    """A program and what is expected of `gpuport apply` on it."""

    name: str
    source: Path
    entry: str
    expect: tuple[str, ...]
    """Acceptable outcomes: accepted, partial, kept."""
    strict: bool
    """Whether keeping a program that could be ported is a failure, rather than a chance missed."""
    size: Size
    small: Size
    """Seconds on any machine: for checks in which speed doesn't matter."""
    needs: tuple[str, ...] = ()
    """Modules that the interpreter must have."""
    passes: tuple[str, ...] = ()
    """Passes to use; empty: gpuport's default."""
    device: str = "cuda"
    """Where the port runs: cuda or cpu."""
    legacy: bool = False
    """Whether the original needs the older interpreter."""
    limited: bool = False
    """Whether a program that is kept must come with a limiting factor or a reason."""
    about: str = ""

    @property
    def workload(self) -> str:
        """The command that exercises the program."""
        return workload(self.entry, self.size)

    @property
    def digest(self) -> str:
        """Identifies the item's definition and its sources."""
        definition = asdict(self)
        del definition["source"], definition["about"]
        digest = hashlib.sha256(json.dumps(definition, sort_keys=True).encode())
        for path in source_files(self.source):
            digest.update(path.relative_to(self.source).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
        return digest.hexdigest()


def workload(entry: str, size: Size) -> str:
    """The command for an entry script at a size."""
    return " ".join(filter(None, ["python", shlex.quote(entry), size.arguments]))


def source_files(folder: Path) -> list[Path]:
    """The item's own files, without what a run leaves behind."""
    skip = {"__pycache__", ".gpuport"}
    return sorted(path for path in folder.rglob("*") if path.is_file() and not skip & set(path.parts))


def examples(size: str) -> list[Item]:
    """The project's examples at a size."""
    table = toml.read(EXAMPLES / "examples.toml")
    return [_example(name, entry, size) for name, entry in table.items()]


def _example(name: str, table: dict[str, Any], size: str) -> Item:
    sizes = {key: _size(table[key]) for key in SIZES}
    return Item(
        name=name,
        source=EXAMPLES / name,
        entry=table["entry"],
        expect=(table["expect"],),
        strict=True,
        size=sizes[size],
        small=sizes["demo"],
        needs=tuple(table["needs"]),
        passes=tuple(table["passes"]),
        device=table.get("device", "cuda"),
        legacy=table.get("legacy", False),
        limited=table.get("limited", False),
        about=table["about"],
    )


def _size(table: dict[str, Any]) -> Size:
    return Size(
        data=tuple(table["data"]),
        arguments=table["arguments"],
        configured=table.get("configured", False),
        options=tuple(shlex.split(table.get("options", ""))),
    )


def cases(folder: Path) -> list[Item]:
    """Every folder that holds a case.toml, with this project's settings for those that have some."""
    settings = toml.read(CASE_SETTINGS)
    return [_case(path.parent, settings.get(path.parent.name, {})) for path in sorted(folder.glob("*/case.toml"))]


def _case(folder: Path, settings: dict[str, Any]) -> Item:
    table = toml.read(folder / "case.toml")
    outcomes = {"port": "accepted", "partial": "partial", "keep": "kept"}
    expected = [table["expect"], *table.get("also_ok", [])]
    entry = "main.py" if (folder / "main.py").exists() else "main.ipynb"
    libraries = [name for name in table.get("libs", []) if "optional" not in name]
    return Item(
        name=folder.name,
        source=folder,
        entry=entry,
        expect=tuple(outcomes[name] for name in expected),
        strict=False,
        size=Size(variables=(("CASE_SCALE", str(settings.get("scale", 1))),)),
        small=Size(variables=(("CASE_SCALE", "1"),)),
        needs=tuple(IMPORT_NAMES.get(name, name) for name in [*libraries, *settings.get("needs", [])]),
        about=table.get("title", ""),
    )


@dataclass
class Selection:
    """Names given on the command line; empty: all. A name may be cut short, as long as it fits the beginning."""

    names: list[str] = field(default_factory=list)

    def pick(self, found: list[Item]) -> list[Item]:
        """The chosen items in their own order; raises ValueError for a name that fits none."""
        for name in self.names:
            if not any(item.name.startswith(name) for item in found):
                raise ValueError(
                    f"no example or case begins with {name!r}; there are: {', '.join(i.name for i in found)}"
                )
        return [item for item in found if not self.names or any(item.name.startswith(name) for name in self.names)]
