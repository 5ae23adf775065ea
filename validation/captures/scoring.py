"""Count right and wrong statements in diagnoses, and compare the counts with criteria."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from incast.diagnose import diagnose
from validation.captures.truth import FEWEST

if TYPE_CHECKING:
    from pathlib import Path

LOOK_ALIKES = {
    "bad-optic": "bad_link",
    "slow-server": "slow_server",
    "zero-window": "receiver_paused",
    "window-limited": "window_limited",
    "path": "path",
    "delayed-ack": "delayed_ack",
    "one-by-one": "one_by_one",
    "capture-drops": "capture_drops",
}
# Look-alikes that are visible only in the flows of several servers.
_OF_MANY = ("bad-optic", "path", "one-by-one")
# Causes that a place cannot show: at the client, premature timeouts and lost ACKs leave no trace.
_UNSEEN = {"client": ("spurious", "ack_loss"), "switch": (), "server": ()}
_MISSED = "not seen"
ARRIVED = ("spurious", "ack_loss")
_FAN_IN = 0.1
_SLACK = 0.3  # a timer's expiry and the reported end may differ by this share of the timer


@dataclass
class Score:
    """Numbers of right and wrong statements, summed over captures."""

    captures: int = 0
    episodes: Counter[str] = field(default_factory=Counter)
    causes: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    doubtful: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """Numbers by place, true cause and reported cause, of stalls that the place cannot decide."""
    controls: Counter[str] = field(default_factory=Counter)
    named: Counter[tuple[str, str]] = field(default_factory=Counter)
    counted: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Numbers of waits by place, and by whether the kernel counted or the report named the wait."""
    buffers: list[tuple[str, float]] = field(default_factory=list)
    """Place, and estimated divided by true buffer size, for each capture with episodes."""
    said: Counter[str] = field(default_factory=Counter)
    """Numbers of answers for captures with incast."""
    mistakes: list[tuple[int, str, str]] = field(default_factory=list)

    @property
    def f1(self) -> float:
        """The F1 score of episodes."""
        right, wrong = self.episodes["right"], self.episodes["false"] + self.episodes["missed"]
        return 2 * right / max(2 * right + wrong, 1)

    def causes_of(self, decided: bool) -> Counter[str]:
        """Count right, wrong, undecided and missed causes of decidable or undecidable stalls."""
        told: Counter[str] = Counter()
        for (_, cause, said), count in (self.causes if decided else self.doubtful).items():
            kind = {cause: "right", "cannot tell": "undecided", _MISSED: "missed"}
            told[kind.get(said, "wrong")] += count
        return told

    def share_named(self) -> tuple[int, int]:
        """Return the number of named look-alikes, and the number of all look-alikes."""
        right = sum(count for (_, said), count in self.named.items() if said == "found")
        return right, sum(self.named.values())


def judge(file: Path, score: Score) -> None:
    """Diagnose a capture, and count right and wrong statements."""
    truth = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
    report = diagnose([file])
    score.captures += 1
    place = truth["vantage"].partition(":")[0]
    wrong = Counter[str]()
    if place != "server":
        wrong += match_episodes(truth, report, score)
    if truth["source"] == "kernel":
        wrong += _counted(truth, report, place, score)
    else:
        wrong += match_causes(truth, report, place, score)
    if truth["episodes"] and place != "server":
        score.said[str(report["incast"])] += 1
        if truth["source"] == "simulator":
            buffer = 1024 * int(truth["document"]["network"]["buffer"].removesuffix("KiB"))
            estimate = report["parameters"]["buffer_bytes"] or 0.0
            score.buffers.append((place, estimate / buffer))
    if truth["family"] != "incast":
        said = str(report["incast"])
        score.controls[said] += 1
        wrong["incast in a control"] += report["incast"] is True
    name = LOOK_ALIKES.get(truth["family"])
    one_side = place == "server" or truth["servers"] < FEWEST
    if name is not None and not (one_side and truth["family"] in _OF_MANY):
        found = {one["name"]: one["found"] for one in report["look_alikes"]}.get(name)
        said = {True: "found", False: "ruled out", None: "cannot tell"}[found]
        score.named[truth["family"], said] += 1
        wrong[f"{name} {said}"] += found is not True
    if wrong := +wrong:
        told = ", ".join(f"{what} ({count})" for what, count in wrong.most_common())
        score.mistakes.append((sum(wrong.values()), file.name, told))


def match_episodes(truth: dict[str, Any], report: dict[str, Any], score: Score) -> Counter[str]:
    left = [
        {
            **one,
            "start": one["start_s"] + report["began_s"],
            "end": one["end_s"] + report["began_s"],
        }
        for one in report["episodes"]
    ]
    missed = 0
    for real in truth["episodes"]:
        same = next((one for one in left if _same(real, one)), None)
        if same is not None:
            left.remove(same)
        if real.get("in_doubt", False):
            continue  # nothing in the file shows the losses of this episode
        if same is None:
            missed += 1
        else:
            score.episodes["right"] += 1
    score.episodes["missed"] += missed
    score.episodes["false"] += len(left)
    return Counter({"episodes missed": missed, "false episodes": len(left)})


