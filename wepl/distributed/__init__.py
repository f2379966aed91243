"""Runs, ensembles and calibrations on many processes or machines, with Dask.distributed (docs/scaling.md).

Everything but :func:`connect` is called by the parts of the model that take a ``cluster``.
"""

from wepl.distributed.cluster import Cluster, connect

__all__ = ["Cluster", "connect"]
