"""Synthetic basins conditioned on published facts of the Poyang Lake basin, at any number of units."""

from wepl.basin.synthetic.build import SyntheticBasin, build
from wepl.basin.synthetic.write import synthesize

__all__ = ["SyntheticBasin", "build", "synthesize"]