def _same(real: dict[str, Any], told: dict[str, Any]) -> bool:
    """Whether the receivers are the same, at least half of the time overlaps, and fan-ins agree."""
    both = min(real["end"], told["end"]) - max(real["start"], told["start"])
    longer = max(real["end"] - real["start"], told["end"] - told["start"])
    near = abs(real["fan_in"] - told["fan_in"]) <= _FAN_IN * real["fan_in"]
    return bool(real["receiver"] == told["receiver"] and both >= 0.5 * longer and near)


def match_causes(
    truth: dict[str, Any], report: dict[str, Any], place: str, score: Score
) -> Counter[str]:
    wrong = Counter[str]()
    told = [
        {**one, "end": one["start_s"] + one["duration_s"] + report["began_s"]}
        for one in report["stalls"]
    ]
    for real in truth["stalls"]:
        if not real["visible"] or real["server"] not in _seen_servers(truth, report):
            continue
        sender = f"{_host(real['server'])}:{real['ports'][0]}"
        own = [one for one in told if sender in one["flow"].split(" > ")]
        near = [
            one
            for one in own
            if abs(one["end"] - real["expired"]) <= _SLACK * real["rto"] + 0.002
            or abs(one["end"] - real["start"] - real["duration"]) < 1e-5
        ]
        best = min(
            near,
            key=lambda one: (not one["flow"].startswith(sender), abs(one["end"] - real["expired"])),
            default=None,
        )
        said = _MISSED if best is None else best["cause"] or "cannot tell"
        if best is not None:
            told.remove(best)
        doubtful = real["in_doubt"] or real["cause"] in _UNSEEN[place]
        (score.doubtful if doubtful else score.causes)[place, real["cause"], said] += 1
        if said != real["cause"] and not doubtful:
            wrong[f"{real['cause']} as {said}"] += 1
    return wrong


def _counted(
    truth: dict[str, Any], report: dict[str, Any], place: str, score: Score
) -> Counter[str]:
    """Compare the reported waits of each server and block with the kernel's counters."""
    wrong = Counter[str]()
    for real in truth["stalls"]:
        if place == "server" and real["server"] != truth["server"]:
            continue
        told = sum(
            real["start"] <= one["start_s"] + report["began_s"] <= real["end"]
            for one in report["stalls"]
            if one["flow"].startswith(f"{real['server']}:") and one["cause"] not in ARRIVED
        )
        counted = real["repairs"]
        score.counted[place, "seen"] += min(told, counted)
        score.counted[place, _MISSED] += max(counted - told, 0)
        score.counted[place, "more"] += max(told - counted, 0)
        wrong[f"wait {_MISSED}"] += max(counted - told, 0)
    return wrong


def _seen_servers(truth: dict[str, Any], report: dict[str, Any]) -> set[str]:
    """Return the servers whose stalls this place can show; at a server, only this server."""
    servers = {one["server"] for one in truth["stalls"]}
    if not truth["vantage"].startswith("server"):
        return servers
    flows = " ".join(one["flow"] for one in report["stalls"])
    return {server for server in servers if f"{_host(server)}:" in flows}


def _host(address: str) -> str:
    """Return an address in the form that a report writes before a port."""
    return f"[{address}]" if ":" in address else address


@dataclass(frozen=True)
class Criterion:
    """A number that must not be less than a limit."""

    what: str
    value: float
    least: float
    told: str

    def __str__(self) -> str:
        kept = "holds" if self.value >= self.least else "FAILS"
        return f"{kept}  {self.what}: {self.value:.3f} (must be {self.least}); {self.told}"


def criteria(score: Score) -> list[Criterion]:
    """Return the criteria of the diagnosis."""
    decided, other = score.causes_of(True), score.causes_of(False)
    named, most = score.share_named()
    uses = decided["undecided"] + other["undecided"]
    judged = decided["right"] + decided["wrong"]
    quiet = score.controls.total() - score.controls["True"]
    return [
        Criterion("episodes, F1", score.f1, 0.95, _counts(score.episodes)),
        Criterion("causes right", decided["right"] / max(judged, 1), 0.9, f"{judged} decided"),
        Criterion(
            "stalls decided", judged / max(decided.total(), 1), 0.9, _counts(decided)
        ),
        Criterion(
            "controls without false incast", quiet / max(score.controls.total(), 1), 0.99,
            f"{score.controls.total()} controls",
        ),
        Criterion("cannot tell, right", other["undecided"] / max(uses, 1), 0.95, f"{uses} uses"),
        Criterion("look-alikes named", named / max(most, 1), 0.85, f"{named} of {most}"),
    ]  # fmt: skip


def _counts(told: Counter[str]) -> str:
    return ", ".join(f"{count} {what}" for what, count in told.most_common())
