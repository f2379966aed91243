"""A whole synthetic basin in memory, but for its weather."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wepl.basin.synthetic import facts
from wepl.basin.synthetic.cover import PADDY, Cover, build_cover
from wepl.basin.synthetic.network import Network, build_network
from wepl.basin.synthetic.soil import layered_parameters, soil_kinds
from wepl.basin.synthetic.stations import Stations, build_stations
from wepl.basin.synthetic.terrain import Bands, Orography, build_bands

_UNITS_PER_SUBBASIN = 4.2
_FEWEST_SUBBASINS = 3
_YIELD_HILLS, _YIELD_PLAIN = 0.05, 0.15
_WINTER_BASEFLOW = 1.0e-3 / 86400.0  # m s-1, sets the groundwater head on 1 January
_RIVERBED_CONDUCTANCE = 1.0e-6  # s-1, default conductivity over default thickness of the river bed
_HEAD_RANGE = (1.0, 3.0)  # m


@dataclass
class SyntheticBasin:
    """Parts of a synthetic basin: network, contour bands, land cover, soil and stations."""

    network: Network
    bands: Bands
    cover: Cover
    soil: np.ndarray
    layers: dict[str, np.ndarray]
    stations: Stations

    def variables(self) -> dict[str, np.ndarray]:
        """Topology and parameters by their registry names, in the registry's internal units."""
        network, bands, cover, stations = self.network, self.bands, self.cover, self.stations
        below = network.below
        subbasin_area = network.area * 1e6
        low = np.bincount(bands.subbasin, weights=bands.area * (bands.elevation < facts.HILL_ELEVATION),
                          minlength=below.size) / network.area
        head = _WINTER_BASEFLOW * subbasin_area / (_RIVERBED_CONDUCTANCE * network.length * network.width)
        return {
            "subbasin": np.arange(1, below.size + 1),
            "downstream": np.where(below >= 0, below + 1, -1),
            "subbasin_longitude": network.longitude,
            "subbasin_latitude": network.latitude,
            "unit": np.arange(1, bands.area.size + 1),
            "unit_subbasin": bands.subbasin + 1,
            "unit_order": bands.order,
            "unit_cell": stations.unit_station + 1,
            "cell": np.arange(1, stations.longitude.size + 1),
            "gauge": np.arange(1, network.gauge.size + 1),
            "gauge_subbasin": network.gauge + 1,
            "cell_elevation": stations.elevation,
            "reach_length": network.length,
            "reach_slope": network.slope,
            "reach_width": network.width,
            "specific_yield": _YIELD_HILLS + (_YIELD_PLAIN - _YIELD_HILLS) * low,
            "initial_groundwater_head": np.clip(head, *_HEAD_RANGE),
            "unit_area": bands.area * 1e6,
            "unit_elevation": bands.elevation,
            "unit_slope": bands.slope,
            "unit_flow_length": bands.flow_length,
            "unit_latitude": bands.latitude,
            "unit_longitude": bands.longitude,
            "land_fraction": cover.fraction,
            "tall_fraction": _share(cover.forest, cover.of("soil_vegetation")),
            "short_fraction": _share(cover.open_land, cover.of("soil_vegetation")),
            "tall_vegetation": cover.tall,
            "short_vegetation": cover.short,
            "irrigated_vegetation": np.full(bands.area.size, PADDY),
            "non_irrigated_vegetation": cover.non_irrigated,
            **self.layers,
        }

    def gauge_names(self) -> list[str]:
        """River and place of each gauge."""
        return ["Lake outlet at Hukou" if region is facts.LAKE_PLAIN else f"{region.river} at {region.gauge}"
                for region in self.network.regions]


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.clip(part / np.maximum(whole, 1e-12), 0.0, 1.0)


def build(units: int, random: np.random.Generator) -> SyntheticBasin:
    """A synthetic basin of ``units`` contour bands; about 4.2 of them to a sub-basin."""
    n = max(_FEWEST_SUBBASINS, round(units / _UNITS_PER_SUBBASIN))
    orography = Orography(random)
    network = build_network(n, orography, random)
    bands = build_bands(network, units, orography, random)
    cover = build_cover(bands, random)
    soil = soil_kinds(bands, cover, random)
    layers = layered_parameters(soil, bands.slope, random)
    return SyntheticBasin(network, bands, cover, soil, layers, build_stations(bands, random))
