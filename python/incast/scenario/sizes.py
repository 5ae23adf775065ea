"""Distributions of flow sizes from the user's files: `sizes = "mine.csv"`.

This module reads the file and replaces its name by its points, so a resolved scenario needs no
file. If no file has the name, the name stays: it may be a built-in distribution of the core.

A line has a size in bytes and the share of flows up to this size, separated by a comma or blanks.
The last share is 1. It is 100 in files of percentages, as traffic generators for ns-3 read them.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from incast import _core
from incast.userfile import NotTextError, text_of

_KEY = "sizes"
_NUMBER = re.compile(r"([0-9]{1,20}\.?|(?=\.[0-9])\.)[0-9]{0,40}(e[+-]?[0-9]{1,2})?", re.IGNORECASE)
_PER_CENT = 100.0
_LONGEST = 40  # letters of a line in a message


def inline(document: dict[str, Any], folder: Path) -> None:
    """Replace the names of files in `sizes` keys, including swept keys, by the files' points.

    If a file has a mistake, its name stays, because an override may still replace this name.

    Parameters
    ----------
    document
        The scenario's tree, which is changed.
    folder
        The folder of the scenario's file, to which paths are relative.
    """
    for name, place, key in _files(document, folder):
        with suppress(_core.ScenarioError):
            place[key] = _points(name, folder / place[key])


def check(document: dict[str, Any], folder: Path) -> None:
    """Refuse each file whose name is still in a `sizes` key, because this file has a mistake.

    Raises
    ------
    ScenarioError
        A file cannot be read, or has lines that are not points. The message names the key.
    """
    for name, place, key in _files(document, folder):
        _points(name, folder / place[key])


def _files(document: dict[str, Any], folder: Path) -> Iterator[tuple[str, Any, Any]]:
    """Yield the entries of `_places` that are names of files."""
    for name, place, key in _places(document, ""):
        if isinstance(place[key], str) and _is_file(folder / place[key]):
            yield name, place, key


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # e.g. the name is too long, so no such file exists
        return False


def _places(tree: Any, name: str) -> Iterator[tuple[str, Any, Any]]:  # noqa: ANN401 (any document)
    """Yield the place of each value of a `sizes` key: dotted key, container, key or index in it."""
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
        lines = text_of(path).split("\n")
    except (OSError, NotTextError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise _core.ScenarioError(f"{key}: {path}: {why}") from None
    points: list[list[float]] = []
    named = False  # whether a line with the names of the columns was skipped
    for number, line in enumerate(lines, 1):
        words = line.replace(",", " ").split()
        if not words or line.lstrip().startswith("#"):
            continue
        if len(words) == 2 and all(map(_NUMBER.fullmatch, words)):  # noqa: PLR2004 (a point)
            points.append([float(word) for word in words])
        elif points or named or any(map(_NUMBER.fullmatch, words)):
            raise _core.ScenarioError(
                f"{key}: {path}: line {number}: {line.strip()[:_LONGEST]!r} must be two numbers, "
                "a size in bytes and the share of flows up to this size; the last share must be 1, "
                "or 100 for per cent"
            )
        else:
            named = True
    if points and points[-1][1] == _PER_CENT:
        points = [[size, share / _PER_CENT] for size, share in points]
    return points
