"""Tables of a SONiC switch that advice reads and writes: their fields, types and ranges.

The facts are those of the YANG models of SONiC (sonic-buildimage,
`src/sonic-yang-models/yang-models`): `sonic-buffer-pool.yang` and `sonic-buffer-profile.yang` of
2021-07-01, `sonic-wred-profile.yang` and `sonic-queue.yang` of 2021-04-01. In a configuration, all
values are strings, even numbers.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Tables = Mapping[str, Mapping[str, Mapping[str, Any]]]


@dataclass(frozen=True)
class Whole:
    """A whole number in a range."""

    least: int = 0
    most: int = 2**64 - 1

    def wrong(self, value: str) -> str:
        """Return what a wrong value must be; return an empty string if the value is valid."""
        fits = re.fullmatch(r"-?[0-9]{1,20}", value) and self.least <= int(value) <= self.most
        return "" if fits else f"must be a whole number from {self.least} to {self.most}"


@dataclass(frozen=True)
class Choice:
    """One of several words."""

    words: tuple[str, ...]

    def wrong(self, value: str) -> str:
        """Return what a wrong value must be; return an empty string if the value is valid."""
        return "" if value in self.words else f"must be one of {', '.join(self.words)}"


@dataclass(frozen=True)
class Name:
    """The name of a row of another table."""

    table: str

    def wrong(self, _: str) -> str:
        """Return an empty string, because the function `wrong` checks whether the row exists."""
        return ""


@dataclass(frozen=True)
class Table:
    """A table of a configuration.

    Parameters
    ----------
    key
        The pattern of the keys.
    fields
        The fields that a row may have, and their values.
    mandatory
        The fields that every row must have.
    ordered
        Pairs of fields; the value of the first field must not exceed that of the second field.
    """

    key: str
    fields: Mapping[str, Whole | Choice | Name]
    mandatory: frozenset[str] = frozenset()
    ordered: tuple[tuple[str, str], ...] = field(default=())


_YES = Choice(("true", "false"))
_COLOURS = ("green", "yellow", "red")
ECN = Choice(
    (
        *("ecn_none", "ecn_green", "ecn_yellow", "ecn_red", "ecn_green_yellow", "ecn_green_red"),
        *("ecn_yellow_red", "ecn_all"),
    )
)
EXPONENT = Whole(-8, 7)
"""The exponent n of a dynamic threshold, alpha = 2^n."""

SCHEMA = {
    "BUFFER_POOL": Table(
        r".+",
        {
            "type": Choice(("ingress", "egress")),
            "mode": Choice(("static", "dynamic")),
            "size": Whole(),
            "xoff": Whole(),
        },
        frozenset({"type", "mode"}),
    ),
    "BUFFER_PROFILE": Table(
        r".+",
        {
            "static_th": Whole(),
            "dynamic_th": EXPONENT,
            "size": Whole(),
            "pool": Name("BUFFER_POOL"),
            "xon_offset": Whole(),
            "xon": Whole(),
            "xoff": Whole(),
            "headroom_type": Choice(("static", "dynamic")),
        },
        frozenset({"size", "pool"}),
    ),
    "WRED_PROFILE": Table(
        r"[a-zA-Z0-9][-a-zA-Z0-9_]{0,31}",
        {
            **{f"{one}_{end}_threshold": Whole() for one in _COLOURS for end in ("min", "max")},
            **{f"{one}_drop_probability": Whole(0, 100) for one in _COLOURS},
            **{f"wred_{one}_enable": _YES for one in _COLOURS},
            "ecn": ECN,
        },
        ordered=tuple((f"{one}_min_threshold", f"{one}_max_threshold") for one in _COLOURS),
    ),
    "QUEUE": Table(
        r"[^|]+\|[0-9]+(-[0-9]+)?",
        {"scheduler": Name("SCHEDULER"), "wred_profile": Name("WRED_PROFILE")},
    ),
}
"""The models of the tables that advice uses; other tables are not checked."""


def wrong(tables: Tables) -> list[str]:
    """Return one sentence for each value or row in a configuration that violates a model."""
    return [
        complaint
        for name, table in SCHEMA.items()
        for key, row in tables.get(name, {}).items()
        for complaint in _of_row(name, table, key, row, tables)
    ]


def _of_row(
    name: str, table: Table, key: str, row: Mapping[str, Any], tables: Tables
) -> Iterator[str]:
    place = f"{name}|{key}"
    if not re.fullmatch(table.key, key):
        yield f"{place}: the key must match {table.key}"
    for one in sorted(table.mandatory - set(row)):
        yield f"{place}: {one} is missing"
    for one, value in row.items():
        if one not in table.fields:
            yield f"{place}: there is no field {one!r}"
            continue
        kind, text = table.fields[one], str(value)
        if why := kind.wrong(text):
            yield f"{place}|{one} = {text!r}: {why}"
        if isinstance(kind, Name) and text not in tables.get(kind.table, {}):
            yield f"{place}|{one} = {text!r}: must be a row of {kind.table}"
    for least, most in table.ordered:
        texts = [str(row[one]) for one in (least, most) if one in row]
        ends = [int(text) for text in texts if not Whole().wrong(text)]
        if len(ends) == 2 and ends[0] > ends[1]:  # noqa: PLR2004 (both are there)
            yield f"{place}|{most}: must not be below {least}"


def merged(configuration: Tables, fragment: Tables) -> dict[str, dict[str, dict[str, Any]]]:
    """Return a configuration after `config load` of a fragment: fields are merged row by row."""
    found = {
        name: {key: dict(row) for key, row in rows.items()} for name, rows in configuration.items()
    }
    for name, rows in fragment.items():
        for key, row in rows.items():
            found.setdefault(name, {}).setdefault(key, {}).update(row)
    return found
