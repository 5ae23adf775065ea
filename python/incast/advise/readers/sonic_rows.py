"""Rows of a SONiC configuration: read their values (strings) and their references to rows."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from incast.advise.readers.words import whole
from incast.errors import AdviceError

LARGEST = 2**40
"""The largest size that is read, in bytes. No switch has a buffer of 1 TiB."""
_LONGEST = 40  # maximum number of characters of a name or a value in a message
_MOST_QUEUES = 64  # per port
_MOST = 100_000  # queues per switch

Queue = tuple[str, int]
"""A port, and the number of a queue at this port."""


def row_of(reference: object) -> str:
    """Return the row that a field names, as `name` or, in older versions, `[TABLE|name]`."""
    text = str(reference)
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1].rpartition("|")[2]
    return text


def wrong(where: str, path: tuple[str, ...], value: object, why: str) -> AdviceError:
    """Return the error for a wrong value of a field."""
    place = "|".join(name[:_LONGEST] for name in path)
    return AdviceError(f"{where}: {place} = {str(value)[:_LONGEST]!r}: {why}")


def number(where: str, path: tuple[str, ...], value: object, most: int, least: int = 1) -> int:
    """Read a whole number, which SONiC writes as a string.

    Raises
    ------
    AdviceError
        The value is not a whole number, or is out of bounds.
    """
    read = whole(str(value).strip(), least, most) if isinstance(value, int | str) else None
    if read is None:
        raise wrong(where, path, value, f"must be a whole number from {least} to {most}")
    return read


def queues(rows: dict[str, Any]) -> Iterator[tuple[Queue, dict[str, Any]]]:
    """Yield the queues of a table with their rows; keys that name no queue are ignored.

    A key is `port|queue` or `port|first-last`. A key for several ports is `port,port|queue`.
    """
    return islice(
        ((queue, row) for key, row in rows.items() for queue in _named(key)),
        _MOST,
    )


def _named(key: str) -> Iterator[Queue]:
    ports, _, numbers = key.rpartition("|")
    first, dash, last = numbers.partition("-")
    least = whole(first, 0, _MOST_QUEUES)
    most = whole(last, 0, _MOST_QUEUES) if dash else least
    if least is None or most is None:
        return
    for port in ports.split(","):
        for one in range(least, most + 1):
            yield port, one


def lossless_queues(tables: dict[str, Any]) -> set[Queue]:
    """Return the queues with priority flow control, which `PORT_QOS_MAP` names for each port."""
    return set(islice(_lossless(tables.get("PORT_QOS_MAP", {})), _MOST))


def _lossless(rows: dict[str, Any]) -> Iterator[Queue]:
    for key, row in rows.items():
        texts = str(row.get("pfc_enable", "")).split(",", _MOST_QUEUES)
        read = (whole(text, 0, _MOST_QUEUES) for text in texts)
        numbers = [number for number in read if number is not None]
        for port in key.split(",") if numbers else ():
            for number in numbers:
                yield port, number
