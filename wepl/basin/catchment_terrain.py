"""Relief of one catchment: hypsometric curve, contour bands, slopes from a digital elevation model, reach geometry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wepl.errors import InputError

MAX_BANDS = 10
_CURVE_POINTS = 201
# Hack (1957) gives L = 1.4 A^0.6 in miles and square miles; for km and km2 it is 1.4 * 1.609344 / 2.589988^0.6.
_HACK_COEFFICIENT, _HACK_EXPONENT = 1.273, 0.6
# Bankfull width over the conterminous USA, m and km2: Bieger et al. 2015, J. Am. Water Resour. Assoc. 51(3).
_WIDTH_COEFFICIENT, _WIDTH_EXPONENT = 2.70, 0.352
_MINIMUM_REACH_SLOPE = 1e-4


@dataclass(frozen=True)
class Hypsometry:
    """Area-elevation curve.

    Attributes
    ----------
    elevation : ndarray
        Elevations, m, not falling.
    share_below : ndarray
        Share of the area at or below each elevation, from 0 to 1.
    slope : ndarray or None
        Mean slope (tangent) of the ground at each elevation; None when unknown.
    area : float or None
        Area that the curve was drawn from, km2; None when unknown.
    """

    elevation: np.ndarray
    share_below: np.ndarray
    slope: np.ndarray | None = None
    area: float | None = None

    @property
    def mean(self) -> float:
        """Mean elevation, m."""
        return float(_mean_between(self, 0.0, 1.0))


@dataclass(frozen=True)
class Bands:
    """Contour bands of equal area from the ridge (first) to the river (last): arrays over bands.

    Attributes
    ----------
    share : ndarray
        Share of the catchment's area.
    elevation, lowest, highest : ndarray
        Mean, lower and upper elevation, m.
    slope : ndarray or None
        Mean slope (tangent); None when the curve has none.
    """

    share: np.ndarray
    elevation: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray
    slope: np.ndarray | None


def hypsometry(elevation: Sequence[float], share_below: Sequence[float]) -> Hypsometry:
    """Area-elevation curve from its points.

    Parameters
    ----------
    elevation : sequence of float
        Elevations, m, strictly rising.
    share_below : sequence of float
        Share of the area below each elevation; starts at 0, ends at 1, does not fall.

    Raises
    ------
    InputError
        The points are not a rising curve from 0 to 1.
    """
    z, share = np.asarray(elevation, dtype=float), np.asarray(share_below, dtype=float)
    if z.ndim != 1 or z.shape != share.shape or z.size < 2:
        raise InputError(f"hypsometry: elevation {z.shape} and share {share.shape} must be two lists of one length, "
                         "at least 2")
    if not (np.isfinite(z).all() and np.isfinite(share).all()):
        raise InputError("hypsometry: an elevation or share is not a finite number")
    if (np.diff(z) <= 0.0).any():
        at = int(np.argmax(np.diff(z) <= 0.0))
        raise InputError(f"hypsometry: elevation does not rise from point {at} ({z[at]:g} m) to point {at + 1} "
                         f"({z[at + 1]:g} m): sort the points and drop doubles")
    if (np.diff(share) < 0.0).any():
        at = int(np.argmax(np.diff(share) < 0.0))
        raise InputError(f"hypsometry: the share below falls from {share[at]:g} at {z[at]:g} m to {share[at + 1]:g} at "
                         f"{z[at + 1]:g} m: give the share of the area that lies below each elevation")
    if abs(share[0]) > 1e-6 or abs(share[-1] - 1.0) > 1e-6:
        raise InputError(f"hypsometry: the shares run from {share[0]:g} to {share[-1]:g}, not from 0 to 1: begin at "
                         "the lowest and end at the highest point of the catchment")
    return Hypsometry(z, share)


def hypsometry_from_cells(elevation: np.ndarray, slope: np.ndarray | None = None,
                          weight: np.ndarray | None = None, area: float | None = None) -> Hypsometry:
    """Area-elevation curve of cells or triangles.

    Parameters
    ----------
    elevation, slope, weight : ndarray, shape (cell,)
        Elevation in m, slope (tangent) and area (any unit; equal when None) of each.
    area : float, optional
        Total area, km2.
    """
    weight = np.ones(elevation.size) if weight is None else np.asarray(weight, dtype=float)
    order = np.argsort(elevation, kind="stable")
    z, weight = np.asarray(elevation, dtype=float)[order], weight[order]
    below = np.cumsum(weight) / weight.sum()
    share = np.linspace(0.0, 1.0, _CURVE_POINTS)
    middle = below - 0.5 * weight / weight.sum()
    curve = np.interp(share, middle, z)
    curve[0], curve[-1] = z[0], z[-1]
    of_curve = None if slope is None else _slope_curve(np.asarray(slope, dtype=float)[order], weight, below, share)
    return Hypsometry(curve, share, of_curve, area)


def _slope_curve(slope: np.ndarray, weight: np.ndarray, below: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Mean slope of the area around each point of the curve."""
    edges = np.concatenate([[0.0], 0.5 * (share[1:] + share[:-1]), [1.0]])
    place = np.clip(np.searchsorted(edges, below - 0.5 * weight / weight.sum(), side="right") - 1, 0, share.size - 1)
    total = np.bincount(place, weights=weight, minlength=share.size)
    mean = np.bincount(place, weights=weight * slope, minlength=share.size) / np.where(total > 0.0, total, 1.0)
    return np.interp(share, share[total > 0.0], mean[total > 0.0])


