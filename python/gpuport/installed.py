"""Which modules this Python has, and their versions: `python installed.py MODULE…` prints one JSON object.

Nothing is imported: a module that can't start here may still be installed.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import sys


def installed(names: list[str]) -> dict[str, str | None]:
    """For each module that can be found, the version of its distribution, or an empty text where none is known."""
    distributions = importlib.metadata.packages_distributions()
    found: dict[str, str | None] = {}
    for name in names:
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError):
            spec = None
        found[name] = None if spec is None else version(distributions.get(name, []))
    return found


def version(distributions: list[str]) -> str:
    """The version of the first distribution that has one."""
    for distribution in distributions:
        try:
            return importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:
            continue
    return ""


if __name__ == "__main__":
    folder = os.path.dirname(os.path.realpath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.realpath(entry) != folder]
    print(json.dumps(installed(sys.argv[1:])))
