"""Make a foreign capture, and write it together with its truth."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

from validation.captures.foreign import (
    documents,
    files,
    incomplete,
    links,
    made,
    real,
    services,
    stacks,
    troubles,
    windows,
)
from validation.captures.foreign.cases import SERVICES, SIMULATED, WINDOWS
from validation.captures.foreign.witness import Witnesses

if TYPE_CHECKING:
    from pathlib import Path

    from validation.captures.foreign.cases import Foreign
    from validation.captures.foreign.made import Made

_ENOUGH, _STEADY = 10, 30  # lost packets that reveal a trouble, and a policer
_PAUSE = 0.01  # minimum seconds of a pause by the receiver; every read makes shorter pauses
# The places that show a trouble; at other places it cannot be proven.
_SHOWN = {
    "bad_link": ("client", "switch"),
    "policer": ("client", "switch"),
    "path": ("client", "switch"),
    "mtu_black_hole": ("switch", "server:0"),
    "outage": ("client", "switch"),
    "lost_acks": ("client", "switch"),
}

SHARED = ("policer-for-all", "host-drops")
"""Kinds in which several servers answer at once, and a shared policer or the host's ring drops
packets.

Packets do not show whether a policer, the ring or the switch dropped them. So these captures count
neither as incast nor as controls, and only the look-alike is judged."""


def make(case: Foreign, directory: Path) -> list[Path]:
    """Write the captures of a case, and the truth of each; return the captures' files."""
    return real.make(case, directory) if case.family == "kernel" else [_one(case, directory)]


def _one(case: Foreign, directory: Path) -> Path:
    """Write a capture; for a tunnel, also write the same packets without the tunnel."""
    random = Random(case.name)
    got = _made(case, random)
    form = files.Form(
        case.kind if case.family == "tunnel" else "ethernet",
        random.choice((192, 256, 1600)),
        nanoseconds=random.random() < 0.5,
        order=random.choice("<>"),
    )
    complete, gone = True, ""
    # Losses are found in the packets before the change; if it removes packets, in the kept packets.
    witnesses = Witnesses(got.packets, counted=got.counted, complete=True)
    if case.family == "incomplete":
        kept = incomplete.CHANGES[case.kind](got.packets, random)
        complete = case.kind in incomplete.WHOLE
        if not complete:
            witnesses = Witnesses(kept, counted=False, complete=False)
        gone = incomplete.NAMES[case.kind]
        if gone == "capture_drops" and not incomplete.shown(got.packets, kept):
            gone = ""
        if gone == "filtered" and all(one in kept for one in got.packets if one.length):
            gone = "data_only"
        got.packets, got.quiet = kept, False
        if case.kind == "two-devices":
            form = files.Form("sll2", form.snaplen, form.nanoseconds, form.order)
    path = directory / f"{case.name}.pcap"
    files.write(got.packets, path, form)
    told = _told(case, got, witnesses, complete=complete, gone=gone)
    told |= {"file": path.name, "snaplen": form.snaplen, "link": form.link}
    if case.family == "tunnel":
        plain = directory / f"{case.name}.plain"
        files.write(got.packets, plain, files.Form(snaplen=form.snaplen))
        told |= {"plain": plain.name, "tunnel": case.kind if case.kind in links.TUNNELS else None}
    path.with_suffix(".json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return path


def _made(case: Foreign, random: Random) -> Made:
    """Return the packets of a case, before any change of the file."""
    place = random.choice(("client", "client", "switch", "server:0"))
    policy = case.kind if case.family == "identification" else random.choice(stacks.POLICIES)
    if case.incast:
        place = place if random.random() < 0.3 else random.choice(("client", "switch"))
        few = case.family == "small-window"
        document = (documents.small_windows if few else documents.incast)(random)
        return made.simulated(document, place, policy, random)
    if case.family == "trouble" and case.kind in SIMULATED:
        document = (documents.marked if case.kind == "marked" else documents.bad_link)(random)
        return made.simulated(document, place, policy, random)
    if case.family == "trouble":
        return _trouble(case.kind, place, policy, random)
    if case.family == "window":
        return _window(case.kind, place, policy, random)
    if case.family in ("identification", "incomplete") and case.number % 4 == 0:
        return made.simulated(documents.healthy(random), place, policy, random)
    kind = case.kind if case.family == "service" else random.choice(tuple(SERVICES))
    build = getattr(services, kind.replace("-", "_"))
    trip = random.choice((1e-4, 1e-3, 4e-3)) if kind == "nagle" else None
    got = made.hosted(build, place, random, servers=stacks.drawn(random, policy), trip=trip)
    if case.family == "service" and (found := SERVICES[kind]) is not None:
        got.found.append(found)
    return got


def _window(kind: str, place: str, policy: str, random: Random) -> Made:
    got = made.hosted(
        getattr(windows, kind.replace("-", "_")),
        place,
        random,
        servers=stacks.drawn(random, policy),
        trip=random.choice((2e-3, 5e-3, 2e-2)),
    )
    name = WINDOWS[kind]
    if name != "receiver_paused" or max(got.pauses, default=0.0) >= _PAUSE:
        got.found.append(name)
    return got


def _trouble(kind: str, place: str, policy: str, random: Random) -> Made:
    got = made.hosted(
        getattr(troubles, kind.replace("-", "_")),
        place,
        random,
        servers=stacks.drawn(random, policy),
        trip=random.choice((1e-4, 1e-3, 4e-3)),
        rate=random.choice((1e8, 1e9)),
    )
    name = {"policer-for-all": "policer"}.get(kind, kind.replace("-", "_"))
    enough = got.told["lost"].get(name, 0) >= (_STEADY if name == "policer" else _ENOUGH)
    if name == "lost_acks":
        enough = got.told["repeats"] > 0
    if got.told["lost"].get(name) and (enough or name != "lost_acks"):
        (got.found if enough and place in _SHOWN.get(name, ()) else got.present).append(name)
    return got


def _told(
    case: Foreign, got: Made, witnesses: Witnesses, *, complete: bool, gone: str
) -> dict[str, Any]:
    """Return the truth. Stalls and episodes that the file does not show are marked as in doubt."""
    stalls, episodes = got.told.get("stalls", []), got.told.get("episodes", [])
    for stall in stalls:
        stall["in_doubt"] |= not witnesses.of_stall(stall) or gone != ""
    for one in episodes:
        shown = [witnesses.of(host, one["start"], one["end"]) for host in one["stalled"]]
        one["in_doubt"] = not any(shown)
    if not case.incast:
        episodes = []
    proven = any(not one["in_doubt"] for one in episodes)
    return {
        "corpus": "foreign",
        "scenario": case.name,
        "family": case.family,
        "kind": case.kind,
        "source": got.source,
        "vantage": got.place,
        "servers": got.servers,
        "control": not case.incast and case.kind not in SHARED,
        "shared": case.kind in SHARED,
        "proven": proven,
        "complete": complete,
        "quiet": got.quiet,
        "lost": got.told.get("lost"),
        "episodes": episodes,
        "stalls": stalls,
        "other_waits": got.told.get("other_waits", []),
        "found": got.found,
        "present": got.present,
        "incomplete": gone,
        "pauses": got.pauses,
        "stopped": got.stopped,
        "to_end": got.to_end,
    }