def hypsometry_from_dem(dem: str | Path, outline: str | Path) -> Hypsometry:
    """Area-elevation curve and slopes of the part of an elevation model inside an outline.

    Parameters
    ----------
    dem : path
        Elevation raster in m that rasterio reads, in projected or geographic coordinates.
    outline : path
        Polygons that fiona reads; carried to the raster's coordinate system where theirs is another.

    Raises
    ------
    InputError
        A file cannot be found, or no elevation lies inside the outline.
    """
    import rasterio
    from rasterio.features import geometry_mask

    for path in (dem, outline):
        if not Path(path).exists():
            raise InputError(f"{path}: no such file: give the elevation raster and the outline of the catchment")
    with rasterio.open(dem) as source:
        elevation = source.read(1, masked=True).astype(float).filled(np.nan)
        shapes = _outline_shapes(outline, source.crs)
        inside = geometry_mask(shapes, elevation.shape, source.transform, invert=True)
        east, north = _cell_size(source, elevation.shape)
    inside &= np.isfinite(elevation)
    if not inside.any():
        raise InputError(f"{dem}: no elevation lies inside {outline}: check that both cover the same place")
    slope = _slope(elevation, east, north)
    here = slope[inside]
    here = np.where(np.isfinite(here), here, np.nanmean(here))
    weight = np.broadcast_to(east[:, None] * north, elevation.shape)[inside]
    return hypsometry_from_cells(elevation[inside], here, weight, float(weight.sum()) / 1e6)


def _outline_shapes(outline: str | Path, crs) -> list[dict]:
    import fiona
    from rasterio.crs import CRS
    from rasterio.warp import transform_geom

    with fiona.open(outline) as source:
        shapes = [feature.geometry.__geo_interface__ for feature in source if feature.geometry is not None]
        own = CRS.from_wkt(source.crs_wkt) if source.crs_wkt else None
    if not shapes:
        raise InputError(f"{outline}: it holds no polygon")
    if own is not None and crs is not None and own != crs:
        shapes = [transform_geom(own, crs, shape) for shape in shapes]
    return shapes


def _cell_size(source, shape: tuple[int, int]) -> tuple[np.ndarray, float]:
    """East-west size (m) of the cells of each row, and north-south size (m)."""
    dx, dy = abs(source.transform.a), abs(source.transform.e)
    if source.crs is None or not source.crs.is_geographic:
        return np.full(shape[0], dx), dy
    latitude = source.transform.f + source.transform.e * (np.arange(shape[0]) + 0.5)
    metres = 111_195.0  # of a degree on a sphere of 6371 km
    return dx * metres * np.cos(np.radians(latitude)), dy * metres


def _slope(elevation: np.ndarray, east: np.ndarray, north: float) -> np.ndarray:
    """Slope (tangent) by central differences, NaN beside missing cells."""
    if min(elevation.shape) < 2:
        raise InputError(f"the elevation raster of {elevation.shape[0]} x {elevation.shape[1]} cells is too small for "
                         "slopes")
    down, across = np.gradient(elevation)
    return np.hypot(down / north, across / east[:, None])


