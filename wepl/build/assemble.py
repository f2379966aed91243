"""From a TOML file to a basin file: the steps of a build in order, and the file that holds what they give."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wepl import registry
from wepl.basin.polygons import Polygon, encode
from wepl.errors import BasinError, InputError
from wepl.netcdf import LOCK, check_target, publish, temporary_path, write_failure

if TYPE_CHECKING:
    import netCDF4

    from wepl.build.config import Config
    from wepl.build.types import Terrain

# What a number under [parameters] replaces in the terrain, so that land, soil and forcing see it too.
_UNIT_COLUMNS = {"unit_elevation": "elevation_m", "unit_slope": "slope", "unit_flow_length": "flow_length_m"}
_REACH_COLUMNS = {"reach_length": "reach_length_m", "reach_slope": "reach_slope", "reach_width": "reach_width_m"}
_MOST_LINES = 12


@dataclass(frozen=True)
class Built:
    """What a build gave: the basin file (None after a dry run), the table of sums, and the page of plots."""

    path: Path | None
    table: str
    page: Path | None


@dataclass(frozen=True)
class _Static:
    """Everything but forcing: values by registry name in file units, and the names of gauges."""

    values: dict[str, np.ndarray]
    gauge_names: list[str]


def build(toml: str | Path, output: str | Path | None, dry_run: bool = False, plots: str | Path | None = None) -> Built:
    """Build a basin file from maps and stations.

    Parameters
    ----------
    toml : path
        What to build from; see docs/build.md.
    output : path
        The basin file; it appears only when it is complete and keeps every rule. May be None in a dry run.
    dry_run : bool
        Do all the work and all the checks, and keep no basin file.
    plots : path, optional
        Folder for the page of plots.

    Returns
    -------
    Built

    Raises
    ------
    InputError
        Something given cannot be used; the message says what and where. Nothing is left behind.
    BasinError
        The basin breaks a rule of basin files.
    WeplError
        Writing failed.
    """
    if output is None and not dry_run:
        raise InputError("output is missing: name the basin file to write")
    config, text = _config(toml)
    target = None if dry_run or output is None else Path(output)
    if target is not None:
        check_target(target, "basin")
    if plots is not None:
        _check_plots(Path(plots))
    with tempfile.TemporaryDirectory(prefix="wepl-build-") as scratch:
        unfinished = temporary_path(target) if target is not None else Path(scratch) / "basin.nc"
        try:
            return _build(config, text, Path(toml), target, unfinished, None if plots is None else Path(plots))
        except InputError as error:
            if isinstance(error, BasinError) or Path(toml).name in str(error):
                raise
            raise InputError(f"{toml}: {error}") from None
        finally:
            unfinished.unlink(missing_ok=True)


def _config(toml: str | Path) -> tuple[Config, str]:
    try:
        from wepl.build.config import read
    except ModuleNotFoundError as error:
        raise InputError(f"wepl build needs {error.name}: pip install 'wepl[prep]'") from None
    return read(toml)


def _check_plots(folder: Path) -> None:
    from wepl.build.report import require_plots

    require_plots()
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; give a folder for the plots")
    if not folder.is_dir() and not folder.parent.is_dir():
        raise InputError(f"the folder {folder.parent} does not exist; create it or put the plots elsewhere")


def _build(config: Config, text: str, toml: Path, target: Path | None, unfinished: Path,
           plots: Path | None) -> Built:
    from wepl.basin.dataset import Basin
    from wepl.build import report
    from wepl.build.forcing import build_forcing
    from wepl.build.land import land_parameters
    from wepl.build.outlines import outlines
    from wepl.build.soil import soil_parameters
    from wepl.build.terrain import build_terrain

    folder = toml.parent
    terrain = build_terrain(config.terrain, config.gauges, config.gauge_rule, folder)
    _replace(terrain, config.parameters)
    notes: list[str] = []
    values = {**land_parameters(config.land, terrain, folder, notes),
              **soil_parameters(config.soil, terrain, folder, notes)}
    static = _static(config, terrain, values)
    _check_static(static, toml)
    polygons = outlines(terrain)
    try:
        facts = build_forcing(config.forcing, terrain, folder, unfinished)
        notes += facts.notes
        static.values["unit_cell"] = np.asarray(facts.unit_cell, dtype=np.int64)
        static.values["cell"] = np.asarray(facts.cells, dtype=np.int64)
        static.values["cell_elevation"] = np.asarray(facts.cell_elevation, dtype=float)
        with LOCK:
            _append(unfinished, static, config, text, toml)
            _write_outlines(unfinished, polygons)
    except (OSError, RuntimeError) as error:
        raise write_failure(target or unfinished, error) from error
    try:
        basin = Basin.open(unfinished)
        basin.check_forcing()
    except BasinError as error:
        raise _refusal(toml, error.problems) from None
    summary = report.summarise(terrain, basin)
    table = report.table(summary, notes)
    page = None if plots is None else report.page(summary, terrain, basin, table)
    if target is not None:
        publish(unfinished, target)
    return Built(target, table, None if page is None or plots is None else report.write_page(page, plots))


def _refusal(toml: Path, problems: tuple[str, ...]) -> BasinError:
    lines = [f"the basin built from {toml} cannot be used:", *(f"  {line}" for line in problems[:_MOST_LINES])]
    if len(problems) > _MOST_LINES:
        lines.append(f"  ... and {len(problems) - _MOST_LINES} more")
    return BasinError("\n".join(lines), problems)


def _replace(terrain: Terrain, parameters: Mapping[str, float]) -> None:
    """Numbers of [parameters] in place of what the terrain says."""
    for names, frame in ((_UNIT_COLUMNS, terrain.units), (_REACH_COLUMNS, terrain.subbasins)):
        for name, column in names.items():
            if name in parameters:
                frame[column] = float(parameters[name])
    unknown = [name for names, frame in ((_UNIT_COLUMNS, terrain.units), (_REACH_COLUMNS, terrain.subbasins))
               for name, column in names.items() if not np.isfinite(frame[column].to_numpy(dtype=float)).all()]
    if unknown:
        raise InputError(f"terrain: flow directions do not tell {', '.join(unknown)}: give numbers under [parameters]")


def _static(config: Config, terrain: Terrain, values: Mapping[str, np.ndarray]) -> _Static:
    """Topology, geometry, land, soil and single numbers, by registry name in file units."""
    subbasins, units = terrain.subbasins, terrain.units
    all_values: dict[str, np.ndarray] = {
        "subbasin": subbasins.index.to_numpy(), "unit": units.index.to_numpy(),
        "unit_subbasin": units["subbasin"].to_numpy(), "unit_order": units["order"].to_numpy(),
        "unit_area": units["area_km2"].to_numpy(dtype=float),
    }
    for name, column in (("downstream", "downstream"), ("pfafstetter", "pfafstetter"),
                         ("subbasin_longitude", "longitude"), ("subbasin_latitude", "latitude"),
                         *_REACH_COLUMNS.items()):
        all_values[name] = subbasins[column].to_numpy()
    for name, column in (("unit_latitude", "latitude"), ("unit_longitude", "longitude"), *_UNIT_COLUMNS.items()):
        all_values[name] = units[column].to_numpy(dtype=float)
    gauges = terrain.gauges
    if len(gauges):
        all_values["gauge"] = np.arange(1, len(gauges) + 1)
        all_values["gauge_subbasin"] = gauges["subbasin"].to_numpy()
    all_values |= values
    sizes = {"subbasin": len(subbasins), "unit": len(units), "soil_layer": values["soil_thickness"].shape[1]}
    for name, number in config.parameters.items():
        entry = registry.variable(name)
        if set(entry.dims) <= set(sizes):
            all_values[name] = np.full(tuple(sizes[dim] for dim in entry.dims), number)
    return _Static(all_values, [str(name) for name in gauges["name"]] if len(gauges) else [])


def _check_static(static: _Static, toml: Path) -> None:
    """Refuse, before the forcing is made, what breaks a rule already; a cell per unit stands in for the cells."""
    import xarray as xr

    from wepl.basin import checks

    stand_in = {"cell": static.values["unit"], "unit_cell": static.values["unit"],
                "cell_elevation": static.values["unit_elevation"]}
    data = {name: (_dims(name), array, _attributes(name)) for name, array in {**static.values, **stand_in}.items()}
    problems = [line for check in checks.examine(xr.Dataset(data)) for line in check.problems]
    if problems:
        raise _refusal(toml, tuple(problems))


def _dims(name: str) -> tuple[str, ...]:
    return ("vegetation",) if name == "vegetation_name" else registry.variable(name).dims


def _attributes(name: str) -> dict[str, str]:
    if name == "vegetation_name":
        return {"long_name": "name of the vegetation kind"}
    entry = registry.variable(name)
    attributes = {"units": entry.file_units, "long_name": entry.long_name}
    if entry.standard_name:
        attributes["standard_name"] = entry.standard_name
    return attributes


def _append(path: Path, static: _Static, config: Config, text: str, toml: Path) -> None:
    """Put everything but forcing into the file that holds the forcing."""
    import netCDF4

    from wepl import __version__

    values: dict[str, Any] = dict(static.values)
    if "cell_elevation" in config.parameters:
        values["cell_elevation"] = np.full(values["cell"].size, config.parameters["cell_elevation"])
    with netCDF4.Dataset(path, "a") as file:
        file.setncatts({
            "Conventions": "CF-1.11", "title": config.title, "source": f"built by wepl build from {toml.name}",
            "history": f"made by wepl build of wepl {__version__}", "wepl_content": "basin",
            "build_configuration": text})
        for name, array in values.items():
            _write(file, name, np.asarray(array))
        for name, given in config.options.items():
            entry = registry.variable(name)
            number = entry.choices.index(given) if isinstance(given, str) else given
            _write(file, name, np.asarray(number))
        _write_texts(file, "gauge_name", "gauge", "name of the gauge", static.gauge_names)
        _write_texts(file, "land_class", "land_class", "land class", list(registry.LAND_CLASSES))


def _write_outlines(path: Path, polygons: Sequence[Polygon]) -> None:
    import netCDF4

    with netCDF4.Dataset(path, "a") as file:
        for name, (dims, values, attributes) in encode(polygons).items():
            for dim, size in zip(dims, values.shape, strict=True):
                if dim not in file.dimensions:
                    file.createDimension(dim, size)
            packed = values.ndim > 0
            variable = file.createVariable(name, values.dtype, dims, zlib=packed, complevel=4, shuffle=packed)
            variable.setncatts(attributes)
            variable[...] = values


def _write(file: netCDF4.Dataset, name: str, array: np.ndarray) -> None:
    if array.dtype.kind in "UO":
        _write_texts(file, name, "vegetation", "name of the vegetation kind", [str(text) for text in array])
        return
    dims = registry.variable(name).dims
    for dim, size in zip(dims, array.shape, strict=True):
        if dim not in file.dimensions:
            file.createDimension(dim, size)
    if name in file.variables:
        variable = file.variables[name]
    else:
        kind = np.int64 if registry.variable(name).integer else np.float64
        packed = array.ndim > 0
        variable = file.createVariable(name, kind, dims, zlib=packed, complevel=4, shuffle=packed)
    variable.setncatts(_attributes(name))
    variable[...] = array


def _write_texts(file: netCDF4.Dataset, name: str, dim: str, text: str, entries: list[str]) -> None:
    if not entries:
        return
    if dim not in file.dimensions:
        file.createDimension(dim, len(entries))
    variable = file.createVariable(name, str, (dim,))
    variable.long_name = text
    variable[:] = np.array(entries, dtype=object)
