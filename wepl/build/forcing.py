"""Forcing of a build: from station tables and grids to the cells of the basin, written in blocks of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wepl import registry, units
from wepl.build import clock
from wepl.build.clock import DAY, Steps
from wepl.build.grid_files import Axes, Store
from wepl.build.grids import Grid, centres, locator, open_grids
from wepl.build.interpolate import Places, Weights, area_weights, distance_weights, units_as_places
from wepl.build.quantities import FORCING, RECIPES, first_outside
from wepl.build.sources import GridSource, Source, StationSource
from wepl.build.stations import read_stations
from wepl.errors import InputError
from wepl.netcdf import LOCK

if TYPE_CHECKING:
    from wepl.build.config import Forcing
    from wepl.build.types import Terrain

_STEPS = {"1d": DAY, "1h": 3600}
_NEEDED = ("precipitation", "air_temperature", "relative_humidity", "wind_speed")
_SUN = ("shortwave_radiation", "sunshine_duration")
_BLOCK_BYTES = 24 * 2**20
_CHUNK_BYTES = 2 * 2**20
_CACHE_BYTES = 4 * 2**20


@dataclass(frozen=True)
class ForcingFacts:
    """What a basin needs to know of the forcing that was written.

    Attributes
    ----------
    cells : ndarray
        int64, identifiers of the forcing cells.
    cell_elevation : ndarray
        m, elevation that the air temperature of each cell belongs to; the model carries it to the units.
    unit_cell : ndarray
        int64, cell of each unit, in the order of ``terrain.units``.
    notes : tuple of str
        What was filled, dropped or assumed.
    """

    cells: np.ndarray
    cell_elevation: np.ndarray
    unit_cell: np.ndarray
    notes: tuple[str, ...] = ()


@dataclass
class _Targets:
    """Cells of the basin: identifiers, places, and the cell of each unit."""

    cells: np.ndarray
    places: Places
    unit_cell: np.ndarray


@dataclass
class _Plan:
    """Everything before the first block: who gives each variable, at which steps, to which cells."""

    sources: dict[str, Source]
    steps: Steps
    targets: _Targets
    calendar: str
    notes: list[str] = field(default_factory=list)


def build_forcing(config: Forcing, terrain: Terrain, folder: Path, target: Path) -> ForcingFacts:
    """Write the forcing of a basin.

    Parameters
    ----------
    config : Forcing
        Stations and grids, and how they are carried to cells.
    terrain : Terrain
        Units on a projected grid.
    folder : Path
        What files are relative to.
    target : Path
        netCDF file to write into; made where it is absent, and then removed again when something fails. It gets the
        dimensions ``time`` and ``cell``, their coordinates, and the forcing variables (time, cell).

    Returns
    -------
    ForcingFacts

    Raises
    ------
    InputError
        A file cannot be used, a variable is missing, steps do not fit, values cannot be true, or there are gaps that
        may not be filled.
    """
    store = Store()
    try:
        plan = _plan(config, terrain, folder, store)
        _write(plan, config, target)
        for source in set(plan.sources.values()):
            if isinstance(source, GridSource):
                source.report()
        elevation = plan.sources["air_temperature"].elevation("air_temperature")
        return ForcingFacts(plan.targets.cells, np.asarray(elevation, dtype=float), plan.targets.unit_cell,
                            tuple(sorted(set(plan.notes))))
    finally:
        store.close()


def _plan(config: Forcing, terrain: Terrain, folder: Path, store: Store) -> _Plan:
    zone = clock.zone_seconds(config.time_zone)
    notes: list[str] = []
    matrices: list[tuple[Axes, Weights]] = []

    def cells(axes: Axes, name: str) -> np.ndarray:
        weights = area_weights(terrain, axes.crs, locator(axes, name), axes.shape[0] * axes.shape[1], name)
        used = np.unique(weights.indices)
        matrices.append((axes, weights[:, used]))
        return used

    records, place, places = read_stations(config.stations, folder, zone, terrain, notes)
    grids = open_grids(config.grids, folder, zone, terrain.crs, store, cells, notes)
    for grid in grids:
        _describe(grid, next(weights for axes, weights in matrices if axes.same(grid.axes)), terrain, notes)
    of_grid = {grid.name: next(weights for axes, weights in matrices if axes.same(grid.axes)) for grid in grids}
    centre = units_as_places(terrain)
    stations = StationSource(records, place, places, centre, config, notes)
    targets = _targets(config, terrain, centre, stations, places, place, grids, of_grid)
    stations = StationSource(records, place, places, targets.places, config, notes)
    sources: list[Source] = [stations] if records else []
    for grid in grids:
        weights = of_grid[grid.name]
        if config.cells != "unit":
            weights = _at_places(grid, targets.places, terrain)
        sources.append(GridSource(grid, weights, targets.places, config, notes))
    chosen = _choose(sources, notes)
    calendars = {source.calendar for source in chosen.values()}
    if len(calendars) > 1:
        raise InputError(f"forcing: the sources have different calendars ({', '.join(sorted(calendars))}): use one")
    calendar = calendars.pop()
    steps = _steps(config, chosen, calendar)
    for name, source in chosen.items():
        source.prepare(name, steps)
    return _Plan(chosen, steps, targets, calendar, notes)


def _describe(grid: Grid, weights: Weights, terrain: Terrain, notes: list[str]) -> None:
    """Latitude and elevation of the used cells; without its own, a cell's elevation is that of the units in it."""
    from rasterio.warp import transform

    x, y = (values[grid.used] for values in centres(grid.axes))
    grid.latitude = np.asarray(transform(grid.axes.crs, "EPSG:4326", x.tolist(), y.tolist())[1])
    if grid.elevation is not None:
        grid.height = grid.elevation.ravel()[grid.used]
        return
    area = terrain.units["area_km2"].to_numpy(dtype=float)
    inside = np.asarray(weights.T @ area)
    height = terrain.units["elevation_m"].to_numpy(dtype=float)
    grid.height = np.asarray(weights.T @ (area * height)) / inside
    notes.append(f"{grid.name}: no elevation of its cells is given: that of the units in each is taken")


