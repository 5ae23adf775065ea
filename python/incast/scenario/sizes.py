"""Distributions of flow sizes in files of one's own: `sizes = "mine.csv"`.

A file is read here, and its points stand in the scenario: what is resolved needs no file. Names of
files that do not exist are left to the core, which has distributions of its own.

A line has bytes and the share of flows up to there, with a comma or blanks between. Shares end with
1, or with 100 in files of per cent, as traffic generators beside ns-3 read them.
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
    """Replace the names of files in `sizes` keys, swept ones as well, by their points.

    A file with a mistake keeps its name: another one may still be set in its place.

    Parameters
    ----------
    document
        The scenario's tree, which is changed.
    folder
        Where its file lies, from which paths start.
    """
    for name, place, key in _files(document, folder):
        with suppress(_core.ScenarioError):
            place[key] = _points(name, folder / place[key])


def check(document: dict[str, Any], folder: Path) -> None:
    """Refuse files in `sizes` keys that still have their names: each has a mistake.

    Raises
    ------
    ScenarioError
        A file cannot be read, or has lines that are no points. The message has the key.
    """
    for name, place, key in _files(document, folder):
        _points(name, folder / place[key])


def _files(document: dict[str, Any], folder: Path) -> Iterator[tuple[str, Any, Any]]:
    """Yield the places that have the name of a file."""
    for name, place, key in _places(document, ""):
        if isinstance(place[key], str) and _is_file(folder / place[key]):
            yield name, place, key


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
        lines = text_of(path).split("\n")
    except (OSError, NotTextError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise _core.ScenarioError(f"{key}: {path}: {why}") from None
    points: list[list[float]] = []
    named = False  # whether the names of the columns were passed over
    for number, line in enumerate(lines, 1):
        words = line.replace(",", " ").split()
        if not words or line.lstrip().startswith("#"):
            continue
        if len(words) == 2 and all(map(_NUMBER.fullmatch, words)):  # noqa: PLR2004 (a point)
            points.append([float(word) for word in words])
        elif points or named or any(map(_NUMBER.fullmatch, words)):
            raise _core.ScenarioError(
                f"{key}: {path}: line {number}: {line.strip()[:_LONGEST]!r} must be two numbers, "
                "bytes and the share of flows up to there, to 1, or to 100 for per cent"
            )
        else:
            named = True
    if points and points[-1][1] == _PER_CENT:
        points = [[size, share / _PER_CENT] for size, share in points]
    return points
