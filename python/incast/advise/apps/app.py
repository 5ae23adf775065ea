"""An application, and what its throttles mean for the fan-in and the bytes per server."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from incast import units
from incast.advise.words import Words
from incast.scenario.resolved import Resolved


@dataclass(frozen=True)
class Bound:
    """The limits that a setting implies. A limit is None if the setting does not imply it.

    Parameters
    ----------
    at_once
        Maximum number of answers in flight.
    answer
        Maximum number of bytes that one server sends for a request.
    window
        Maximum number of bytes in flight per connection.
    """

    at_once: int | None = None
    answer: int | None = None
    window: int | None = None

    def changes(self, here: Resolved) -> dict[str, object]:
        """Return the new values of a scenario's keys; a value below its limit does not change."""
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
        """Return a phrase that says what the limits change."""
        changes = self.changes(here)
        said = []
        if "transport.remedies" in changes:
            said.append(f"at most {units.plural(self.at_once or 0, 'answer')} in flight")
        if "workload.sru" in changes:
            said.append(f"answers of {units.size(self.answer or 0)}")
        if "transport.receive_window" in changes:
            said.append(f"windows of {units.size(self.window or 0)}")
        return ", ".join(said) or "nothing in the scenario changes"


@dataclass(frozen=True)
class Throttle:
    """A setting that bounds how much is requested at a time.

    Parameters
    ----------
    means
        A phrase that says what the setting means for a read.
    bound
        A function that returns the limits for a value of the setting and a scenario.
    """

    means: str
    bound: Callable[[int, Resolved], Bound]


@dataclass(frozen=True)
class App:
    """An application.

    Parameters
    ----------
    name
        The name of the application.
    limit
        A function that returns how to limit the answers in flight to a number; None if the
        application cannot limit them.
    throttles
        The settings of the application, by their names.
    """

    name: str
    limit: Callable[[int], Words] | None
    throttles: Mapping[str, Throttle] = field(default_factory=dict)


def at_once(count: int, _: Resolved) -> Bound:
    """Bound the number of answers in flight."""
    return Bound(at_once=count)


def answer(size: int, _: Resolved) -> Bound:
    """Bound the bytes that one server sends for a request."""
    return Bound(answer=size)


def window(size: int, _: Resolved) -> Bound:
    """Bound the bytes in flight per connection."""
    return Bound(window=size)


def nothing(_: int, __: Resolved) -> Bound:
    """Return no limit, because no key of a scenario corresponds to the setting."""
    return Bound()
