"""Tests of the worker: `python -m unittest discover --start-directory python --top-level-directory python`."""
