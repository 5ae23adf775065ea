"""Names and numbers in files: how names are shown, and which numbers are accepted."""

import re

from incast import units

CONTROLS = {"cubic", "reno", "dctcp", "bbr", "vegas", "westwood", "bic"}
"""The congestion controls of the kernel that are simulated."""
OTHER_CONTROLS = {
    *("htcp", "hybla", "illinois", "scalable", "lp", "veno", "yeah", "nv", "cdg", "highspeed"),
    *("bbr2", "bbr3", "prague", "bpf_cubic", "bpf_dctcp"),
}
"""The other congestion controls of the kernel, which are left out of a scenario."""

_WORD = re.compile(r"[A-Za-z0-9_.:@%+=,|/\[\]-]+")
_LONGEST = 40  # maximum number of characters of a name in a sentence
_FEW = 4  # maximum number of names in a sentence
_WHOLE = re.compile(r"[0-9]{1,20}")
_DECIMAL = re.compile(r"[0-9]{1,20}(\.[0-9]{0,20})?(e[+-]?[0-9]{1,3})?")


def shown(name: str) -> str:
    """Return a name from a file on one line; shorten or quote the name if necessary.

    A name may have any characters, and must not be mistaken for advice or a command. A long or
    unusual name is therefore in quotes.
    """
    if len(name) <= _LONGEST and _WORD.fullmatch(name):
        return name
    line = units.plain(name[: 2 * _LONGEST]).replace('"', "'")
    return f'"{line[:_LONGEST]}…"' if len(line) > _LONGEST else f'"{line}"'


def listed(names: list[str]) -> str:
    """Return the first few names, and the number of the remaining names."""
    distinct = list(dict.fromkeys(names))
    more = f" and {len(distinct) - _FEW} more" if len(distinct) > _FEW else ""
    return ", ".join(map(shown, distinct[:_FEW])) + more


def whole(text: str, least: int, most: int) -> int | None:
    """Read a whole number in ASCII digits; return None if it is not valid or out of bounds."""
    if not _WHOLE.fullmatch(text):
        return None
    number = int(text)
    return number if least <= number <= most else None


def decimal(text: str, least: float, most: float) -> float | None:
    """Read a decimal number in ASCII digits; return None if it is not valid or out of bounds."""
    if not _DECIMAL.fullmatch(text):
        return None
    number = float(text)
    return number if least <= number <= most else None
