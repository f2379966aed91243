"""Options that send the work of a command to a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from wepl.distributed import Cluster

Workers = Annotated[int | None, typer.Option(
    "--workers", metavar="N", show_default=False,
    help="Share the work out to so many processes of this machine, each with a GPU of its own where there are GPUs. "
         "The results are the same.")]
Scheduler = Annotated[str | None, typer.Option(
    "--scheduler", metavar="ADDRESS", show_default=False,
    help="Share the work out to the workers of a Dask scheduler, such as tcp://host:8786.")]


@contextmanager
def cluster_of(workers: int | None, scheduler: str | None, threads: int | None = None) -> Iterator[Cluster | None]:
    """The cluster that a command was given; None when it was given none."""
    if workers is None and scheduler is None:
        yield None
        return
    from wepl.distributed import connect

    with connect(workers=workers, scheduler=scheduler, threads=threads) as cluster:
        yield cluster
