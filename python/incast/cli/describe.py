"""`incast describe`: the contents of a results directory, column by column."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incast.cli import place

if TYPE_CHECKING:
    from incast.results import Results

_FEW_SEEDS = 5  # more consecutive seeds than this are written as a range


def describe(
    directory: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", help="A directory made by run --out.", parser=place.directory
        ),
    ],
) -> None:
    """Describe a results directory: its scenario and its columns."""
    from incast.cli.console import Paper
    from incast.results import Results
    from incast.results.added import DESCRIPTIONS
    from incast.results.frames import ROWS
    from incast.results.store import Directory

    store = Directory.open(directory)
    about, plan = store.manifest, store.plan
    paper = Paper()
    paper.heading(plan.title or "Results")
    for name, value in (
        ("scenario", about["source"] or "given as a dictionary"),
        ("state", f"{about['status']}: {_count(Results(plan, store))}"),
        ("swept", ", ".join(plan.swept) or "nothing"),
        ("seeds", _seeds(plan.seeds)),
        ("made by", f"incast {about['incast']}, engine {about['engine']}"),
        ("started", f"{about['started']}, {about['wall_s']} s in all"),
    ):
        paper.sentence(f"{name:10}{value}", " " * 10)
    for table, columns in about["columns"].items():
        if not (directory / table).is_dir():
            continue
        own = [(key, "", "swept key") for key in plan.swept]
        seed = [("seed", "", "seed of the run")] if table != ROWS else []
        told = [(column["name"], column["unit"], column["description"]) for column in columns]
        paper.print()
        paper.heading(f"{table}/*.parquet")
        paper.listing([("column", "unit", "meaning"), *own, *seed, *told])
        if table == ROWS:
            paper.print()
            paper.heading("computed when rows are read")
            paper.listing([("column", "unit", "meaning"), *DESCRIPTIONS])


def _count(results: "Results") -> str:
    done, asked = len(results), len(results.plan.points) * len(results.plan.seeds)
    return f"{done} runs" if results.plan.precision is not None else f"{done} of {asked} runs"


def _seeds(seeds: Sequence[int]) -> str:
    first, last = seeds[0], seeds[-1]
    if len(seeds) > _FEW_SEEDS and list(seeds) == list(range(first, last + 1)):
        return f"{first} to {last}"
    return ", ".join(map(str, seeds))
