"""SI values as text."""

import re
import textwrap
from collections.abc import Callable, Iterable
from math import floor, isfinite, log10

_SPELT = {
    "rate": {"bps": 1.0, "kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9, "Tbps": 1e12},
    "time": {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0},
    "size": {
        "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30,
    },
    "number": {"": 1.0, "%": 0.01},
}  # fmt: skip
_KINDS = {"_bps": "rate", "_s": "time", "_bytes": "size"}  # by the end of a column's name
_QUANTITY = re.compile(r"([+-]?[0-9]+(?:\.[0-9]*)?(?:e[+-]?[0-9]+)?)\s*([^0-9]*)", re.IGNORECASE)
NONE = "–"  # stands for a missing number

_RATES = [(1e12, "Tbps"), (1e9, "Gbps"), (1e6, "Mbps"), (1e3, "kbps"), (1.0, "bps")]
_TIMES = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")]
_SIZES = [
    (1024**3, "GiB"), (10**9, "GB"), (1024**2, "MiB"), (10**6, "MB"), (1024, "KiB"), (1000, "KB"),
]  # fmt: skip
# A space between a number and its unit or noun; a line must not break at this space.
_BOUND = re.compile(
    r"(?<=[0-9]) (?=(?:[kMGT]?bps|[pnuµm]?s|min|h|[KMG]i?B|B|%|packets?|servers?|seeds?)\b|%)"
)
_GLUE = "\ue000"  # a letter of Unicode's private area, which no text contains


class QuantityError(ValueError):
    """A string that is not a valid quantity. The message states the valid form."""


def kind_of(column: str) -> str:
    """Return the kind of a column by its name: a `rate`, a `time`, a `size` or a `number`."""
    return next((kind for end, kind in _KINDS.items() if column.endswith(end)), "number")


def quantity(text: str, kind: str) -> float:
    """Read a number with one of the units of its kind.

    Raises
    ------
    QuantityError
        The unit is wrong, or it is missing although this kind of quantity needs one.
    """
    spelt = _SPELT[kind]
    found = _QUANTITY.fullmatch(text.strip())
    if found is None or found[2] not in spelt:
        among = ", ".join(filter(None, spelt))
        form = (
            "a number, with or without %" if kind == "number" else f"a number with a unit: {among}"
        )
        raise QuantityError(f"{text} is not a {kind}; must be {form}")
    value = float(found[1]) * spelt[found[2]]
    if not isfinite(value):
        raise QuantityError(f"{text} is too large for a {kind}")
    return value


def rate(bits_per_second: float) -> str:
    """Write a rate, e.g. `943 Mbps`."""
    return _scaled(bits_per_second, _RATES)


def rates(values: Iterable[float | None]) -> tuple[str, Callable[[float | None], str]]:
    """Return the best unit for a column of rates, and a function that writes its cells.

    The cells have as many decimals as needed for four digits of the largest value and two digits
    of the smallest value, but at most three decimals.
    """
    known = sorted(abs(value) for value in values if value)
    unit, name = _unit(known[-1] if known else 1e6, _RATES)
    wanted = [4 - _digits(known[-1] / unit), 2 - _digits(known[0] / unit)] if known else [0]
    decimals = min(max(*wanted, 0), 3)
    return name, lambda value: NONE if value is None else f"{value / unit:.{decimals}f}"


def time(seconds: float, *, trim: bool = True) -> str:
    """Write a time, e.g. `200 ms`; without `trim`, write three digits, to align a column."""
    return _scaled(seconds, _TIMES, trim=trim)


def duration(seconds: float) -> str:
    """Write a duration in whole seconds, e.g. `2 min 05 s`."""
    if seconds < 1:
        return "1 s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def size(count: int) -> str:
    """Write a size in the unit that needs the fewest digits, e.g. `32 MB`.

    If several units need equally few digits, a number that is a power of two is preferred: 128 KB,
    not 125 KiB. Otherwise the binary unit is preferred.
    """
    whole = [(count // unit, name) for unit, name in _SIZES if count and count % unit == 0]
    if whole:
        number, name = min(whole, key=_roundness)
        return f"{number} {name}"
    return f"{count:,} B".replace(",", "\N{NARROW NO-BREAK SPACE}")


def _roundness(written: tuple[int, str]) -> tuple[int, bool, bool]:
    number, name = written
    return len(str(number)), number & (number - 1) != 0, "i" not in name


def lines(text: str, width: int, indent: str = "", most: int | None = None) -> list[str]:
    """Wrap a text at words, but not between a number and its unit.

    Parameters
    ----------
    text
        The text to wrap.
    width
        Maximum number of letters in a line; a longer word stays whole.
    indent
        The string at the beginning of every line but the first.
    most
        Maximum number of lines; if text is cut off, the last line ends with `…`.
    """
    wrapped = textwrap.wrap(
        _BOUND.sub(_GLUE, text),
        width,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
        max_lines=most,
        placeholder=" …",
    )
    return [line.replace(_GLUE, " ") for line in wrapped]


def percent(share: float) -> str:
    """Write a share from 0 to 1 as per cent, e.g. `71 %`; below 1 % and above 99 %, one decimal."""
    edge = 0 < share < 0.01 or 0.99 < share < 1  # noqa: PLR2004 (one per cent from 0 or 1)
    return f"{100 * share:.{1 if edge else 0}f}\N{NO-BREAK SPACE}%"


def number(value: float, digits: int = 3) -> str:
    """Write a number with `digits` significant digits, without an exponent."""
    if value == 0:
        return "0"
    decimals = digits - 1 - floor(log10(abs(value)))
    return f"{round(value, decimals):.{max(decimals, 0)}f}"


def plain(text: str) -> str:
    """Write a user's text on one line, without control characters."""
    return " ".join("".join(map(_visible, text)).split())


def _visible(letter: str) -> str:
    if letter.isprintable() or letter.isspace():
        return letter
    return letter.encode("unicode_escape").decode()


def plural(count: int, noun: str) -> str:
    """Write a count with its noun, e.g. `1 server`, `2 servers`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _scaled(value: float, units: list[tuple[float, str]], *, trim: bool = True) -> str:
    if value == 0:
        return f"0 {units[-1][1]}"
    unit, name = _unit(value, units)
    text = number(value / unit)
    return f"{_trim(text) if trim else text} {name}"


def _unit(value: float, units: list[tuple[float, str]]) -> tuple[float, str]:
    """Return the largest unit that is at most the value; 999.96 counts as 1000."""
    return next((one for one in units if abs(value) >= one[0] * 0.9995), units[-1])


def _digits(value: float) -> int:
    """Count the digits before the point; below 1, count the zeros after it as negative digits."""
    return floor(log10(value)) + 1


def _trim(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text
