"""Prints, as one JSON object, this interpreter's version and the versions of the modules named on the command line.

A module that is not installed has the version null. Nothing is imported but the standard library.
"""

import importlib.metadata
import importlib.util
import json
import platform
import sys


def version(module: str) -> str | None:
    """The version of the distribution that provides `module`; "unknown" where it has no metadata."""
    try:
        if importlib.util.find_spec(module) is None:
            return None
    except (ImportError, ValueError):
        return None
    top = module.partition(".")[0]
    for name in importlib.metadata.packages_distributions().get(top, []):
        return importlib.metadata.version(name)
    return "unknown"


def main() -> None:
    """Prints the object."""
    print(
        json.dumps(
            {
                "implementation": platform.python_implementation(),
                "version": platform.python_version(),
                "executable": sys.executable,
                "modules": {module: version(module) for module in sys.argv[1:]},
            }
        )
    )


if __name__ == "__main__":
    main()
