"""Reading a page back: its parts, and the numbers in it by a decoder of its own."""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import html5lib
import numpy as np

HTML = "{http://www.w3.org/1999/xhtml}"
DTYPES = {"f4": "<f4", "f8": "<f8", "i4": "<i4", "u2": "<u2"}


@dataclass(frozen=True)
class Page:
    """A parsed page with the faults that the parser found."""

    text: str
    root: ElementTree.Element
    faults: list[Any]

    @classmethod
    def read(cls, path: Path) -> Page:
        text = path.read_text(encoding="utf-8")
        parser = html5lib.HTMLParser(tree=html5lib.getTreeBuilder("etree"))
        return cls(text, parser.parse(text), parser.errors)

    def all(self, tag: str) -> list[ElementTree.Element]:
        return list(self.root.iter(HTML + tag))

    def by_id(self, name: str) -> ElementTree.Element:
        return next(element for element in self.root.iter() if element.get("id") == name)

    def rows(self, table: str) -> list[list[str]]:
        """Texts of the cells of a table, row by row, its head included."""
        return [["".join(cell.itertext()) for cell in row if cell.tag in (HTML + "th", HTML + "td")]
                for row in self.by_id(table).iter(HTML + "tr")]

    @property
    def index(self) -> dict[str, Any]:
        return json.loads(self.by_id("index").text or "")

    def array(self, entry: dict[str, Any]) -> np.ndarray:
        planes = gzip.decompress(base64.b64decode(self.by_id(f"b{entry['blob']}").text or ""))
        dtype = np.dtype(DTYPES[entry["dtype"]])
        values = np.frombuffer(planes, np.uint8).reshape(dtype.itemsize, entry["size"])
        return np.ascontiguousarray(values.T).view(dtype).ravel()

    def matrix(self, entry: dict[str, Any], rows: int) -> np.ndarray:
        return self.array(entry).reshape(rows, -1)

    def variable(self, key: str) -> dict[str, Any]:
        return next(entry for entry in self.index["variables"] if entry["key"] == key)

    def series(self, key: str) -> np.ndarray:
        """Series ``[subbasin, period]`` of a variable."""
        stored = self.variable(key)["series"]
        steps = np.concatenate([self.array(chunk).reshape(-1, stored["periods"]) for chunk in stored["chunks"]])
        codes = np.cumsum(steps.astype(np.int64), axis=1) % 65536
        low, span = (self.array(stored[name])[:, None] for name in ("low", "span"))
        return np.where(codes == 65535, np.nan, low + span * (codes / 65534.0) ** stored["power"])