def _targets(config: Forcing, terrain: Terrain, centre: Places, stations: StationSource, places: Places,
             place: dict[str, int], grids: Sequence[Grid], of_grid: dict[str, Weights]) -> _Targets:
    """The cells of the basin: units, stations of precipitation, or cells of the grid of precipitation."""
    ids = terrain.units.index.to_numpy().astype(np.int64)
    if config.cells == "unit":
        return _Targets(ids, centre, ids)
    if config.cells == "station":
        if "precipitation" not in stations.offers:
            raise InputError("forcing: cells = 'station' needs stations of precipitation: use cells = 'unit' or 'grid'")
        rows = np.array([place[name] for name in stations.stations("precipitation")])
        nearest = distance_weights(places.xy[rows], centre.xy, "thiessen", 1.0, 1).indices
        used, unit_cell = np.unique(nearest, return_inverse=True)
        kept = rows[used]
        chosen = Places(places.xy[kept], places.elevation[kept], places.latitude[kept])
        return _Targets(np.arange(1, used.size + 1), chosen, unit_cell.astype(np.int64) + 1)
    grid = next((grid for grid in grids if "precipitation" in grid.offers), None)
    if grid is None:
        raise InputError("forcing: cells = 'grid' needs a grid with precipitation: use cells = 'unit' or 'station'")
    weights = of_grid[grid.name].tocsr(copy=True)
    open_cells = ~grid.masked("precipitation")
    weights.data = weights.data * open_cells[weights.indices]
    if not (np.asarray(weights.sum(axis=1)) > 0.0).all():
        raise InputError(f"{grid.name}: precipitation has no values over some units: use cells = 'unit'")
    most = np.asarray(weights.argmax(axis=1)).ravel()
    used, unit_cell = np.unique(most, return_inverse=True)
    from rasterio.warp import transform

    x, y = (values[grid.used[used]] for values in centres(grid.axes))
    xy = np.column_stack(transform(grid.axes.crs, terrain.crs, x.tolist(), y.tolist()))
    return _Targets(np.arange(1, used.size + 1), Places(xy, grid.height[used], grid.latitude[used]),
                    unit_cell.astype(np.int64) + 1)


def _at_places(grid: Grid, places: Places, terrain: Terrain) -> Weights:
    """Each place takes the used grid cell whose centre is nearest."""
    from rasterio.warp import transform

    x, y = (values[grid.used] for values in centres(grid.axes))
    there = np.column_stack(transform(grid.axes.crs, terrain.crs, x.tolist(), y.tolist()))
    return distance_weights(there, places.xy, "thiessen", 1.0, 1)


def _choose(sources: Sequence[Source], notes: list[str]) -> dict[str, Source]:
    """Who gives each forcing variable: stations before grids, and one grid only."""
    chosen: dict[str, Source] = {}
    for name in FORCING:
        offering = [source for source in sources if name in source.offers]
        if not offering:
            continue
        if len(offering) > 1 and not isinstance(offering[0], StationSource):
            raise InputError(f"forcing: {name} comes from {offering[0].name} and from {offering[1].name}: drop one, or "
                             "name the variables to take by variables = {...}")
        if len(offering) > 1:
            notes.append(f"{name} comes from stations, not from {', '.join(other.name for other in offering[1:])}")
        chosen[name] = offering[0]
    missing = [name for name in _NEEDED if name not in chosen]
    if not any(name in chosen for name in _SUN):
        missing.append(" or ".join(_SUN))
    if missing:
        ways = [f"{name} can be made from "
                f"{' or from '.join(' and '.join(part.rstrip('?') for part in parts) for parts in RECIPES[name])}"
                for name in missing if name in RECIPES]
        raise InputError(f"forcing: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} given by no station or "
                         "grid"
                         + (f"; {'; '.join(ways)}" if ways else ""))
    return chosen


