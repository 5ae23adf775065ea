"""Distributions of flow sizes in files of one's own: `sizes = "mine.csv"`.

The core knows those that come with the package by their names. Any other file is read here, and its
points stand in the scenario: what is resolved needs no file.
"""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from incast import _core

_SHIPPED = frozenset({"datamining.csv", "storage.csv", "websearch.csv"})


def inline(document: dict[str, Any], folder: Path) -> None:
    """Replace the names of files in `sizes` keys by their points.

    Parameters
    ----------
    document
        The scenario's tree, which is changed.
    folder
        Where its file lies, from which paths start.

    Raises
    ------
    ScenarioError
        A file cannot be read, or has lines that are no points.
    """
    for key, table in _tables(document):
        given = table.get("sizes")
        if isinstance(given, str) and given not in _SHIPPED:
            table["sizes"] = _points(f"{key}.sizes", folder / given)


def _tables(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for key in ("workload", "background"):
        given = document.get(key)
        if isinstance(given, dict):
            yield key, given
        for index, table in enumerate(given if isinstance(given, list) else []):
            if isinstance(table, dict):
                yield f"{key}.{index}", table


def _points(key: str, path: Path) -> list[list[float]]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "must be a text file"
        names = ", ".join(sorted(_SHIPPED))
        message = f"{key}: {path}: {why}; write one of {names}, or a path"
        raise _core.ScenarioError(message) from None
    points = []
    rows = csv.reader(line for line in lines if line.strip() and not line.startswith("#"))
    for number, row in enumerate(rows):
        try:
            size, share = map(float, row)
        except ValueError:
            if number == 0:
                continue  # the names of the columns
            raise _core.ScenarioError(
                f"{key}: {path}: {','.join(row)!r} must be two numbers, bytes and the share of "
                "flows up to there"
            ) from None
        points.append([size, share])
    return points
