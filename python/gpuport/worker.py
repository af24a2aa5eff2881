"""Entry point of the child process: `python worker.py JOB`, and `python worker.py convert FILE DIR`.

The helper modules beside this file are loaded under a private name, so that neither the program's imports nor a
`gpuport` package in its environment meet them, and this folder leaves `sys.path` before the program starts.
"""

from __future__ import annotations

import os
import sys
import types

PACKAGE = "_gpuport_worker"


def load_package() -> None:
    """Makes the modules beside this file importable as `_gpuport_worker.NAME`."""
    folder = os.path.dirname(os.path.realpath(__file__))
    if not getattr(sys.flags, "safe_path", False) and os.path.realpath(sys.path[0]) == folder:
        del sys.path[0]
    package = types.ModuleType(PACKAGE)
    package.__path__ = [folder]
    sys.modules[PACKAGE] = package


def main() -> None:
    """Runs what the command line names; the process ends as the program would have ended."""
    load_package()
    if len(sys.argv) == 4 and sys.argv[1] == "convert":
        from _gpuport_worker import convert

        sys.exit(convert.main(sys.argv[2], sys.argv[3]))
    if len(sys.argv) != 2:
        sys.exit("usage: worker.py JOB | worker.py convert FILE DIR")
    from _gpuport_worker import run

    run.main(sys.argv[1])


if __name__ == "__main__":
    main()
