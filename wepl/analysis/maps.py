"""Maps of a result: sub-basins as polygons where the basin has outlines, else places of units and the river network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from wepl.analysis import network, result
from wepl.basin.polygons import read_polygons
from wepl.errors import InputError

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

_HOW = ("mean", "sum", "min", "max")


def require_matplotlib() -> None:
    """Refuse where matplotlib is absent.

    Raises
    ------
    InputError
        With the command that installs it.
    """
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError:
        raise InputError("drawing needs matplotlib: pip install matplotlib") from None


def aggregate(data: xr.Dataset, variable: str, time: str | None = None, how: str | None = None,
              layer: int = 1) -> xr.DataArray:
    """One value per place of a variable.

    Parameters
    ----------
    data : xarray.Dataset
        A result.
    variable : str
        A variable of units or sub-basins, with time or without (``unit_elevation``).
    time : str, optional
        A year, month, day or moment (``2010``, ``2010-07``, ``2010-07-31``), or two with a slash between; the whole
        run when None.
    how : {"mean", "sum", "min", "max"}, optional
        What to do with the steps of that time; sum for fluxes and mean for the rest when None.
    layer : int
        Soil layer, 1 at the top, of a layered variable.

    Returns
    -------
    xarray.DataArray
        ``[unit]`` or ``[subbasin]``, with ``long_name`` and ``units``.

    Raises
    ------
    InputError
        No such variable, time, layer or way.
    """
    if variable not in data.variables:
        # Says what there is.
        result.series_variable(data, variable)
    values = data[variable]
    if "soil_layer" in values.dims:
        if not 1 <= layer <= values.sizes["soil_layer"]:
            raise InputError(f"{variable} has soil layers 1 to {values.sizes['soil_layer']}, not {layer}")
        values = values.isel(soil_layer=layer - 1)
    if values.dims[-1:] not in (("unit",), ("subbasin",)) or values.dtype.kind not in "iuf":
        raise InputError(f"{variable} has dimensions {data[variable].dims}: a map shows variables of units or "
                         "sub-basins")
    text = values.attrs.get("long_name", variable) + (f", layer {layer}" if "soil_layer" in data[variable].dims else "")
    if "time" in values.dims:
        chosen = select_time(data, values, time)
        adds = "time: sum" in str(values.attrs.get("cell_methods", ""))
        how = how or ("sum" if adds else "mean")
        if how not in _HOW:
            raise InputError(f"how={how!r}: choose {', '.join(_HOW)}")
        with np.errstate(all="ignore"):
            reduced = getattr(chosen.astype(float), how)("time", keep_attrs=True, skipna=False)
        text += _period(chosen, how)
        values = reduced
    elif time is not None:
        raise InputError(f"{variable} does not change with time: leave time out")
    values = values.load().rename(variable)
    values.attrs["long_name"] = text
    return values


def select_time(data: xr.Dataset, values: xr.DataArray, time: str | None) -> xr.DataArray:
    """Steps of a time: all of a year, month or day, or from one to another."""
    if time is None:
        return values
    first, _, last = str(time).partition("/")
    try:
        places = data["time"].to_series().reset_index(drop=True)
        places.index = result.times(data)
        kept = places.loc[first.strip():(last or first).strip()] if len(first.strip()) < 11 or last \
            else places.loc[first.strip():first.strip()]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"time {time!r} cannot be read ({error}): write 2010, 2010-07, 2010-07-31 or "
                         "2010-05-01/2010-09-30") from None
    at = np.flatnonzero(result.times(data).isin(kept.index))
    if not at.size:
        ends = result.times(data)[[0, -1]].strftime("%Y-%m-%d")
        raise InputError(f"no step lies in {time!r}: the result goes from {ends[0]} to {ends[1]}")
    return values.isel(time=at)


def _period(values: xr.DataArray, how: str) -> str:
    first, last = (str(values["time"].values[place])[:16].replace("T00:00", "") for place in (0, -1))
    return f", {first}" if first == last else f", {how} of {first} to {last}"


def draw(data: xr.Dataset, variable: str, time: str | None = None, how: str | None = None, *, layer: int = 1,
         axes: Axes | None = None, **drawing: Any) -> Axes:
    """Draw a variable as a map.

    With outlines in the result, sub-basins are filled with their area-weighted mean. Without, units (or sub-basins)
    are points at their coordinates over the river network; where the basin has no coordinates the network is drawn as
    a tree.

    Parameters
    ----------
    data, variable, time, how, layer
        See :func:`aggregate`.
    axes : matplotlib.axes.Axes, optional
        Where to draw; a new figure when None.
    **drawing
        ``cmap``, ``vmin``, ``vmax`` and what else the collection or the points take.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        See :func:`aggregate`; or matplotlib is absent.
    """
    require_matplotlib()
    values = aggregate(data, variable, time, how, layer)
    if axes is None:
        from matplotlib import pyplot

        _, axes = pyplot.subplots(figsize=(7.0, 6.0), layout="constrained")
    polygons = read_polygons(data)
    drawing.setdefault("cmap", "viridis")
    if polygons is not None:
        shown = _fill(axes, polygons, network.to_subbasins(data, values).values, drawing)
    else:
        shown = _points(axes, data, values, drawing)
    bar = axes.figure.colorbar(shown, ax=axes, shrink=0.8)
    bar.set_label(_wrapped(result.label(values), str(values.attrs.get("units", "1"))))
    return axes


def _wrapped(text: str, unit: str) -> str:
    """The label in lines, its unit in one piece."""
    import textwrap

    whole = unit.replace(" ", "\N{NO-BREAK SPACE}")
    return "\n".join(textwrap.wrap(text.removesuffix(unit) + whole, 56))


def _fill(axes: Axes, polygons: list[tuple[int, list[np.ndarray]]], values: np.ndarray, drawing: dict[str, Any]) -> Any:
    """Fill outlines; a hole is left open because its ring runs the other way."""
    from matplotlib.collections import PathCollection
    from matplotlib.path import Path

    drawing = {"edgecolors": "0.35", "linewidths": 0.4, **drawing}
    limits = {name: drawing.pop(name, None) for name in ("vmin", "vmax")}
    paths = [Path.make_compound_path(*(Path(ring, closed=True) for ring in rings)) for _, rings in polygons if rings]
    there = [bool(rings) for _, rings in polygons]
    shown = PathCollection(paths, array=values[np.array(there)], **drawing)
    shown.set_clim(**limits)
    axes.add_collection(shown)
    axes.autoscale_view()
    _degrees(axes)
    return shown


def _points(axes: Axes, data: xr.Dataset, values: xr.DataArray, drawing: dict[str, Any]) -> Any:
    from matplotlib.collections import LineCollection

    place = str(values.dims[-1])
    nodes = _coordinates(data, "subbasin")
    points = _coordinates(data, place) if nodes is not None or place == "unit" else None
    below = result.downstream(data)
    if points is None:
        values = network.to_subbasins(data, values)
        nodes = points = tree(below)
        axes.set(xticks=[], ylabel="reaches to the outlet", title="river network, drawn as a tree")
    else:
        _degrees(axes)
    if nodes is not None:
        inside = np.flatnonzero(below >= 0)
        axes.add_collection(LineCollection(np.stack([nodes[inside], nodes[below[inside]]], axis=1).tolist(),
                                           colors="0.6", linewidths=0.6, zorder=0))
    drawing = {"s": float(np.clip(9000.0 / max(1, len(points)), 4.0, 60.0)), "linewidths": 0.0, **drawing}
    return axes.scatter(points[:, 0], points[:, 1], c=values.values, **drawing)


def _coordinates(data: xr.Dataset, place: str) -> np.ndarray | None:
    """Longitude and latitude of units or sub-basins, ``[place, 2]``; None where the file lacks either."""
    names = [f"{place}_longitude", f"{place}_latitude"]
    if not all(name in data.variables for name in names):
        return None
    return np.stack([data[name].values for name in names], axis=1)


def _degrees(axes: Axes) -> None:
    low, high = axes.get_ylim()
    middle = 0.5 * (low + high)
    axes.set(xlabel="longitude, degrees east", ylabel="latitude, degrees north")
    axes.ticklabel_format(useOffset=False)
    axes.set_aspect(1.0 / max(0.1, np.cos(np.radians(np.clip(middle, -89.0, 89.0)))), adjustable="datalim")


def tree(below: np.ndarray) -> np.ndarray:
    """Places ``[subbasin, 2]`` of a tree drawing of the network: breadth, and reaches to the outlet.

    Headwaters stand side by side; what they join stands in their middle.

    Parameters
    ----------
    below : ndarray of int
        Position of the sub-basin below each one, -1 at an outlet.
    """
    sequence = network.order(below)
    depth = np.zeros(below.size)
    children: dict[int, list[int]] = {}
    for at in sequence[::-1]:
        if below[at] >= 0:
            depth[at] = depth[below[at]] + 1.0
        children.setdefault(int(below[at]), []).append(int(at))
    across = np.zeros(below.size)
    column = 0.0
    waiting = [(outlet, False) for outlet in sorted(children.get(-1, []))[::-1]]
    while waiting:
        at, done = waiting.pop()
        above = sorted(children.get(at, []))
        if not above:
            across[at] = column
            column += 1.0
        elif done:
            across[at] = float(np.mean([across[child] for child in above]))
        else:
            waiting.append((at, True))
            waiting += [(child, False) for child in above[::-1]]
    return np.stack([across, depth], axis=1)
