"""The kinds of traces that can be recorded in single runs, by name."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from incast import _core
from incast.errors import ResultsError


@dataclass(frozen=True)
class Kind:
    """One kind of trace.

    Parameters
    ----------
    name
        The name in `--trace name`.
    table
        The core's name of the table and of its folder.
    summary
        The content of the trace, in one line.
    """

    name: str
    table: str
    summary: str


KINDS = {kind["name"]: Kind(**kind) for kind in json.loads(_core.traces())}


def parse(text: str) -> list[str]:
    """Split a list such as `queue,cwnd,events:full`; `:full` means every change instead of bins.

    Raises
    ------
    ResultsError
        There is no such trace. The message lists the traces that exist.
    """
    return checked(name.strip() for name in text.split(",") if name.strip())


def checked(names: Iterable[str]) -> list[str]:
    """Return each name of a trace once.

    Raises
    ------
    ResultsError
        There is no such trace (the message lists the traces that exist), or a trace is requested
        both in bins and in full.
    """
    names = list(dict.fromkeys(names))
    for name in names:
        if name.removesuffix(":full") not in KINDS:
            raise ResultsError(
                f"trace: there is no trace {name!r}; choose from {', '.join(KINDS)}, "
                "each with or without :full"
            )
        if f"{name}:full" in names:
            raise ResultsError(f"trace: {name} and {name}:full cannot be combined; choose one")
    return names
