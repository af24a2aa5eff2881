"""Turns one file that a program wrote into the capture form, in a process that runs nothing of the program's."""

from __future__ import annotations

import os
import sys

from .capture import Capture

# Exit statuses: the format or its library is missing; the file can't be read.
NO_READER, DAMAGED = 3, 4


def main(file: str, folder: str) -> int:
    """Converts; returns the process's exit status."""
    extension = os.path.splitext(file)[1].lower().lstrip(".")
    reader = READERS.get(extension)
    if reader is None:
        print(f"no reader for .{extension} files", file=sys.stderr)
        return NO_READER
    try:
        value = reader(file)
    except ImportError as error:
        print(f"reading .{extension} needs a library: {error}", file=sys.stderr)
        return NO_READER
    except Exception as error:  # a damaged file may raise anything
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return DAMAGED
    capture = Capture(folder, os.path.dirname(os.path.abspath(file)))
    capture.roots["value"] = capture.value(value, os.path.basename(file))
    capture.write()
    return 0


def parquet(file: str):
    """A table, by way of Arrow, whose pandas form keeps the index that pandas wrote."""
    import pyarrow.parquet

    return pyarrow.parquet.read_table(file, memory_map=False).to_pandas()


def feather(file: str):
    """A table in Arrow's file format."""
    import pyarrow.feather

    return pyarrow.feather.read_table(file, memory_map=False).to_pandas()


def hdf5(file: str):
    """Groups as dicts, data sets as arrays, attributes under their own key. Links out of the file are not followed."""
    import h5py

    def read(item):
        if isinstance(item, h5py.Dataset):
            value = item[()]
            return {"value": value, "attributes": dict(item.attrs)} if len(item.attrs) else value
        members = {
            name: read(item[name]) for name in sorted(item) if isinstance(item.get(name, getlink=True), h5py.HardLink)
        }
        return {**members, "attributes": dict(item.attrs)} if len(item.attrs) else members

    with h5py.File(file, "r") as stream:
        return read(stream)


def image(file: str):
    """Pixels."""
    import numpy
    from PIL import Image

    with Image.open(file) as picture:
        return numpy.asarray(picture)


READERS = {
    "parquet": parquet,
    "pq": parquet,
    "feather": feather,
    "arrow": feather,
    "h5": hdf5,
    "hdf5": hdf5,
    "hdf": hdf5,
    **dict.fromkeys(("png", "tif", "tiff", "bmp", "jpg", "jpeg"), image),
}
