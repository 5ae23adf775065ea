"""Distributions of flow sizes in files of one's own: `sizes = "mine.csv"`.

A file is read here, and its points stand in the scenario: what is resolved needs no file. Names of
files that do not exist are left to the core, which has distributions of its own.
"""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from incast import _core

_KEY = "sizes"


def inline(document: dict[str, Any], folder: Path) -> None:
    """Replace the names of files in `sizes` keys, swept ones as well, by their points.

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
    for name, place, key in _places(document, ""):
        given = place[key]
        if isinstance(given, str) and _is_file(folder / given):
            place[key] = _points(name, folder / given)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # e.g. the name is too long: no file has it
        return False


def _places(tree: Any, name: str) -> Iterator[tuple[str, Any, Any]]:  # noqa: ANN401 (any document)
    """Yield the place of each size: the dotted key, and the table or list with its key there."""
    if not isinstance(tree, dict | list):
        return
    for key, below in list(enumerate(tree) if isinstance(tree, list) else tree.items()):
        path = f"{name}.{key}" if name else str(key)
        if path.rpartition(".")[2] == _KEY and isinstance(below, str):
            yield path, tree, key
        elif str(key).rpartition(".")[2] == _KEY and isinstance(below, list):
            yield from ((path, below, index) for index in range(len(below)))
        else:
            yield from _places(below, path)


def _points(key: str, path: Path) -> list[list[float]]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "must be a text file"
        raise _core.ScenarioError(f"{key}: {path}: {why}") from None
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
