"""What `wepl run --members` takes beside the options of a run, and how it starts the ensemble."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wepl.cli.arguments import listed
from wepl.errors import InputError

if TYPE_CHECKING:
    from wepl.distributed import Cluster

Members = Annotated[str | None, typer.Option(
    "--members", metavar="N|FILE.csv", show_default=False,
    help="Run an ensemble: so many members, or one for each row of a table of options.")]
Sample = Annotated[str | None, typer.Option(
    "--sample", metavar="lhs|sobol|random", show_default=False, help="How N members draw their parameters.")]
Ranges = Annotated[Path | None, typer.Option(
    "--ranges", metavar="FILE.toml|csv", show_default=False,
    help="Ranges to draw in; those of the calibration multipliers when not given.")]
Gauges = Annotated[list[str] | None, typer.Option(
    "--gauges", metavar="A,B,...", show_default=False,
    help="Gauges whose discharge an ensemble keeps; all gauges, or else all outlets, when not given.")]
Subbasins = Annotated[list[str] | None, typer.Option(
    "--subbasins", metavar="I,J,...", show_default=False,
    help="Sub-basins whose discharge an ensemble keeps.")]
Indices = Annotated[list[str] | None, typer.Option(
    "--indices", metavar="A,B,...", show_default=False,
    help="Indices of each member: mean, maximum, volume, seasonal, balance; all when not given.")]
RainNoise = Annotated[float, typer.Option(
    "--rain-noise", metavar="C", help="Coefficient of variation of the factor that perturbs rain.")]
TemperatureNoise = Annotated[float, typer.Option(
    "--temperature-noise", metavar="K", help="Standard deviation of what is added to temperature.")]
NoiseDays = Annotated[float, typer.Option("--noise-days", metavar="DAYS", help="Decorrelation time of the noise.")]
NoiseKm = Annotated[float, typer.Option(
    "--noise-km", metavar="KM", help="Decorrelation length of the noise; inf for one noise everywhere.")]
DrawSeed = Annotated[int, typer.Option("--seed", metavar="N", help="Seed of what an ensemble draws.")]
Control = Annotated[bool, typer.Option(
    "--control", help="Member 0 has the forcing as it is and, where parameters are drawn, the basin's own.")]
BatchSize = Annotated[int | None, typer.Option(
    "--batch", metavar="N", show_default=False,
    help="Members computed at a time; what fits the memory when not given. The results are the same.")]


@dataclass(frozen=True)
class EnsembleOptions:
    """The options of an ensemble as the command line gave them."""

    members: str | None
    sample: str | None
    ranges: Path | None
    gauges: list[str] | None
    subbasins: list[str] | None
    indices: list[str] | None
    rain_noise: float
    temperature_noise: float
    noise_days: float
    noise_km: float
    seed: int
    control: bool
    batch: int | None

    def check_absent(self) -> None:
        """Refuse options of an ensemble where there is none.

        Raises
        ------
        InputError
            One of them was given.
        """
        given = {"--sample": self.sample, "--ranges": self.ranges, "--gauges": self.gauges,
                 "--subbasins": self.subbasins, "--indices": self.indices, "--rain-noise": self.rain_noise,
                 "--temperature-noise": self.temperature_noise, "--control": self.control, "--batch": self.batch}
        names = [name for name, value in given.items() if value]
        if names:
            raise InputError(f"{names[0]} belongs to an ensemble: give --members too")


def run_members_command(basin: Path, output: Path | None, given: EnsembleOptions, *, backend: str, precision: str,
                        threads: int | None, start: str | None, end: str | None, options: Mapping[str, float | str],
                        unusable: Mapping[str, object], quiet: bool, cluster: Cluster | None = None) -> None:
    """Run an ensemble from the command line.

    Parameters
    ----------
    basin, output : path
    given : EnsembleOptions
    backend, precision, threads, start, end, options, quiet, cluster
        As for a run.
    unusable : mapping
        Options of a run that an ensemble does not take, with what was given: refused when there is something.
    """
    from wepl.run.ensemble_job import run_ensemble
    from wepl.run.members import count, read_members, read_ranges

    for name, value in unusable.items():
        if value:
            raise InputError(f"{name} cannot be given with --members: an ensemble writes discharge and indices of runs "
                             "that start from the basin's own state")
    assert given.members is not None
    number = count(given.members)
    members, names = (number, list[str]()) if number is not None else read_members(given.members)
    ranges = read_ranges(given.ranges) if given.ranges else None
    target = output or Path(f"{basin.stem}_ensemble.nc")
    run_ensemble(basin, members, output=target, sample=given.sample, ranges=ranges, seed=given.seed,
                 control=given.control, options=options, names=names, gauges=listed(given.gauges),
                 subbasins=_numbers(given.subbasins), indices=listed(given.indices), start=start, end=end,
                 rain_noise=given.rain_noise, temperature_noise=given.temperature_noise, noise_days=given.noise_days,
                 noise_km=given.noise_km, backend=backend, precision=precision, threads=threads, batch=given.batch,
                 quiet=quiet, cluster=cluster).close()


def _numbers(given: list[str] | None) -> list[int]:
    try:
        return [int(text) for text in listed(given)]
    except ValueError:
        raise InputError(f"--subbasins {','.join(listed(given))}: give the numbers of sub-basins") from None
