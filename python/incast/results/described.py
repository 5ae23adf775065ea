"""The columns of the stored tables: name, unit and description."""

import json
from functools import cache

from incast import _core
from incast.results.frames import COMPLETIONS, KEY, ROWS, WALL
from incast.results.traces import KINDS

Column = dict[str, str]

_KEY = {"name": KEY, "unit": "", "description": "key of the run, also the name of trace files"}
_BLOCKS = {
    "name": COMPLETIONS,
    "unit": "s",
    "description": "completion times of all blocks, in order",
}

TABLES = [ROWS, *(kind.table for kind in KINDS.values())]


@cache
def columns(table: str) -> list[Column]:
    """Return the columns of rows or of a trace as they are stored."""
    told: list[Column] = json.loads(_core.columns("rows" if table == ROWS else table))
    if table == ROWS:
        return [_KEY, *(column for column in told if column["name"] != WALL), _BLOCKS]
    return told


@cache
def text(table: str) -> str:
    """Return the columns of a table as JSON, for the metadata of its files."""
    return json.dumps(columns(table), separators=(",", ":"))
