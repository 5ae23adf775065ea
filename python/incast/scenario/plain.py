"""Documents as JSON. If JSON cannot represent a value, an error names the key of the value."""

import json
from collections.abc import Mapping
from math import isfinite

from incast._core import ScenarioError

# Readers of JSON fail beyond these limits.
_DEEPEST = 64
_MOST_VALUES = 10_000_000
_LARGEST = 2**64 - 1
_LONGEST = 200  # maximum number of letters of a key in a message


def as_json(document: object) -> str:
    """Write a document as JSON text.

    Raises
    ------
    ScenarioError
        JSON cannot represent a value. The message names its key.
    """
    check(document)
    # TOML has dates, but JSON does not. Written as strings, dates reach the core, which refuses
    # them.
    return json.dumps(document, default=str)


def check(document: object, key: str = "") -> None:
    """Refuse values that JSON cannot represent.

    Raises
    ------
    ScenarioError
        A number is not finite or has more than 64 bits, a string is not Unicode, a key is not a
        string, or tables are nested too deeply.
    """
    pending: list[tuple[object, str, int]] = [(document, key, key.count("."))]
    seen = 0
    while pending:
        value, place, depth = pending.pop()
        seen += 1
        if depth > _DEEPEST or seen > _MOST_VALUES:
            why = (
                "tables or lists are nested too deeply"
                if depth > _DEEPEST
                else "there are too many values"
            )
            raise ScenarioError(f"{_short(place)}: {why}")
        if isinstance(value, Mapping):
            for name, below in value.items():
                if not isinstance(name, str):
                    raise ScenarioError(
                        f"{_dotted(place, repr(name))}: a key must be text in quotes"
                    )
                _check_text(name, place)
                pending.append((below, _dotted(place, name), depth + 1))
        elif isinstance(value, list | tuple):
            below_here = enumerate(value)
            pending.extend((below, _dotted(place, str(at)), depth + 1) for at, below in below_here)
        else:
            _check_value(value, place)


def _check_value(value: object, place: str) -> None:
    if isinstance(value, str):
        _check_text(value, place)
    elif isinstance(value, float) and not isfinite(value):
        raise ScenarioError(f"{_short(place)}: must be a finite number, not {value}")
    elif isinstance(value, int) and not -(2**63) <= value <= _LARGEST:
        digits = int(value.bit_length() * 0.30103) + 1
        raise ScenarioError(
            f"{_short(place)}: a number of about {digits} digits is too large; "
            f"write at most {_LARGEST}"
        )


def _check_text(text: str, place: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ScenarioError(f"{_short(place)}: {text[:80]!a} is not text in UTF-8") from None


def _dotted(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _short(place: str) -> str:
    return place if len(place) <= _LONGEST else f"{place[:100]}[…]{place[-60:]}"
