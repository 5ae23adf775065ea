"""Judge the diagnosis of foreign captures, by the criteria for our captures and further ones."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from incast.diagnose import diagnose
from validation.captures import scoring
from validation.captures.scoring import Criterion

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CONTROLS = 600
"""Minimum number of controls in a held-out half."""
_NEAR, _LATE = 0.1, 0.03  # tolerance of a reported pause: this share, plus these seconds
_PER_CENT, _ONE = 0.15, 1  # tolerance of a count of timeouts: this share, but at least this number
_TIME = re.compile(r"(\d+(?:\.\d+)?) ?(ms|s|µs)\b")
_TUNNELS = {
    "vxlan": "vxlan",
    "geneve": "geneve",
    "gre": "gre",
    "erspan1": "erspan",
    "erspan2": "erspan",
    "erspan3": "erspan",
    "ipip": "ip in ip",
}
_UNITS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6}


@dataclass
class Score(scoring.Score):
    """Numbers of right and wrong statements: most counters have the keys True and False."""

    present: Counter[bool] = field(default_factory=Counter)
    """True if a look-alike that is present was not ruled out."""
    incomplete: Counter[bool] = field(default_factory=Counter)
    """True if the report names the defect of an incomplete file."""
    doubted: Counter[bool] = field(default_factory=Counter)
    """True if the answer for an incomplete file is `None`, a proven yes, or a right no."""
    pauses: Counter[bool] = field(default_factory=Counter)
    tunnels: Counter[bool] = field(default_factory=Counter)
    same: Counter[bool] = field(default_factory=Counter)
    """True if the verdict is the same with and without the tunnel."""
    invented: Counter[bool] = field(default_factory=Counter)
    """True if no stall has a cause, in a capture in which nothing was lost."""
    timeouts: Counter[bool] = field(default_factory=Counter)
    """True if the count of timeouts is near the kernel's count."""
    verdicts: dict[tuple[str, str, bool], Counter[str]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    """Answers, by family, kind and whether there is incast."""
    wrong: Counter[tuple[str, str, bool]] = field(default_factory=Counter)
    """Number of captures with a mistake, by family, kind and whether there is incast."""


def judge(file: Path, score: Score) -> None:
    """Diagnose a capture, and count right and wrong statements."""
    truth = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
    report: dict[str, Any] = diagnose([file])
    wrong = Counter(_mistakes(file, truth, report, score))
    group = (truth["family"], truth["kind"], not truth["control"])
    score.captures += 1
    score.verdicts[group][str(report["incast"])] += 1
    if wrong := +wrong:
        score.wrong[group] += 1
        told = ", ".join(f"{what} ({count})" for what, count in wrong.most_common())
        score.mistakes.append((wrong.total(), file.name, told))


def _mistakes(
    file: Path, truth: dict[str, Any], report: dict[str, Any], score: Score
) -> Iterator[str]:
    place = truth["vantage"].partition(":")[0]
    if truth["control"]:
        score.controls[str(report["incast"])] += 1
        if report["incast"] is True:
            yield "incast in a control"
    elif truth["incomplete"]:
        said = report["incast"]
        right = said is None or (truth["proven"] if said else not truth["episodes"])
        score.doubted[right] += 1
        if not right:
            yield f"incast of an incomplete file {report['incast']}"
    elif place != "server" and truth["proven"]:
        score.said[str(report["incast"])] += 1
    if truth["source"] == "kernel":
        yield from _counted(truth, report, place, score)
    elif truth["complete"] and not truth["incomplete"]:
        if place != "server" and not truth.get("shared"):
            yield from scoring.match_episodes(truth, report, score).elements()
        yield from scoring.match_causes(truth, report, place, score).elements()
    if truth["quiet"]:
        causes = Counter(str(one["cause"]) for one in report["stalls"] if one["cause"])
        score.invented[not causes] += 1
        yield from (f"invented {cause}" for cause in causes.elements())
    yield from _look_alikes(truth, report, score)
    if truth["incomplete"]:
        named = truth["incomplete"] in report.get("incomplete", ())
        score.incomplete[named] += 1
        if not named:
            yield f"{truth['incomplete']} not named"
    if "plain" in truth:
        yield from _tunnel(file.with_name(truth["plain"]), truth, report, score)


def _counted(
    truth: dict[str, Any], report: dict[str, Any], place: str, score: Score
) -> Iterator[str]:
    """Compare the number of waits with the sum of the counters of all servers' kernels.

    A wait without a reported cause may be a wait for a loss, so the number of waits is a range.
    """
    sure = sum(one["cause"] not in (None, *scoring.ARRIVED) for one in report["stalls"])
    told = sure + sum(one["cause"] is None for one in report["stalls"])
    if place != "server" and not truth["incomplete"] and truth["timeouts"] is not None:
        least, most = truth["timeouts"]
        off = max(least - told, sure - most)
        near = off <= max(_ONE, _PER_CENT * most)
        score.timeouts[near] += 1
        if not near:
            yield f"{sure} to {told} waits instead of {least} to {most}"
    if place != "server" and not truth["incomplete"]:
        yield from scoring.match_episodes(truth, report, score).elements()


def _look_alikes(truth: dict[str, Any], report: dict[str, Any], score: Score) -> Iterator[str]:
    told = {one["name"]: one for one in report["look_alikes"]}
    found = {name: one["found"] for name, one in told.items()}
    said = {True: "found", False: "ruled out", None: "cannot tell"}
    for name in truth["found"]:
        score.named[name, said[found.get(name)]] += 1
        if found.get(name) is not True:
            yield f"{name} {said[found.get(name)]}"
    for name in truth["found"] + truth["present"]:
        score.present[found.get(name) is not False] += 1
        if name in truth["present"] and found.get(name) is False:
            yield f"{name} ruled out"
    if truth["pauses"]:
        pauses = list(zip(truth["pauses"], truth["stopped"], strict=True))
        longest, stopped = pauses[-1] if truth["to_end"] else max(pauses)
        why = str(told.get("receiver_paused", {}).get("why", ""))
        lengths = [float(number) * _UNITS[unit] for number, unit in _TIME.findall(why)]
        # The sender waits for an unknown part of the time before the window becomes small.
        least, most = (1 - _NEAR) * longest - _LATE, (1 + _NEAR) * stopped + _LATE
        right = any(least <= one <= most for one in lengths)
        right &= found.get("receiver_paused") is True
        score.pauses[right] += 1
        if not right:
            yield f"pause of {longest:.3f} s not told"


def _tunnel(
    plain: Path, truth: dict[str, Any], report: dict[str, Any], score: Score
) -> Iterator[str]:
    """Compare the reports on the same packets with and without the tunnel."""
    other: dict[str, Any] = diagnose([plain])
    if truth["tunnel"] is not None:
        kinds = [str(one["kind"]).lower() for one in report.get("tunnels", ())]
        named = any(kind.startswith(_TUNNELS[truth["tunnel"]]) for kind in kinds)
        score.tunnels[named] += 1
        if not named:
            yield f"{truth['tunnel']} not named"
    same = _gist(report) == _gist(other)
    score.same[same] += 1
    if not same:
        yield "not the same verdict as without the tunnel"


def _gist(report: dict[str, Any]) -> tuple[object, ...]:
    causes = sorted(str(one["cause"]) for one in report["stalls"])
    found = [(one["name"], one["found"]) for one in report["look_alikes"]]
    return report["incast"], len(report["episodes"]), causes, found, report["packets"]


def criteria(score: Score) -> list[Criterion]:
    """Return the criteria of foreign captures."""
    told = {one.what: one for one in scoring.criteria(score)}
    quiet = told["controls without false incast"]
    told[quiet.what] = Criterion(quiet.what, quiet.value, 1.0, quiet.told)
    asked = (
        ("look-alikes present, not ruled out", score.present, 1.0),
        ("no cause reported where nothing was lost", score.invented, 0.99),
        ("incomplete files named", score.incomplete, 0.95),
        ("incomplete files: incast left open, or judged correctly", score.doubted, 0.95),
        ("pauses of receivers, with their length", score.pauses, 0.9),
        ("tunnels named", score.tunnels, 1.0),
        ("tunnels: the same verdict as without the tunnel", score.same, 1.0),
        ("counts of timeouts near those of the kernel", score.timeouts, 0.9),
    )
    more = [
        Criterion(what, right[True] / right.total(), least, f"{right[True]} of {right.total()}")
        for what, right, least in asked
        if right
    ]
    return [*told.values(), *more]


def by_kind(score: Score) -> list[str]:
    """Return a table with one line per kind: captures, answers, and captures with a mistake."""
    rows = [
        "| Family | kind | incast | captures | reported | denied | left open | with a mistake |",
        "| :-- | :-- | :-- | --: | --: | --: | --: | --: |",
    ]
    for group, said in score.verdicts.items():
        family, kind, incast = group
        counts = (said.total(), said["True"], said["False"], said["None"], score.wrong[group])
        told = " | ".join(str(count) for count in counts)
        rows.append(f"| {family} | {kind} | {'yes' if incast else 'no'} | {told} |")
    return rows
