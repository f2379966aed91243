"""Maps and curves of a built basin as PNG, each drawn without a window and without a trace of when."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import ListedColormap, LogNorm
from matplotlib.figure import Figure

from wepl import registry

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from wepl.basin.dataset import Basin
    from wepl.build.report import Summary
    from wepl.build.types import Terrain

# A picture has about so many pixels a side; larger maps are thinned.
_LARGEST_SIDE = 900
# The land part of the colours of terrain: low ground is green, blue is for rivers.
_LAND = ListedColormap(matplotlib.colormaps["terrain"](np.linspace(0.27, 1.0, 256)))
_FORCING_TITLES = {"precipitation": "precipitation, mm a-1"}


class _Map:
    """The thinned grid of a terrain, and how values of units are spread over it."""

    def __init__(self, terrain: Terrain) -> None:
        stride = max(1, -(-max(terrain.unit_map.shape) // _LARGEST_SIDE))
        self.units = terrain.unit_map[::stride, ::stride]
        self.subbasins = terrain.subbasin_map[::stride, ::stride]
        self.elevation = terrain.elevation[::stride, ::stride]
        a, _, left, _, e, top = tuple(terrain.transform)[:6]
        rows, columns = self.units.shape
        # km, so that the axes can be read
        self.extent = tuple(0.001 * edge for edge in (left, left + a * stride * columns, top + e * stride * rows, top))
        self._ids = terrain.units.index.to_numpy()
        self._order = np.argsort(self._ids, kind="stable")

    def of_units(self, values: np.ndarray) -> np.ndarray:
        """Values of units as a map, NaN outside."""
        image = np.full(self.units.shape, np.nan)
        inside = self.units > 0
        place = self._order[np.searchsorted(self._ids, self.units[inside], sorter=self._order)]
        image[inside] = np.asarray(values, dtype=float)[place]
        return image

    def show(self, axes: Axes, image: np.ndarray, title: str, **more: Any) -> None:
        """Draw a map with its scale and the borders of the sub-basins."""
        drawn = axes.imshow(image, extent=self.extent, interpolation="nearest", **more)
        axes.figure.colorbar(drawn, ax=axes, shrink=0.8)
        axes.set_title(title, fontsize=10)
        axes.tick_params(labelsize=7)

    def borders(self, axes: Axes) -> None:
        """Lines between sub-basins, along the edges of cells."""
        left, right, bottom, top = self.extent
        rows, columns = self.subbasins.shape
        x, y = np.linspace(left, right, columns + 1), np.linspace(top, bottom, rows + 1)
        row, column = np.nonzero(np.diff(self.subbasins, axis=1, prepend=0, append=0))
        upright = np.stack([np.stack([x[column], y[row]], axis=1), np.stack([x[column], y[row + 1]], axis=1)], axis=1)
        row, column = np.nonzero(np.diff(self.subbasins, axis=0, prepend=0, append=0))
        level = np.stack([np.stack([x[column], y[row]], axis=1), np.stack([x[column + 1], y[row]], axis=1)], axis=1)
        axes.add_collection(LineCollection(np.concatenate([upright, level]).tolist(), colors="black", linewidths=0.6))


def pictures(summary: Summary, terrain: Terrain, basin: Basin) -> Iterator[tuple[str, str]]:
    """Heading and base64 PNG of each picture, in the order of the page."""
    grid = _Map(terrain)
    yield "Elevation, sub-basins, rivers and gauges", _png(_relief(grid, terrain))
    yield "Contour bands", _png(_bands(grid, basin))
    yield "Land", _png(_land(grid, basin))
    yield "Soil", _png(_soil(grid, basin))
    yield "Hypsometry and area of gauges", _png(_curves(summary, terrain, basin))
    yield "Mean forcing", _png(_forcing(grid, summary))


def _png(figure: Figure) -> str:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=100, metadata={"Software": None})
    return base64.b64encode(buffer.getvalue()).decode("ascii")


def _panels(count: int, columns: int = 3, size: float = 4.0) -> tuple[Figure, list[Axes]]:
    columns = min(columns, count)
    rows = -(-count // columns)
    figure = Figure(figsize=(size * columns, 0.9 * size * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for unused in axes[count:]:
        unused.set_visible(False)
    return figure, list(axes[:count])


def _relief(grid: _Map, terrain: Terrain) -> Figure:
    figure, (axes,) = _panels(1, size=9.0)
    height = grid.elevation
    if not np.isfinite(height).any():
        height = grid.of_units(terrain.units["elevation_m"].to_numpy())
    grid.show(axes, height, "elevation, m; axes in km", cmap=_LAND)
    grid.borders(axes)
    widest = float(terrain.subbasins["upstream_km2"].max())
    for identifier, line in terrain.rivers:
        share = float(terrain.subbasins.loc[identifier, "upstream_km2"]) / widest
        axes.plot(0.001 * line[:, 0], 0.001 * line[:, 1], color="tab:blue", linewidth=0.6 + 2.0 * share**0.5)
    ends = {identifier: line[-1] for identifier, line in terrain.rivers if len(line)}
    for _, gauge in terrain.gauges.iterrows():
        if gauge["subbasin"] in ends:
            x, y = 0.001 * ends[gauge["subbasin"]]
            axes.plot(x, y, marker="v", color="red", markersize=8)
            axes.annotate(str(gauge["name"]), (x, y), xytext=(4, 4), textcoords="offset points", fontsize=8)
    return figure


def _bands(grid: _Map, basin: Basin) -> Figure:
    figure, axes = _panels(4, columns=2, size=5.0)
    values = basin.parameters
    for place, (name, title, scale) in enumerate((
            ("unit_order", "place in the cascade, 1 at the ridge", 1.0), ("unit_elevation", "elevation, m", 1.0),
            ("unit_slope", "slope", 1.0), ("unit_flow_length", "overland flow length, m", 1.0))):
        grid.show(axes[place], grid.of_units(scale * values[name].values), title)
    return figure


def _land(grid: _Map, basin: Basin) -> Figure:
    values = basin.parameters
    shares = values["land_fraction"].values
    panels = [(name.replace("_", " "), shares[:, place]) for place, name in enumerate(registry.LAND_CLASSES)]
    soil = shares[:, registry.LAND_CLASSES.index("soil_vegetation")]
    panels += [("tall vegetation", soil * values["tall_fraction"].values),
               ("short vegetation", soil * values["short_fraction"].values)]
    figure, axes = _panels(len(panels), columns=4, size=3.6)
    for place, (title, share) in enumerate(panels):
        grid.show(axes[place], grid.of_units(share), f"{title}, share", vmin=0.0, vmax=1.0, cmap="YlGn")
    return figure


def _soil(grid: _Map, basin: Basin) -> Figure:
    values = basin.parameters
    depth = values["soil_thickness"].values
    conductivity = values["saturated_conductivity"].values * 3.6e6
    figure, axes = _panels(4, columns=2, size=5.0)
    grid.show(axes[0], grid.of_units(depth.sum(axis=1)), "soil depth, m", cmap="YlOrBr")
    for place, (layer, title) in enumerate(((0, "top"), (-1, "lowest")), start=1):
        image = grid.of_units(conductivity[:, layer])
        grid.show(axes[place], image, f"conductivity of the {title} layer, mm h-1", cmap="viridis",
                  norm=LogNorm(0.9 * np.nanmin(image), 1.1 * np.nanmax(image)))
    water = ((values["field_capacity"] - values["wilting_point"]).values * depth).sum(axis=1) * 1e3
    grid.show(axes[3], grid.of_units(water), "field capacity less wilting point, mm", cmap="YlGnBu")
    return figure


def _curves(summary: Summary, terrain: Terrain, basin: Basin) -> Figure:
    figure, (left, right) = _panels(2, columns=2, size=5.0)
    height = terrain.elevation[terrain.unit_map > 0]
    height = np.sort(height[np.isfinite(height)])
    if height.size:
        share = np.linspace(0.0, 1.0, 201)
        left.plot(100.0 * share, np.quantile(height, share), label="cells")
    values = basin.parameters
    order = np.argsort(values["unit_elevation"].values, kind="stable")
    below = np.concatenate([[0.0], np.cumsum(values["unit_area"].values[order])])
    left.stairs(values["unit_elevation"].values[order], 100.0 * below / below[-1], baseline=None, label="units",
                color="tab:orange")
    left.set(xlabel="area below, %", ylabel="elevation, m", title="hypsometry")
    left.legend()
    gauges = summary.gauges
    errors = (100.0 * (gauges["found_km2"] / gauges["given_km2"] - 1.0)).to_numpy(dtype=float)
    known = np.isfinite(errors)
    right.set(title="area found against area given, %")
    if known.any():
        right.barh([str(name) for name in gauges["name"][known]], errors[known], height=0.5, color="tab:red")
        right.axvline(0.0, color="black", linewidth=0.8)
    else:
        right.text(0.5, 0.5, "no gauge with an area", ha="center", transform=right.transAxes)
    return figure


def _forcing(grid: _Map, summary: Summary) -> Figure:
    figure, axes = _panels(len(summary.forcing))
    for place, (name, of_cell) in enumerate(summary.forcing.items()):
        title = _FORCING_TITLES.get(name, f"{name.replace('_', ' ')}, {registry.variable(name).file_units}")
        grid.show(axes[place], grid.of_units(of_cell[summary.unit_cell]), title, cmap="viridis")
    return figure
