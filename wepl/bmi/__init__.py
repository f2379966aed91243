"""The Basic Model Interface (BMI 2.0, Hutton et al. 2020): the model as a component that others step and couple."""

from wepl.bmi.component import WeplBmi

__all__ = ["WeplBmi"]
