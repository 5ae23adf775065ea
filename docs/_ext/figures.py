"""The format of a figure, from the docstrings of the classes that hold it."""

import re
from collections.abc import Iterator
from dataclasses import fields
from inspect import cleandoc, getdoc

from incast.reproduce.figure import (
    Axis,
    Base,
    Claim,
    Described,
    Figure,
    Order,
    Plot,
    ReferenceCurve,
    Search,
    Series,
)
from incast.reproduce.late import Late
from incast.reproduce.ledger import Failure, Headline, Ledger
from incast.reproduce.metrics import DERIVED, LATE
from incast.reproduce.predicates import PREDICATES
from incast.reproduce.quantity import Quantity

TABLES: dict[str, type] = {
    "`base.toml`": Base,
    "A figure": Figure,
    "`[x]`": Axis,
    "`[[series]]`": Series,
    "`reference` of a series": ReferenceCurve,
    "`[plot]`": Plot,
    "`[search]`": Search,
    "`late` of a search": Late,
    "`[[described]]`": Described,
    "`[[orders]]`": Order,
    "`[[claims]]`": Claim,
    "`ledger.toml`": Ledger,
    "`failures` of a ledger": Failure,
    "`[[headlines]]` of `scorecard.toml`": Headline,
}


def figures() -> Iterator[str]:
    """Write every table of a figure, the tests of claims, and the metrics."""
    for heading, cls in TABLES.items():
        yield from _class(heading, cls)
    yield "\n## What claims test\n"
    for name, predicate in PREDICATES.items():
        yield from _class(f'`test = "{name}"`', predicate, level="###")
    yield from _class("Numbers", Quantity, level="###")
    yield "\n## Metrics\n"
    yield "Metrics are all numeric [columns of the rows](columns.md), the models' numbers, and:\n"
    for metric in DERIVED.values():
        yield f"- `{metric.name}`: {metric.label}"
    yield (
        "\nThe following metrics describe the run that a search with the condition `late` finds. "
        "If the search is for several blocks, the weakest evidence counts: the smallest "
        "`late_wait_s` and `late_idle_s`, and the largest value of the other metrics:\n"
    )
    for metric in LATE.values():
        yield f"- `{metric.name}`: {metric.label}"


def _class(heading: str, cls: type, level: str = "##") -> Iterator[str]:
    doc = cleandoc(getdoc(cls) or "")
    summary, _, parameters = doc.partition("Parameters\n----------\n")
    keys = {field.name: str(field.metadata.get("key", field.name)) for field in fields(cls)}
    yield f"\n{level} {heading}\n"
    yield f"{summary.strip()}\n"
    for names, text in re.findall(r"^(\S.*)\n((?:    .*\n?)+)", parameters, re.MULTILINE):
        told = ", ".join(f"`{keys[name.strip()]}`" for name in names.split(","))
        yield f"- {told}: {' '.join(text.split())}"
