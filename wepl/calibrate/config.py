"""The TOML file of a calibration, checked: unknown keys are refused, and every fault is named by its dotted path."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from wepl import registry
from wepl.build.config import File, Moment, NotNegative, Number, Positive, Value
from wepl.build.config_faults import fault_lines
from wepl.calibrate.objective import MEASURES
from wepl.errors import InputError
from wepl.toml_file import read_toml

Aggregation = Literal["step", "daily", "monthly"]
Names = Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1)]


def _fault(text: str) -> PydanticCustomError:
    # Braces are a template of pydantic's own; the type is what ``fault_lines`` knows.
    return PydanticCustomError("build", "{text}", {"text": text})


class _Table(BaseModel):
    """A table of the TOML file: types as given, no unknown key."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Observed(_Table):
    """Observed discharge of one gauge, or of several gauges in the columns of one table."""

    gauge: Annotated[str, Field(min_length=1)] | Names
    file: File
    column: str | None = None
    time: str | Names | None = None
    time_format: str | None = None
    stamp: Literal["start", "end"] = "start"
    utc_offset_hours: Annotated[float, Field(ge=-26.0, le=26.0)] = 0.0
    units: str | None = None
    missing: list[Number] = []
    weight: Positive = 1.0
    use: Literal["both", "validation"] = "both"

    @property
    def gauges(self) -> list[str]:
        """Names of the gauges."""
        return [self.gauge] if isinstance(self.gauge, str) else list(self.gauge)

    @model_validator(mode="after")
    def _one_column(self) -> Observed:
        if self.column is not None and len(self.gauges) > 1:
            raise _fault("column belongs to one gauge: the columns of several have the gauges' names")
        return self


class Period(_Table):
    """First and last day of calibration and validation, and the days before them that fill the stores."""

    calibration: Annotated[list[Moment], Field(min_length=2, max_length=2)]
    validation: Annotated[list[Moment], Field(min_length=2, max_length=2)] | None = None
    warm_up_days: NotNegative | None = None
    spin_up_years: Annotated[int, Field(ge=0, le=100)] = 0

    @model_validator(mode="after")
    def _order(self) -> Period:
        for name in ("calibration", "validation"):
            given = getattr(self, name)
            if given is not None and given[1] < given[0]:
                raise _fault(f"{name}: {given[1]} lies before {given[0]}")
        return self


class Range(_Table):
    """Where a parameter is sought."""

    low: Number
    high: Number
    scale: Literal["linear", "log"] = "linear"
    start: Number | None = None

    @model_validator(mode="after")
    def _order(self) -> Range:
        if not self.low < self.high:
            raise _fault(f"low {self.low:g} is not below high {self.high:g}")
        if self.scale == "log" and self.low <= 0.0:
            raise _fault(f"low {self.low:g} has no logarithm: give one above 0, or scale = \"linear\"")
        if self.start is not None and not self.low <= self.start <= self.high:
            raise _fault(f"start {self.start:g} lies outside {self.low:g} to {self.high:g}")
        return self


class Objective(_Table):
    """What is to be as large as can be: a weighted mean of measures, and of gauges."""

    measures: dict[str, Positive] = {"kge": 1.0}
    aggregation: Aggregation = "daily"
    gauges: Literal["mean", "worst"] = "mean"
    peaks: Annotated[int, Field(ge=1)] = 10
    peak_days: Positive = 3.0

    @model_validator(mode="after")
    def _known(self) -> Objective:
        unknown = [name for name in self.measures if name not in MEASURES]
        if unknown or not self.measures:
            raise _fault(f"measures: unknown {', '.join(unknown) or 'none given'}: choose from {', '.join(MEASURES)}")
        return self


class Algorithm(_Table):
    """The search and its budget."""

    name: Literal["cmaes", "de", "nsga2", "lhs", "sobol_sensitivity"] = "cmaes"
    evaluations: Annotated[int, Field(ge=1)] = 500
    minutes: Positive | None = None
    population: Annotated[int, Field(ge=1)] | None = None
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    asynchronous: bool = False


class Machine(_Table):
    """Where and how the model is computed."""

    backend: str = "auto"
    precision: str = "float64"
    threads: Annotated[int, Field(ge=1)] | None = None


class Config(_Table):
    """All of the TOML file."""

    title: str = ""
    basin: File
    observed: Annotated[list[Observed], Field(min_length=1)]
    period: Period
    parameters: Annotated[dict[str, Range], Field(min_length=1)]
    options: dict[str, Value] = {}
    objective: Objective = Objective()
    algorithm: Algorithm = Algorithm()
    machine: Machine = Machine()

    @model_validator(mode="after")
    def _names(self) -> Config:
        names = [name for record in self.observed for name in record.gauges]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise _fault(f"observed: the gauge {', '.join(twice)} stands twice")
        if all(record.use == "validation" for record in self.observed):
            raise _fault('observed: every gauge has use = "validation": give one to calibrate to')
        both = sorted(set(self.parameters) & set(self.options))
        if both:
            raise _fault(f"options: {', '.join(both)} stands under parameters too")
        if self.algorithm.name == "nsga2" and len(self.objective.measures) < 2:
            raise _fault("objective.measures: nsga2 needs two measures at least; cmaes and de take one")
        return self


def _registry_faults(given: dict[str, Any]) -> list[str]:
    """Lines about parameters and options that the registry does not know, or that have no range to search."""
    known = {entry.name: entry for entry in registry.of_kind("option")}
    lines = []
    for table in ("parameters", "options"):
        content = given.get(table)
        for name in content if isinstance(content, dict) else ():
            entry = known.get(name.partition("@")[0])
            if entry is None:
                lines.append(f"{table}.{name}: not an option or multiplier of the registry; docs/registry.md lists "
                             "them; a parameter zone is named as NAME@ZONE, in quotes")
            elif table == "parameters" and (entry.choices or entry.integer):
                lines.append(f"parameters.{name}: a switch has no range to search: set it under [options]")
    return lines


def read(path: str | Path) -> tuple[Config, str]:
    """Read and check a TOML file.

    Parameters
    ----------
    path : path
        The TOML file; files are named relative to it.

    Returns
    -------
    config : Config
    text : str
        The file as it stands.

    Raises
    ------
    InputError
        There is no such file, it is no TOML, or what it says cannot be used; all faults are listed.
    """
    place = Path(path)
    text, given = read_toml(place, "docs/calibration.md")
    problems = _registry_faults(given)
    try:
        config = Config.model_validate(given, context={"folder": place.parent})
    except ValidationError as error:
        problems = [*fault_lines(error, Config), *problems]
    if problems:
        raise InputError("\n".join([f"{place} cannot be used:", *(f"  {line}" for line in problems)]))
    return config, text
