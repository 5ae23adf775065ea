"""The case: one point of the user's scenario, shortened so that it can run hundreds of times."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from incast import _core, units
from incast.advise.apps.app import App
from incast.scenario import Scenario
from incast.scenario.override import apply
from incast.scenario.plain import check
from incast.scenario.plan import Point
from incast.scenario.resolved import Resolved
from incast.sweep.work import packets

SERVERS = "workload.servers"
MOST_PACKETS = (
    20_000  # data packets of a run, approximately; more seeds are better than longer runs
)
GROWN = 10  # blocks after which the windows of persistent connections have grown
LEAST_BLOCKS = {"fresh": 1, "persistent": GROWN}
_SCHEDULES = {"batching", "staggering", "ccs", "nccs", "ocs"}
_LONGEST_FLOWS_S = 1.0  # simulated time of long flows


@dataclass(frozen=True)
class Case:
    """The scenario that advice is for.

    Parameters
    ----------
    scenario
        A scenario of one point.
    notes
        Sentences on what was changed in the scenario, or assumed.
    app
        The application, if it is known.
    """

    scenario: Scenario
    notes: tuple[str, ...] = ()
    app: App | None = None
    point: Point = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "point", self.scenario.plan.points[0])

    @cached_property
    def here(self) -> Resolved:
        """The resolved quantities of the case."""
        return self.point.here

    @property
    def reads(self) -> bool:
        """Whether one client reads blocks. Fixes of the application need such a read."""
        return self.here.reads

    @property
    def room(self) -> int:
        """The number of packets that fit into the path and the buffer together."""
        return self.here.buffer_packets + self.here.round_trip_packets

    @property
    def others(self) -> list[Any]:
        """The remedies of the case, except those that schedule requests; a fix replaces these."""
        given: list[Any] = self.here.tree["transport"]["remedies"]
        return [one for one in given if one["name"] not in _SCHEDULES]

    @property
    def at_once(self) -> int:
        """The largest number of servers that answer at a time."""
        given = self.here.tree["transport"]["remedies"]
        bounds = [one["n"] for one in given if one["name"] == "batching"]
        return min([self.here.servers, *(n for n in bounds if isinstance(n, int))])

    @property
    def transport(self) -> dict[str, Any]:
        """The resolved table `transport` of the case."""
        tree: dict[str, Any] = self.here.tree["transport"]
        return tree

    def buffer_times(self, factor: float) -> object:
        """Return the value of `network.buffer` for a buffer that is `factor` times as large."""
        here, given = self.here, self.here.tree["network"]["buffer"]
        if here.dynamic is not None:
            total = round(here.dynamic[0] * factor)
            return dict(given, total=f"{total}pkt" if here.counts_packets else f"{total}B")
        size = max(round(here.buffer_packets * factor), 1)
        text = f"{size}pkt" if here.counts_packets else f"{round(here.buffer_bytes * factor)}B"
        return dict(given, limit=text) if isinstance(given, dict) else text

    def changed(self, changes: Mapping[str, object]) -> Scenario:
        """Return the scenario with new values of some keys; the value None removes a key.

        Raises
        ------
        ScenarioError
            The changed scenario is not valid.
        """
        document = copy.deepcopy(self.scenario.document)
        for key, value in changes.items():
            if value is None:
                _remove(document, key)
            else:
                check(value, key)
                apply(document, key, value)
        return replace(self.scenario, document=document)


def case_of(scenario: Scenario, app: App | None = None, notes: Sequence[str] = ()) -> Case:
    """Return the case of a scenario: one point, with runs that are not too long.

    Raises
    ------
    ScenarioError
        The scenario is not valid, or sweeps a key other than the number of servers.
    """
    notes = list(notes)
    for point in scenario.plan.points:
        if why := point.here.other_family("advice"):
            raise scenario.error(_core.ScenarioError(why))
    swept = scenario.plan.swept
    for key in swept:
        if key != SERVERS:
            raise scenario.error(
                _core.ScenarioError(
                    f"{key}: advice needs one value, not a sweep; add --set {key}=…"
                )
            )
    if swept:
        most = max(int(point.swept[SERVERS]) for point in scenario.plan.points)
        scenario = scenario.override(SERVERS, most)
        notes.append(f"The advice is for the largest number of servers in the sweep, {most}.")
    return _uneven(_young(_shortened(Case(scenario, tuple(notes), app))))


def _young(case: Case) -> Case:
    """Return the case, with a note if connections are persistent but blocks are few."""
    blocks = case.here.workload.get("blocks") if case.reads else None
    if blocks is None or int(blocks) >= GROWN or case.here.fresh:
        return case
    note = (
        f"Connections are kept, and their windows grow from block to block, so the answer is for "
        f"the first {units.plural(int(blocks), 'block')} only. Set workload.blocks to {GROWN} or "
        "more for an answer with grown windows."
    )
    return Case(case.scenario, (*case.notes, note), case.app)


def _uneven(case: Case) -> Case:
    """Return the case; if it has no randomness, spread its requests over the time of a packet.

    Otherwise all seeds would give the same result, and the intervals would be meaningless.
    """
    here = case.here
    chance = [
        here.request_jitter,
        here.lateness,
        here.send_jitter,
        here.facts["interval_s"] or 0.0,
    ]
    if not case.reads or any(chance) or here.tree["background"]:
        return case
    gap = f"{max(here.packet * 8e9 / here.line_rate, 1):.0f}ns"
    apart = units.time(here.packet * 8 / here.line_rate)
    note = (
        f"Requests are sent up to {apart} apart (the time of one packet), because the scenario has "
        "no randomness."
    )
    changed = case.changed({"workload.request_jitter": gap})
    return Case(changed, (*case.notes, note), case.app)


def _shortened(case: Case) -> Case:
    """Return the case with fewer blocks, or less time, per run."""
    here, workload = case.here, case.here.workload
    if len(here.workloads) > 1 or packets(here) <= MOST_PACKETS:
        return case
    share = MOST_PACKETS / packets(here)
    if here.reads:
        per_block = max(here.block_packets, 1)
        blocks = max(MOST_PACKETS // per_block, LEAST_BLOCKS[workload["connections"]])
        given = workload.get("blocks")
        if given is not None and blocks >= int(given):
            return case
        changes: dict[str, object] = {"workload.duration": None, "workload.blocks": blocks}
        said = f"Each run has {units.plural(blocks, 'block')}, fewer"
    elif workload.get("duration") is not None:
        seconds = max(min(float(here.facts["duration_s"] or 0) * share, _LONGEST_FLOWS_S), 0.05)
        changes = {"workload.duration": f"{seconds:.6g}s"}
        said = f"Each run simulates {units.time(seconds)}, less"
    else:
        return case
    note = f"{said} than in the scenario. There are more seeds instead."
    return Case(case.changed(changes), (*case.notes, note), case.app)


def _remove(document: dict[str, Any], key: str) -> None:
    """Remove a dotted key from a document, if the document has the key."""
    *path, last = key.split(".")
    place: Any = document
    for step in path:
        if not isinstance(place, dict) or step not in place:
            return
        place = place[step]
    if isinstance(place, dict):
        place.pop(last, None)
