"""The file that results are kept in: saved after every item, merged over runs, keyed by what they depend on."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

SCHEMA = "gpuport/gpu-check/1"


class ResultsError(Exception):
    """A file that is no results file."""


class Results:
    """Environments by their identity, and one result for each environment and item."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.environments: dict[str, dict[str, Any]] = {}
        self.entries: dict[tuple[str, str], dict[str, Any]] = {}
        if path.exists():
            self.merge(path)

    def merge(self, path: Path) -> None:
        """Takes over what another file has; of two results for the same item, the later one."""
        try:
            table = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ResultsError(f"{path}: {error}") from error
        if not isinstance(table, dict) or table.get("schema") != SCHEMA:
            raise ResultsError(f"{path}: is no {SCHEMA} file")
        self.environments |= table["environments"]
        for entry in table["results"]:
            key = entry["environment"], entry["item"]
            if key not in self.entries or entry["at"] >= self.entries[key]["at"]:
                self.entries[key] = entry

    def find(self, environment: str, item: str, digest: str) -> dict[str, Any] | None:
        """A finished result of the same item in the same environment."""
        entry = self.entries.get((environment, item))
        return entry if entry is not None and entry["digest"] == digest and entry["outcome"] != "skipped" else None

    def add(self, entry: dict[str, Any], environment: dict[str, Any]) -> None:
        """Keeps a result and saves the file."""
        self.environments[entry["environment"]] = environment
        self.entries[(entry["environment"], entry["item"])] = entry
        self.save()

    def of(self, environment: str) -> list[dict[str, Any]]:
        """All results of one environment, in the order they were first added."""
        return [entry for (owner, _), entry in self.entries.items() if owner == environment]

    def save(self) -> None:
        """Writes beside the file and renames, so that an interruption leaves one or the other."""
        table = {"schema": SCHEMA, "environments": self.environments, "results": list(self.entries.values())}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        beside = self.path.with_suffix(".tmp")
        beside.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
        os.replace(beside, self.path)
