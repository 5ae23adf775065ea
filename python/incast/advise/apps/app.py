"""An application: what its throttles mean for fan-in and bytes per server."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from incast import units
from incast.advise.words import Words
from incast.scenario.resolved import Resolved


@dataclass(frozen=True)
class Bound:
    """The limits that a setting implies; None where it has no effect.

    Parameters
    ----------
    at_once
        Answers that are in flight.
    answer
        Bytes that one server sends for a request.
    window
        Bytes of a connection that are in flight.
    """

    at_once: int | None = None
    answer: int | None = None
    window: int | None = None

    def changes(self, here: Resolved) -> dict[str, object]:
        """Return the keys that it changes in a scenario; smaller values there are kept."""
        found: dict[str, object] = {}
        remedies: list[dict[str, Any]] = here.tree["transport"]["remedies"]
        already = [one["n"] for one in remedies if one["name"] == "batching"]
        if self.at_once is not None and self.at_once < min([here.servers, *already]):
            others = [one for one in remedies if one["name"] != "batching"]
            batching = {"name": "batching", "n": self.at_once, "refill": "each"}
            found["transport.remedies"] = [*others, batching]
        if self.answer is not None and self.answer < here.sru:
            found |= {"workload.block": None, "workload.sru": self.answer}
        if self.window is not None and self.window < here.receive_window * here.mss:
            found["transport.receive_window"] = f"{max(self.window, here.mss)}B"
        return found

    def words(self, here: Resolved) -> str:
        """Return what it changes, in words."""
        changes = self.changes(here)
        said = []
        if "transport.remedies" in changes:
            said.append(f"at most {units.plural(self.at_once or 0, 'answer')} in flight")
        if "workload.sru" in changes:
            said.append(f"answers of {units.size(self.answer or 0)}")
        if "transport.receive_window" in changes:
            said.append(f"windows of {units.size(self.window or 0)}")
        return ", ".join(said) or "it limits nothing here"


@dataclass(frozen=True)
class Throttle:
    """A setting that bounds how much is requested at a time.

    Parameters
    ----------
    means
        What it means for a read.
    bound
        What its value bounds in a scenario.
    """

    means: str
    bound: Callable[[int, Resolved], Bound]


@dataclass(frozen=True)
class App:
    """An application.

    Parameters
    ----------
    name
        Its name.
    limit
        The setting that bounds its answers in flight; None if it has no such setting.
    throttles
        Its settings, by their names.
    """

    name: str
    limit: Callable[[int], Words] | None
    throttles: Mapping[str, Throttle] = field(default_factory=dict)


def at_once(count: int, _: Resolved) -> Bound:
    """Bound the answers that are in flight."""
    return Bound(at_once=count)


def answer(size: int, _: Resolved) -> Bound:
    """Bound the bytes that one server sends for a request."""
    return Bound(answer=size)


def window(size: int, _: Resolved) -> Bound:
    """Bound the bytes of a connection that are in flight."""
    return Bound(window=size)


def nothing(_: int, __: Resolved) -> Bound:
    """Limit nothing that a scenario contains."""
    return Bound()
