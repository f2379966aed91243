"""Files that are no files, or something else than their name says; each function makes one at a path.

``good`` is the content of a good file of that name.
"""

from __future__ import annotations

import bz2
import gzip
import io
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

Lie = Callable[[Path, bytes], object]


def zipped(path: Path, good: bytes) -> None:
    """The good file inside a zip archive of its name."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr(path.name, good)
    path.write_bytes(held.getvalue())


def loop(path: Path, good: bytes) -> None:
    """Two links that point at each other."""
    path.symlink_to(path.with_name("loop"))
    path.with_name("loop").symlink_to(path)


# No regular file at all.
PLACES: dict[str, tuple[Lie, str]] = {
    "absent": (lambda path, good: None, "no file"),
    "a folder": (lambda path, good: path.mkdir(), "folder"),
    "a pipe": (lambda path, good: os.mkfifo(path), "pipe"),
    "a device": (lambda path, good: path.symlink_to("/dev/zero"), "device"),
    "a loop of links": (loop, "symbolic links"),
    "a link to nothing": (lambda path, good: path.symlink_to("nowhere"), "no file"),
}
# Regular files of another kind, and good ones that were damaged on their way.
CONTENTS: dict[str, Lie] = {
    "empty": lambda path, good: path.touch(),
    "one byte": lambda path, good: path.write_bytes(b"\0"),
    "zeros": lambda path, good: path.write_bytes(bytes(4096)),
    "compressed by gzip": lambda path, good: path.write_bytes(gzip.compress(good, mtime=0)),
    "compressed by bzip2": lambda path, good: path.write_bytes(bz2.compress(good)),
    "in a zip archive": zipped,
    "a web page": lambda path, good: path.write_text("<!DOCTYPE html>\n<html><body>404 not found</body></html>\n"),
    "a pointer of Git LFS": lambda path, good: path.write_text(
        "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"),
    "a PDF": lambda path, good: path.write_bytes(b"%PDF-1.7\n" + bytes(range(256))),
    "a GRIB file": lambda path, good: path.write_bytes(b"GRIB" + bytes(200) + b"7777"),
    "a pickle": lambda path, good: path.write_bytes(b"\x80\x04cposix\nsystem\n(S'touch pickled'\ntR."),
    "its end only": lambda path, good: path.write_bytes(good[len(good) // 2:]),
}
# Damage that shows in binary files only.
BINARY: dict[str, Lie] = {
    "its first half": lambda path, good: path.write_bytes(good[:len(good) // 2]),
    "a byte order mark before it": lambda path, good: path.write_bytes(b"\xef\xbb\xbf" + good),
    "sent as text": lambda path, good: path.write_bytes(good.replace(b"\n", b"\r\n")),
    "bytes swapped in pairs": lambda path, good: path.write_bytes(
        b"".join(good[i + 1:i + 2] + good[i:i + 1] for i in range(0, len(good), 2))),
    "eighth bits lost": lambda path, good: path.write_bytes(bytes(byte & 127 for byte in good)),
    "its first bytes zero": lambda path, good: path.write_bytes(bytes(64) + good[64:]),
}
