"""Metrics of fit: the worked series of eight values."""

from __future__ import annotations

import numpy as np

from wepl.analysis import metrics
from wepl.validation.comparison import Case, Group, absolute

PROCESS = "Metrics"
OBSERVED = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 4.0, 3.0, 2.0])
SIMULATED = np.array([1.2, 1.8, 3.3, 3.9, 4.5, 4.2, 2.7, 2.2])
MEASURES = {
    "NSE": metrics.nash_sutcliffe,
    "KGE 2009": lambda s, o: metrics.kling_gupta(s, o).efficiency,
    "KGE 2012": lambda s, o: metrics.kling_gupta(s, o, "2012").efficiency,
    "percent bias": metrics.percent_bias,
    "RMSE": metrics.root_mean_square_error,
    "NSE of logarithms": metrics.log_nash_sutcliffe,
}


def measure(name: str) -> float:
    """A measure of the worked series."""
    return MEASURES[name](SIMULATED, OBSERVED)


GROUPS = (
    Group(PROCESS, "1", "HydroErr 2.0", absolute(1e-10), measure, (
        Case("Nash-Sutcliffe efficiency", ("NSE",), 0.95),
        Case("Kling-Gupta efficiency, 2009", ("KGE 2009",), 0.9092861568958492),
        Case("Kling-Gupta efficiency, 2012", ("KGE 2012",), 0.9166460203148891),
        Case("root mean square error", ("RMSE",), 0.27386128, absolute(5.1e-9)),
        Case("Nash-Sutcliffe efficiency of logarithms", ("NSE of logarithms",), 0.95327074, absolute(5.1e-9),
             "formula evaluated elsewhere"))),
    Group(PROCESS, "%", "formula evaluated elsewhere", absolute(5.1e-8), measure, (
        Case("percent bias", ("percent bias",), -0.8333333),)),
)
