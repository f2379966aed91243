"""The command line: build a basin from maps and stations, run it, check it, say what a file holds, compare two files.

One module per group of commands; what is heavy is imported inside them, so that ``--help`` answers at once. The order
of the imports is that of the help.
"""

from wepl.cli.app import app  # noqa: I001
from wepl.cli import run, report, calibrate, replay, files, export, machine, tune  # noqa: F401

__all__ = ["app"]
