"""CSV tables of dataclasses, with a column for each field."""

from __future__ import annotations

import csv
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

Row = TypeVar("Row")
_KINDS = {"int": int, "float": float, "str": str}


def add(path: Path, kind: type, rows: Iterable[Any]) -> None:
    """Add rows to a table, each as soon as it is known; create the table if it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    is_new = not path.exists()
    with path.open("a", newline="") as file:
        names = [field.name for field in fields(kind)]
        writer = csv.DictWriter(file, names, lineterminator="\n")
        if is_new:
            writer.writeheader()
        for row in rows:
            writer.writerow(asdict(row))
            file.flush()


def read(path: Path, kind: type[Row]) -> Sequence[Row]:
    """Read a table."""
    columns = fields(kind)  # type: ignore[arg-type]
    with path.open(newline="") as file:
        return [
            kind(
                **{
                    field.name: _KINDS[str(field.type)](row[field.name])
                    for field in columns
                    if field.name in row  # older tables have fewer columns
                }
            )
            for row in csv.DictReader(file)
        ]
