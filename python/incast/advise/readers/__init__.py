"""Readers of users' files, each reader in a file of its own."""

import copy
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from incast import units
from incast.advise.readers import (
    counters,
    fan_in,
    kernel,
    nic,
    qdiscs,
    routes,
    sockets,
    sonic,
)
from incast.advise.readers.taken import Taken
from incast.advise.readers.words import shown
from incast.errors import AdviceError
from incast.scenario import Scenario, load
from incast.scenario.override import apply
from incast.userfile import text_of

READERS: list[ModuleType] = [
    *(counters, sonic, fan_in, nic, qdiscs, kernel, sockets, routes),
]
"""Every reader; the first one that recognises a file reads it."""

SERVERS = "workload.servers"
ASSUMED: dict[str, tuple[object, str]] = {
    "network.rate": ("10Gbps", "links of 10 Gbps"),
    "network.buffer": ("256KiB", "256 KiB of buffer for the port to the client"),
    "workload.sru": ("64KiB", "64 KiB from every server"),
    "workload.connections": ("persistent", "connections that are kept"),
}
"""The values that are assumed if no scenario or file gives them, and their descriptions."""


def read(path: Path) -> Taken:
    """Read a file.

    Raises
    ------
    AdviceError
        The file cannot be read, or no reader recognises it. The message names the file and the
        line.
    """
    try:
        text = text_of(path)
    except OSError as error:
        raise AdviceError(f"{path}: {error.strerror}") from None
    except ValueError as error:  # the file is no text, or no file can have this name
        raise AdviceError(f"{path}: {error}") from None
    if not text.strip():
        raise AdviceError(f"{path}: must not be empty")
    for reader in READERS:
        if reader.recognises(text):
            taken: Taken = reader.read(text, str(path))
            name = shown(path.name)
            taken.took = [f"{name} ({reader.NAME}): {units.plain(said)}" for said in taken.took]
            taken.assumed = [f"Assumed: {units.plain(said)}" for said in taken.assumed]
            return taken
    known = ", ".join(reader.NAME for reader in READERS)
    raise AdviceError(f"{path}: not recognised; must be the output of one of {known}")


def scenario_of(
    files: Sequence[Path], scenario: Scenario | None, known: Collection[str] = ()
) -> tuple[Scenario, list[str]]:
    """Return a scenario with the values of files, and notes on what was read and assumed.

    Errors in the scenario name the files.

    Parameters
    ----------
    files
        The files; values of later files override those of earlier files.
    scenario
        The scenario that the files change; by default a read with the profile `linux`.
    known
        Keys whose values are given in another way; no value is assumed for these keys.

    Raises
    ------
    AdviceError
        A file cannot be read.
    """
    notes: list[str] = []
    document: dict[str, Any] = {"profile": "linux"}
    if scenario is not None:
        document = copy.deepcopy(scenario.document)
    given: dict[str, object] | None = dict.fromkeys(known, True) if scenario is None else None
    asks_for_ecn = False
    for file in files:
        taken = read(file)
        asks_for_ecn |= "transport.ecn" in taken.changes
        notes += [*taken.took, *taken.assumed]
        for key, value in taken.changes.items():
            if given is not None:
                given[key] = value
            _set(document, key, value)
    if asks_for_ecn:
        notes += _unmarked(document, known)
    if given is not None:
        notes += _assume(document, given)
    changed = load(document) if scenario is None else replace(scenario, document=document)
    names = [changed.source] * bool(changed.source) + [file.name for file in files]
    return replace(changed, source=" with ".join(names)), notes


def _unmarked(document: dict[str, Any], known: Collection[str]) -> list[str]:
    """Leave out ECN if no switch marks packets, because a scenario with ECN alone is refused."""
    network = document.get("network", {})
    tables = [network, network.get("core", {})] if isinstance(network, dict) else []
    marking = any(isinstance(table, dict) and "queue" in table for table in tables)
    transport = document.get("transport")
    if marking or any("queue" in key for key in known) or not isinstance(transport, dict):
        return []
    transport.pop("ecn", None)
    return ["ECN is left out, because no file says that a switch marks packets (network.queue)."]


def _assume(document: dict[str, Any], given: dict[str, object]) -> list[str]:
    """Fill in the values that no file gives, and return a sentence on them."""
    told = []
    for key, (value, said) in ASSUMED.items():
        if given.get(key) is None:
            _set(document, key, value)
            told.append(said)
    _set(document, "workload.blocks", 10)
    return [f"Assumed: {', '.join(told)}; change these values with --set."] if told else []


def _set(document: dict[str, Any], key: str, value: object) -> None:
    """Set a dotted key; remove it if the value is None."""
    if value is not None:
        apply(document, key, value)
        return
    table, _, last = key.partition(".")
    if isinstance(document.get(table), dict):
        document[table].pop(last, None)
