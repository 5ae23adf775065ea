"""The table of simulated shares of the ideal, in the folder of reference data."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import astuple
from itertools import islice

import incast
from validation.common.places import REFERENCE
from validation.ranking.draw import BLOCKS, GIVEN_UP, RANGES, Drawn, scenarios
from validation.ranking.ideal import completion_s
from validation.ranking.rows import rows

PATH = REFERENCE / "ranking" / "shares.csv"

Shares = dict[str, float]
"""By the label of a row, the ideal completion time divided by the simulated completion time; 0 if
the run was stopped."""


def simulate(drawn: Drawn, jobs: int | None, only: set[str] | None = None) -> Shares:
    """Run every row, or only the rows with the labels `only`, in one scenario."""
    ideal = completion_s(drawn)
    scenario = drawn.scenario().override("run.time_limit", f"{GIVEN_UP * BLOCKS * ideal:.9f}s")
    labels = [row.label for row in rows()]
    if only is not None:
        (pairs,) = scenario.document["sweep"]["zip"]
        wanted = [at for at, label in enumerate(labels) if label in only]
        labels = [labels[at] for at in wanted]
        chosen = {key: [values[at] for at in wanted] for key, values in pairs.items()}
        scenario = scenario.override("sweep.zip", [chosen])
    results = incast.run(scenario, jobs=jobs).frame()
    reads = results.filter(results["group"] == "all").select("status", "completion_s")
    return {
        label: round(ideal / completion, 4) if status == "ok" else 0.0
        for label, (status, completion) in zip(labels, reads.iter_rows(), strict=True)
    }


def read() -> list[tuple[Drawn, Shares]]:
    """Return the stored shares, in the order in which the scenarios are drawn."""
    if not PATH.exists():
        return []
    with PATH.open(newline="") as file:
        return [
            (
                Drawn(*(int(row.pop(key)) for key in RANGES)),
                {label: float(share) for label, share in row.items() if share},
            )
            for row in csv.DictReader(file)
        ]


def make(count: int, jobs: int | None) -> Iterator[int]:
    """Simulate the missing rows of the first `count` scenarios; yield each scenario's number."""
    labels = [row.label for row in rows()]
    known = read()
    for number, drawn in enumerate(islice(scenarios(), count)):
        shares = known[number][1] if number < len(known) else {}
        missing = {label for label in labels if label not in shares}
        if not missing:
            continue
        shares |= simulate(drawn, jobs, missing)
        known[number : number + 1] = [(drawn, shares)]
        _keep(known, labels)
        yield number


def _keep(known: list[tuple[Drawn, Shares]], labels: list[str]) -> None:
    """Write the whole table in one step, so that an interruption leaves a complete table."""
    part = PATH.with_suffix(".part")
    with part.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*RANGES, *labels])
        for drawn, shares in known:
            writer.writerow([*astuple(drawn), *(shares.get(label, "") for label in labels)])
    part.replace(PATH)
