"""Calibration: search for parameters with which the model follows observed discharge, and what can be said of them.

Simulation (:mod:`.simulate`), scoring (:mod:`.objective`) and search (:mod:`.search`) know nothing of each other;
:mod:`.driver` joins them and keeps the log.
"""

from wepl.calibrate.driver import calibrate

__all__ = ["calibrate"]