def _steps(config: Forcing, chosen: dict[str, Source], calendar: str) -> Steps:
    """Steps of the basin that all variables cover, within the period asked for."""
    step = _STEPS[config.step]
    covers = {name: source.coverage(name) for name, source in chosen.items()}
    late = max(covers, key=lambda name: covers[name].start)
    early = min(covers, key=lambda name: covers[name].end)
    first, last = -(-covers[late].start // step) * step, covers[early].end // step * step
    spans = "; ".join(f"{name} {clock.label(cover.start, calendar)} to {clock.label(cover.end, calendar)}"
                      for name, cover in covers.items())
    if config.start is not None:
        asked = clock.moment(config.start, calendar)
        if asked < first or asked % step:
            raise InputError(f"forcing: start = {config.start} lies before {clock.label(first, calendar)}, the first "
                             f"step that all variables cover ({late} begins last), or within a step: {spans}")
        first = asked
    if config.end is not None:
        end = clock.moment(config.end, calendar) + (step if "T" in config.end or " " in config.end.strip() else DAY)
        if end > last:
            raise InputError(f"forcing: end = {config.end} lies after {clock.label(last, calendar)}, where {early} "
                             f"ends: {spans}")
        last = end
    if last - first < 2 * step:
        raise InputError(f"forcing: the variables share less than two steps of {config.step}: {spans}")
    return Steps(first, step, (last - first) // step)


def _write(plan: _Plan, config: Forcing, target: Path) -> None:
    """All blocks of time, under the netCDF library's lock only while it writes: sources are read through xarray."""
    import netCDF4

    made = not target.exists()
    with LOCK:
        file = netCDF4.Dataset(target, "w" if made else "a")
    complete = False
    try:
        with LOCK:
            chunk = _define(file, plan, config)
        n_cells = plan.targets.cells.size
        size = max(chunk, _BLOCK_BYTES // (8 * n_cells) // chunk * chunk)
        for first in range(0, plan.steps.n_steps, size):
            last = min(first + size, plan.steps.n_steps)
            for name, source in plan.sources.items():
                values = _in_file_units(source.read(name, first, last), name, plan, first)
                with LOCK:
                    file[name][first:last] = values
        complete = True
    finally:
        with LOCK:
            file.close()
        if made and not complete:
            target.unlink(missing_ok=True)


def _define(file: Any, plan: _Plan, config: Forcing) -> int:
    """Dimensions, coordinates and empty variables; returns the steps of a chunk."""
    n_steps, n_cells = plan.steps.n_steps, plan.targets.cells.size
    file.createDimension("time", n_steps)
    file.createDimension("cell", n_cells)
    daily = plan.steps.step == DAY
    # Days stay days of the zone; shorter steps are told in UTC, which the sun is reckoned by.
    zone = clock.zone_seconds(config.time_zone)
    start = clock.to_dates(np.array([plan.steps.start - (0 if daily else zone)]), plan.calendar)[0]
    time = file.createVariable("time", np.int32, ("time",), zlib=True, complevel=4, shuffle=True)
    time.setncatts({"standard_name": "time", "long_name": "start of the step", "axis": "T", "calendar": plan.calendar,
                    "units": f"{'days' if daily else 'hours'} since {start.strftime('%Y-%m-%d %H:%M:%S')}"})
    if daily and zone:
        time.comment = f"days of {config.time_zone}"
    time[:] = np.arange(n_steps)
    cell = file.createVariable("cell", np.int64, ("cell",), zlib=True, complevel=4, shuffle=True)
    cell.long_name = registry.variable("cell").long_name
    cell[:] = plan.targets.cells
    chunk = min(n_steps, max(1, _CHUNK_BYTES // (4 * n_cells)))
    for name in plan.sources:
        entry = registry.variable(name)
        variable = file.createVariable(name, np.float32, ("time", "cell"), zlib=True, complevel=1, shuffle=True,
                                       chunksizes=(chunk, n_cells))
        variable.set_var_chunk_cache(size=_CACHE_BYTES, nelems=101, preemption=1.0)
        variable.setncatts({"long_name": entry.long_name, "units": entry.file_units,
                            "cell_methods": "time: sum" if name == "sunshine_duration" else "time: mean"}
                           | ({"standard_name": entry.standard_name} if entry.standard_name else {}))
    return chunk


def _in_file_units(values: np.ndarray, name: str, plan: _Plan, first: int) -> np.ndarray:
    """float32 in the registry's file unit, after the last check."""
    entry = registry.variable(name)
    step = plan.steps.step
    if np.isnan(values).any():
        at = first + int(np.nonzero(np.isnan(values))[0][0])
        raise InputError(f"forcing: {name} has no value on {clock.label(plan.steps.start + at * step, plan.calendar)}: "
                         "all stations or grid cells are missing")
    bad = first_outside(values, name, step)
    if bad is not None:
        when = clock.label(plan.steps.start + (first + bad[0]) * step, plan.calendar)
        raise InputError(f"forcing: {name} of cell {plan.targets.cells[bad[1]]} on {when} is {values[bad]:.6g} "
                         f"{entry.units}, which cannot be true: check the units and the elevations of the stations")
    low, high = entry.valid
    high = min(high, float(step)) if name == "sunshine_duration" else high
    factor, offset = units.linear(entry.units, entry.file_units)
    return (np.clip(values, low, high) * factor + offset).astype(np.float32)
