"""Files for geographic information systems: GeoPackage with all layers, GeoJSON and CSV with one."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wepl.errors import InputError
from wepl.gis.layers import HOW, Layer, Name, layers
from wepl.netcdf import content_of, publish, temporary_path, write_failure

if TYPE_CHECKING:
    import xarray as xr

FORMATS = (".gpkg", ".geojson", ".csv")
_ONE_LAYER = (".geojson", ".csv")


def export(source: str | Path, output: str | Path, variables: Sequence[str] = (), time: str | None = None,
           how: str | None = None, layer: Name | None = None, overwrite: bool = False) -> dict[Name, int]:
    """Write places and values of a result or basin file for a geographic information system, in WGS 84.

    Parameters
    ----------
    source : path
        A result or basin file.
    output : path
        ``.gpkg`` holds the layers ``subbasins``, ``units``, ``network`` and ``gauges``; ``.geojson`` and ``.csv`` hold
        one. It appears only when complete.
    variables, time, how
        See :func:`wepl.gis.layers.layers`. ``time`` may also be one of ``mean``, ``sum``, ``min`` and ``max``: that of
        the whole run.
    layer : str, optional
        The layer to write; all of a GeoPackage when None, else ``subbasins`` where the file has outlines and ``units``
        where it has none.
    overwrite : bool
        Whether a file that is there already may be replaced.

    Returns
    -------
    dict of str to int
        Places written, by layer.

    Raises
    ------
    InputError
        Something given cannot be used; nothing is written.
    """
    target = Path(output)
    _check_target(target, overwrite)
    if time in HOW:
        if how is not None:
            raise InputError(f"time {time!r} and how {how!r} say the same twice: give a period as time")
        time, how = None, time
    with _open(Path(source)) as data:
        found = layers(data, variables, time, how)
        chosen = _choose(found, layer, target.suffix.lower(), "subbasin_polygon" in data.variables)
        history = str(data.attrs.get("history", ""))
    unfinished = temporary_path(target)
    unfinished = unfinished.with_name(unfinished.name + target.suffix.lower())
    try:
        if target.suffix.lower() == ".csv":
            _write_csv(unfinished, chosen[0])
        elif target.suffix.lower() == ".geojson":
            unfinished.write_text(_geojson(chosen[0]), encoding="utf-8")
        else:
            _write_geopackage(unfinished, chosen, history)
        publish(unfinished, target)
    except (OSError, RuntimeError) as error:
        raise write_failure(target, error) from error
    finally:
        unfinished.unlink(missing_ok=True)
    return {item.name: len(item.table) for item in chosen}


def _check_target(target: Path, overwrite: bool) -> None:
    if target.suffix.lower() not in FORMATS:
        raise InputError(f"{target}: the name must end in {', '.join(FORMATS)}, which says the format")
    if target.is_dir() or not target.parent.is_dir():
        raise InputError(f"{target} is a folder; give the name of a file" if target.is_dir() else
                         f"the folder {target.parent} does not exist; create it or write elsewhere")
    if target.exists() and not overwrite:
        raise InputError(f"{target} exists: choose another name, or replace it with --overwrite")


def _open(source: Path) -> xr.Dataset:
    import xarray as xr

    if not source.is_file():
        raise InputError(f"{source} is {'a folder' if source.is_dir() else 'not there'}; give a result or basin file")
    content = content_of(source)
    if content not in ("", "basin", "result"):
        raise InputError(f"{source} is a {content} file of wepl; give a result or basin file")
    try:
        data = xr.open_dataset(source, engine="netcdf4", decode_timedelta=False)
    except (OSError, ValueError) as error:
        raise InputError(f"{source} cannot be read as netCDF: {error}") from None
    if "unit_subbasin" not in data.variables or "downstream" not in data.variables:
        data.close()
        raise InputError(f"{source} is neither a result nor a basin file of wepl")
    return data


def _choose(found: dict[Name, Layer], layer: Name | None, suffix: str, outlined: bool) -> list[Layer]:
    if layer is None and suffix in _ONE_LAYER:
        layer = "subbasins" if outlined else "units"
    if layer is not None and layer not in found:
        raise InputError(f"there is no layer {layer!r} here: choose from {', '.join(found)}")
    chosen = list(found.values()) if layer is None else [found[layer]]
    if suffix == ".csv":
        return chosen
    shaped = [item for item in chosen if item.shape is not None]
    if not shaped:
        raise InputError("the file has neither outlines nor coordinates of these places: export them as .csv")
    return shaped


def _value(value: Any) -> Any:
    """A number or text as JSON and GDAL take it; None for NaN."""
    plain = value.item() if hasattr(value, "item") else value
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain


def _records(layer: Layer) -> list[dict[str, Any]]:
    columns = {str(name): [_value(value) for value in layer.table[name].to_numpy()] for name in layer.table}
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _write_csv(path: Path, layer: Layer) -> None:
    table = layer.table.copy()
    if layer.shape == "Point":
        for at, name in enumerate(("longitude", "latitude")):
            table.insert(1 + at, name, [geometry["coordinates"][at] if geometry else math.nan
                                        for geometry in layer.geometries])
    table.to_csv(path, index=False, lineterminator="\n")


def _geojson(layer: Layer) -> str:
    """The layer as RFC 7946, a feature per line."""
    features = [json.dumps({"type": "Feature", "geometry": geometry, "properties": properties}, ensure_ascii=False,
                           allow_nan=False)
                for geometry, properties in zip(layer.geometries, _records(layer), strict=True)]
    lines = ",\n".join(features)
    return f'{{"type": "FeatureCollection", "name": "{layer.name}", "features": [\n{lines}\n]}}\n'


def _write_geopackage(path: Path, chosen: Sequence[Layer], history: str) -> None:
    try:
        import fiona
    except ModuleNotFoundError:
        raise InputError("writing a GeoPackage needs fiona: pip install fiona; or export as .geojson or .csv") from None
    # The date that a GeoPackage bears is that of the source, so that the same source gives the same bytes.
    moment = re.match(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}", history)
    with fiona.Env(OGR_CURRENT_DATE=f"{moment.group() if moment else '2000-01-01T00:00:00'}.000Z"):
        for layer in chosen:
            kinds = {"i": "int64", "u": "int64", "f": "float"}
            properties = {str(name): kinds.get(layer.table[name].dtype.kind, "str") for name in layer.table}
            schema = {"geometry": layer.shape, "properties": properties}
            with fiona.open(path, "w", driver="GPKG", layer=layer.name, crs="EPSG:4326", schema=schema) as file:
                file.writerecords([{"type": "Feature", "geometry": geometry, "properties": values}
                                   for geometry, values in zip(layer.geometries, _records(layer), strict=True)])
