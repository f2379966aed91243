"""Legends of class maps: codes of well-known land-cover products, of soil textures, and of tables that a user gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wepl.basin.catchment_land import LAND_KINDS
from wepl.basin.soils import TEXTURES
from wepl.build import tables
from wepl.errors import InputError

Shares = dict[str, float]
MISSING = "missing"


@dataclass(frozen=True)
class Legend:
    """What the codes of a class map mean.

    Attributes
    ----------
    name : str
        Name of the legend or file, for messages.
    shares : dict
        Of each code: share of each kind or texture; they add to 1.
    missing : frozenset of int
        Codes that mean no data.
    """

    name: str
    shares: dict[int, Shares]
    missing: frozenset[int]

    def weights(self, codes: np.ndarray, names: tuple[str, ...], path: Path | str) -> np.ndarray:
        """Share of each name in each code, (code, name); zeros where the code means no data.

        Raises
        ------
        InputError
            Codes are not in the legend; all are listed.
        """
        unknown = [int(code) for code in codes if int(code) not in self.shares and int(code) not in self.missing]
        if unknown:
            raise InputError(f"{path}: the codes {', '.join(map(str, unknown))} are not in the legend {self.name}, "
                             f"which has {', '.join(map(str, sorted(self.shares)))}: choose another legend, or give a "
                             f"table of code and kind that has them all (kind {MISSING!r} for no data)")
        table = np.zeros((len(codes), len(names)))
        for row, code in enumerate(codes):
            for name, share in self.shares.get(int(code), {}).items():
                table[row, names.index(name)] = share
        return table


_EBF, _ENF, _DF, _MF = "evergreen_broadleaf_forest", "evergreen_needleleaf_forest", "deciduous_forest", "mixed_forest"
# Mixtures follow the middle of the cover that a class is defined by.
_SAVANNA, _WOODY_SAVANNA = {_MF: 0.2, "grass": 0.8}, {_MF: 0.45, "grass": 0.55}
_Codes = Mapping[int, str | Mapping[str, float]]

# Chen et al. 2015, ISPRS J. Photogramm. Remote Sens. 103: 255 is sea.
_GLOBELAND30: _Codes = {10: "dry_crop", 20: _MF, 30: "grass", 40: "shrub", 50: {"grass": 0.5, "water": 0.5},
                        60: "water", 70: "grass", 80: "urban", 90: "bare", 100: "bare", 255: "water"}
# Zanaga et al. 2022, ESA WorldCover 10 m 2021 v200 product user manual.
_WORLDCOVER: _Codes = {10: _MF, 20: "shrub", 30: "grass", 40: "dry_crop", 50: "urban", 60: "bare", 70: "bare",
                       80: "water", 90: {"grass": 0.5, "water": 0.5}, 95: _EBF, 100: "grass"}
# Sulla-Menashe and Friedl 2018, MCD12Q1 collection 6 user guide, table 3; 0 is water in collection 5.
_IGBP: _Codes = {0: "water", 1: _ENF, 2: _EBF, 3: _DF, 4: _DF, 5: _MF, 6: "shrub", 7: {"shrub": 0.35, "bare": 0.65},
                 8: _WOODY_SAVANNA, 9: _SAVANNA, 10: "grass", 11: {"grass": 0.55, "water": 0.45}, 12: "dry_crop",
                 13: "urban", 14: {"dry_crop": 0.5, _MF: 0.25, "grass": 0.25}, 15: "bare", 16: "bare", 17: "water"}
# Yang and Huang 2021, Earth Syst. Sci. Data 13.
_CLCD: _Codes = {1: "dry_crop", 2: _MF, 3: "shrub", 4: "grass", 5: "water", 6: "bare", 7: "bare", 8: "urban",
                 9: {"grass": 0.5, "water": 0.5}}
# Kosztra et al. 2019, updated CLC illustrated nomenclature guidelines; in the order of the grid codes 1 to 44.
_CLC: _Codes = {
    111: "urban", 112: {"urban": 0.55, "grass": 0.45}, 121: "urban", 122: "urban", 123: "urban",
    124: {"urban": 0.5, "grass": 0.5}, 131: "bare", 132: "bare", 133: "bare", 141: "grass", 142: "grass",
    211: "dry_crop", 212: "dry_crop", 213: "paddy", 221: "orchard", 222: "orchard", 223: "orchard", 231: "grass",
    241: {"dry_crop": 0.5, "orchard": 0.5}, 242: "dry_crop", 243: {"dry_crop": 0.5, "grass": 0.25, _MF: 0.25},
    244: {"dry_crop": 0.7, _DF: 0.3}, 311: _DF, 312: _ENF, 313: _MF, 321: "grass", 322: "shrub", 323: "shrub",
    324: {"shrub": 0.5, _MF: 0.5}, 331: "bare", 332: "bare", 333: {"bare": 0.7, "grass": 0.3}, 334: "bare",
    335: "bare", 411: {"grass": 0.5, "water": 0.5}, 412: "grass", 421: "grass", 422: "water", 423: "bare",
    511: "water", 512: "water", 521: "water", 522: "water", 523: "water"}
_CORINE: _Codes = {**_CLC, **{number: kind for number, kind in enumerate(_CLC.values(), 1)}}

_LAND: dict[str, tuple[_Codes, frozenset[int]]] = {
    "globeland30": (_GLOBELAND30, frozenset({0})), "esa_worldcover": (_WORLDCOVER, frozenset({0})),
    "modis_igbp": (_IGBP, frozenset({255})), "clcd": (_CLCD, frozenset({0})),
    "corine": (_CORINE, frozenset({0, 48, 255, 990, 995, 999, -128, -32768})),
}
LAND_LEGENDS = tuple(_LAND)
# Codes of the USDA textures as in STATSGO-FAO maps and the land models that use them (Miller and White 1998).
USDA = ("sand", "loamy sand", "sandy loam", "silt loam", "silt", "loam", "sandy clay loam", "silty clay loam",
        "clay loam", "sandy clay", "silty clay", "clay")
SOIL_LEGENDS = ("usda",)
GRAINS = ("sand", "silt", "clay", "organic")


def land_legend(classes: str, folder: Path) -> Legend:
    """Legend of land cover by name, or from a table of code and kind.

    Raises
    ------
    InputError
        There is no such legend, or the table cannot be used.
    """
    if classes in _LAND:
        codes, missing = _LAND[classes]
        return Legend(classes, {code: {kind: 1.0} if isinstance(kind, str) else dict(kind)
                                for code, kind in codes.items()}, missing)
    return read_legend(folder / classes, "kind", LAND_KINDS)


def soil_legend(classes: str, folder: Path) -> Legend:
    """Legend of textures by name, or from a table of code and texture; see :func:`land_legend`."""
    if classes in SOIL_LEGENDS:
        return Legend(classes, {code: {texture: 1.0} for code, texture in enumerate(USDA, 1)}, frozenset({0}))
    return read_legend(folder / classes, "texture", TEXTURES)


def read_legend(path: Path, what: str, names: tuple[str, ...]) -> Legend:
    """A table of code and name; with a third column ``share`` a code may stand in several rows.

    Raises
    ------
    InputError
        A code is no whole number or stands twice, a name is unknown (all are listed), shares do not add to 1.
    """
    frame = tables.read_text(path)
    if frame.shape[1] < 2:
        raise InputError(f"{path}: give the columns code and {what}")
    shared = "share" in [str(name).strip().lower() for name in frame.columns]
    codes = whole_numbers(frame.iloc[:, 0], path)
    given = [str(text).strip().lower() for text in frame.iloc[:, 1]]
    plain = {name.replace("_", " "): name for name in names}
    kinds = [MISSING if text == MISSING else plain.get(text.replace("_", " ")) for text in given]
    unknown = sorted({text for text, kind in zip(given, kinds, strict=True) if kind is None})
    if unknown:
        raise InputError(f"{path}: unknown {what} {', '.join(map(repr, unknown))}: choose from {', '.join(names)}, or "
                         f"{MISSING!r} for no data")
    shares = table_shares(frame, path) if shared else np.ones(len(codes))
    found: dict[int, Shares] = {}
    missing: set[int] = set()
    for code, kind, share in zip(codes, kinds, shares, strict=True):
        if code in missing or (code in found and (not shared or kind == MISSING)):
            raise InputError(f"{path}: the code {code} stands twice: give it once, or a column share")
        if kind == MISSING:
            missing.add(code)
        else:
            of_code = found.setdefault(code, {})
            of_code[str(kind)] = of_code.get(str(kind), 0.0) + float(share)
    for code, of_code in found.items():
        if abs(sum(of_code.values()) - 1.0) > 1e-3:
            raise InputError(f"{path}: the shares of code {code} add to {sum(of_code.values()):.6g}, not to 1: correct "
                             "them")
    return Legend(path.name, found, frozenset(missing))


def table_shares(frame: tables.Frame, path: Path) -> np.ndarray:
    """The column ``share`` of a table; percent where a value is above 1."""
    column = next(name for name in frame.columns if str(name).strip().lower() == "share")
    shares = tables.numbers(frame, column, path)
    if not ((shares >= 0.0) & (shares <= 100.0)).all():
        row = int(np.argmin((shares >= 0.0) & (shares <= 100.0)))
        raise InputError(f"{path}: row {row + 2}: the share is {shares[row]:g}: give one from 0 to 1")
    return shares / 100.0 if (shares > 1.0).any() else shares


def whole_numbers(column: tables.Series, path: Path) -> list[int]:
    """Codes of a table."""
    values = []
    for row, text in enumerate(column, 2):
        try:
            number = float(str(text).strip())
        except ValueError:
            number = float("nan")
        if not number.is_integer():
            raise InputError(f"{path}: row {row}: the code {text!r} is no whole number: correct it")
        values.append(int(number))
    return values
