"""The `manifest.json` of a results directory, checked because users may have edited it."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incast._core import ScenarioError
from incast.errors import ResultsError
from incast.results import files
from incast.results.traces import KINDS
from incast.scenario import precision
from incast.scenario.plan import Plan

FORMAT = 3  # version of the directory's format
READ = (2, FORMAT)  # version 2 has the times of runs in the rows, and no checksums

Tree = dict[str, Any]


@dataclass(frozen=True)
class _Is:
    """The requirement on a value of the manifest.

    Parameters
    ----------
    words
        The requirement in words, for error messages.
    holds
        A function that returns whether a value is valid.
    """

    words: str
    holds: Callable[[Any], bool]


def _whole(value: Any) -> bool:  # noqa: ANN401 (any value)
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _number(value: Any) -> bool:  # noqa: ANN401
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


def _list(value: Any, holds: Callable[[Any], bool]) -> bool:  # noqa: ANN401
    return isinstance(value, list) and all(map(holds, value))


def _trace(value: Any) -> bool:  # noqa: ANN401
    return isinstance(value, str) and value.removesuffix(":full") in KINDS


def _column(value: Any) -> bool:  # noqa: ANN401
    told = ("name", "unit", "description")
    return isinstance(value, dict) and all(isinstance(value.get(key), str) for key in told)


def _columns(value: Any) -> bool:  # noqa: ANN401
    return isinstance(value, dict) and all(_list(told, _column) for told in value.values())


_HALVES = re.compile(r"\\u[dD][89a-fA-F]")
_TEXT = _Is("text", lambda value: isinstance(value, str))
_TABLE = _Is("a table", lambda value: isinstance(value, dict))

_KEYS = {
    "incast": _TEXT,
    "engine": _TEXT,
    "status": _TEXT,
    "started": _TEXT,
    "wall_s": _Is("seconds, at least 0", _number),
    "host": _TABLE,
    "source": _TEXT,
    "scenario": _TABLE,
    "fingerprint": _TEXT,
    "traces": _Is("a list of traces", lambda value: _list(value, _trace)),
    "columns": _Is("tables of columns, each with name, unit and description", _columns),
    "plan": _TABLE,
    "plan.points": _Is(
        "a list of at least one point", lambda value: _list(value, lambda _: True) and bool(value)
    ),
    "plan.seeds": _Is(
        "a list of at least one whole number", lambda value: _list(value, _whole) and bool(value)
    ),
}
_PRECISION = _Is("target, first and most of run.precision", precision.valid)
_POINT = {"swept": _TABLE, "resolved": _TABLE, "resolved.run": _TABLE}
_SWEPT = _Is(
    "text, numbers, true or false under the keys of the first point",
    lambda value: isinstance(value, str | int | float),
)


def read(path: Path) -> Tree | None:
    """Read the manifest of a directory; return None if there is no manifest.

    Raises
    ------
    ResultsError
        The file is not a manifest, has another version, or was changed. The message names the file
        and the key.
    """
    file = path / "manifest.json"
    files.check_regular(file)
    try:
        text = file.read_text(encoding="utf-8")
        manifest: Any = json.loads(text)
        if _HALVES.search(text):  # a lone surrogate is not valid text
            json.dumps(manifest, ensure_ascii=False).encode()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ResultsError(f"{file}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise ResultsError(f"{file}: not a manifest of incast") from None
    if not isinstance(manifest, dict) or "format" not in manifest:
        raise ResultsError(f"{file}: not a manifest of incast")
    if manifest["format"] not in READ:
        known, given = " and ".join(map(str, READ)), _short(manifest["format"])
        raise ResultsError(
            f"{file}: has format {given}, but this version of incast reads {known}; "
            "run the scenario again in another directory"
        )
    _check(file, manifest, _KEYS, "")
    told = manifest["plan"].get("precision")
    if told is not None and not _PRECISION.holds(told):
        raise _wrong(file, "plan.precision", _PRECISION, told)
    swept: list[str] | None = None
    for number, point in enumerate(manifest["plan"]["points"]):
        place = f"plan.points.{number}"
        if not isinstance(point, dict):
            raise _wrong(file, place, _TABLE, point)
        _check(file, point, _POINT, f"{place}.")
        swept = list(point["swept"]) if swept is None else swept
        if list(point["swept"]) != swept or not all(map(_SWEPT.holds, point["swept"].values())):
            raise _wrong(file, f"{place}.swept", _SWEPT, point["swept"])
    return manifest


def check_plan(path: Path, manifest: Tree, plan: Plan) -> None:
    """Refuse a manifest whose points were changed after the run, or can no longer be read.

    Raises
    ------
    ResultsError
        The fingerprint differs, or the core refuses the first point.
    """
    file = path / "manifest.json"
    try:
        is_same = manifest["fingerprint"] == plan.fingerprint
    except RecursionError:  # lists nested so deeply that they can be read but not written
        is_same = False
    if not is_same:
        raise ResultsError(
            f"{file}: plan.points: was changed after the run (the fingerprint differs); "
            "run the scenario again in another directory"
        )
    try:
        plan.points[0].here  # noqa: B018 (reading it resolves the point)
    except ScenarioError as error:
        raise ResultsError(
            f"{file}: plan.points.0.resolved.{error} (incast {manifest['incast']} wrote it); "
            "run the scenario again in another directory"
        ) from None


def _check(file: Path, tree: Tree, keys: dict[str, _Is], place: str) -> None:
    for key, wanted in keys.items():
        value = _at(tree, key)
        if value is None:
            raise ResultsError(f"{file}: {place}{key}: missing; must be {wanted.words}")
        if not wanted.holds(value):
            raise _wrong(file, place + key, wanted, value)


def _at(tree: Any, key: str) -> Any:  # noqa: ANN401
    """Return the value of a dotted key; None if the key is missing."""
    for part in key.split("."):
        if isinstance(tree, list) and part.isdigit() and int(part) < len(tree):
            tree = tree[int(part)]
        elif isinstance(tree, dict):
            tree = tree.get(part)
        else:
            return None
    return tree


def _wrong(file: Path, key: str, wanted: _Is, value: Any) -> ResultsError:  # noqa: ANN401
    return ResultsError(f"{file}: {key}: must be {wanted.words}, not {_short(value)}")


def _short(value: Any) -> str:  # noqa: ANN401
    try:
        given = json.dumps(value)
    except RecursionError:  # lists nested so deeply that they can be read but not written
        given = f"a {type(value).__name__} of many levels"
    return given if len(given) <= 60 else f"{given[:57]}…"  # noqa: PLR2004 (readable at a glance)