def cut_bands(curve: Hypsometry, n_bands: int) -> Bands:
    """Contour bands of equal area, from the ridge to the river.

    Parameters
    ----------
    curve : Hypsometry
        Area-elevation curve.
    n_bands : int
        1 to 10.

    Raises
    ------
    InputError
        The number of bands is out of its range.
    """
    if not (isinstance(n_bands, (int, np.integer)) and 1 <= n_bands <= MAX_BANDS):
        raise InputError(f"bands = {n_bands!r}: give a whole number from 1 to {MAX_BANDS}")
    edges = np.linspace(1.0, 0.0, n_bands + 1)
    heights = np.interp(edges, curve.share_below, curve.elevation)
    heights[0], heights[-1] = curve.elevation[-1], curve.elevation[0]
    mean = np.array([_mean_between(curve, low, high) for high, low in zip(edges, edges[1:], strict=False)])
    slope = None
    if curve.slope is not None:
        fine = np.linspace(0.0, 1.0, 100 * n_bands + 1)
        middle = 0.5 * (fine[1:] + fine[:-1])
        slope = np.interp(middle, curve.share_below, curve.slope).reshape(n_bands, 100).mean(axis=1)[::-1]
    return Bands(np.full(n_bands, 1.0 / n_bands), mean, heights[1:], heights[:-1], slope)


def _mean_between(curve: Hypsometry, low: float, high: float) -> float:
    """Mean elevation of the area between two shares of the curve (exact for straight pieces)."""
    share, height = curve.share_below, curve.elevation
    begin, end = np.clip(share[:-1], low, high), np.clip(share[1:], low, high)
    inside = end > begin
    width = np.where(inside, np.diff(share), 1.0)
    place = np.where(inside, 0.5 * (begin + end) - share[:-1], 0.0) / width
    middle = height[:-1] + np.diff(height) * place
    return float(np.sum(middle * (end - begin)) / (high - low))


def reach_geometry(area: float, curve: Hypsometry, length: float | None = None, slope: float | None = None,
                   width: float | None = None) -> tuple[float, float, float]:
    """Length (m), slope (tangent) and width (m) of the main channel; what is None is estimated.

    Parameters
    ----------
    area : float
        Catchment area, km2.
    curve : Hypsometry
        Area-elevation curve: the channel is taken to fall from the median elevation to the lowest point.
    length, slope, width : float, optional
        m, tangent, m.

    Notes
    -----
    Length 1.27 A^0.6 km (Hack 1957, converted from miles); width 2.70 A^0.352 m (bankfull, Bieger et al. 2015).
    """
    if length is None:
        length = 1000.0 * _HACK_COEFFICIENT * area**_HACK_EXPONENT
    if slope is None:
        median = float(np.interp(0.5, curve.share_below, curve.elevation))
        slope = max(_MINIMUM_REACH_SLOPE, (median - curve.elevation[0]) / length)
    if width is None:
        width = _WIDTH_COEFFICIENT * area**_WIDTH_EXPONENT
    for name, value in (("reach_length", length), ("reach_slope", slope), ("reach_width", width)):
        if not value > 0.0:
            raise InputError(f"{name} = {value!r} must be above 0")
    return float(length), float(slope), float(width)


def soil_depth(slope: np.ndarray, elevation: np.ndarray) -> np.ndarray:
    """Depth of the soil, m, where nothing is known of it: thin on steep and high ground.

    The relation and the weights of the soil-depth script that comes with DHSVM (Wigmosta et al. 1994; Westrick 1999):
    between 0.76 and 2.01 m, seven parts by slope (up to 30 degrees, power 1/4) and three by elevation (up to 1500 m,
    power 3/4).

    Parameters
    ----------
    slope : ndarray
        Tangent of the mean slope.
    elevation : ndarray
        m.
    """
    steep = np.minimum(1.0, np.degrees(np.arctan(slope)) / 30.0) ** 0.25
    high = np.clip(elevation / 1500.0, 0.0, 1.0) ** 0.75
    return 0.76 + (2.01 - 0.76) * (0.7 * (1.0 - steep) + 0.3 * (1.0 - high))
