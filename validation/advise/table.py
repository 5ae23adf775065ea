"""The exhaustive search: every fix of the catalogue, and every number of servers, at many seeds."""

import csv
from dataclasses import dataclass
from math import inf, nan

from incast import Scenario
from incast.advise.case import SERVERS, Case, case_of
from incast.advise.fixes import catalogue
from incast.advise.trials import BASE, GOODPUT, P99, Clock, Trials
from incast.results.compare import Finding
from validation.advise.draw import scenarios
from validation.common.places import REFERENCE

FIXES = REFERENCE / "advise" / "fixes.csv"
POINTS = REFERENCE / "advise" / "points.csv"
SEEDS = range(2001, 2017)
"""Seeds that advice does not use."""
POINT_SEEDS = range(2001, 2013)
_SLOWER = 1.01  # blocks are slower if the percentile is at least this many times as long
MOST_SERVERS = 96
"""The largest number of servers that is simulated."""


@dataclass(frozen=True)
class Row:
    """The results of one fix in one scenario.

    Parameters
    ----------
    fix
        Name of the fix; empty for the scenario without a fix.
    goodput, p99
        Mean goodput over the seeds in bit/s, and 99th percentile of all block times in seconds.
    slower, poorer
        Whether the slowest blocks are significantly slower, and the goodput significantly lower.
    """

    fix: str
    goodput: float
    p99: float
    slower: bool
    poorer: bool


def search(scenario: Scenario, jobs: int | None = None) -> list[Row]:
    """Simulate every fix in a scenario."""
    case = case_of(scenario)
    trials = Trials(case, jobs)
    names = [fix.name for fix in catalogue(case) if trials.add(fix.name, fix.changes, fix.pieces)]
    trials.run([BASE, *names], SEEDS, Clock(inf))
    return [_row(trials, name) for name in (BASE, *names)]


def _row(trials: Trials, name: str) -> Row:
    late, more = trials.compare(name, SEEDS, P99), trials.compare(name, SEEDS)
    return Row(
        name,
        trials.mean(name, SEEDS, GOODPUT) or 0.0,
        late.b if late is not None else nan,
        late is not None and late.finding is Finding.WORSE and late.b > _SLOWER * late.a,
        more is not None and more.finding is Finding.WORSE,
    )


def point(scenario: Scenario, jobs: int | None = None) -> int | None:
    """Return the fewest servers with which the mean over the seeds has collapsed."""
    case = case_of(scenario)
    trials = Trials(case, jobs)
    step = 8  # this many numbers of servers run together
    for start in range(2, MOST_SERVERS + 1, step):
        numbers = [n for n in range(start, start + step) if n <= MOST_SERVERS]
        for servers in numbers:
            trials.add(str(servers), {SERVERS: servers})
        trials.run(map(str, numbers), POINT_SEEDS, Clock(inf))
        for servers in numbers:
            told = trials.collapsed(str(servers), POINT_SEEDS)
            if told is not None and told[0]:
                return servers
    return None


def make(jobs: int | None = None) -> None:
    """Make the tables of fixes and of collapse points again."""
    FIXES.parent.mkdir(exist_ok=True)
    with FIXES.open("w", newline="") as fixes, POINTS.open("w", newline="") as points:
        every, first = csv.writer(fixes), csv.writer(points)
        every.writerow(["scenario", "fix", "goodput_bps", "p99_s", "slower", "poorer"])
        first.writerow(["scenario", "collapses_at"])
        for number, _, scenario in scenarios():
            for row in search(scenario, jobs):
                flags = (int(row.slower), int(row.poorer))
                every.writerow([number, row.fix, f"{row.goodput:.6g}", f"{row.p99:.6g}", *flags])
            first.writerow([number, point(scenario, jobs) or ""])
            fixes.flush()
            points.flush()


def read() -> tuple[dict[int, list[Row]], dict[int, int | None]]:
    """Return the stored tables; the keys are the numbers of scenarios."""
    rows: dict[int, list[Row]] = {}
    with FIXES.open(newline="") as file:
        for it in csv.DictReader(file):
            rows.setdefault(int(it["scenario"]), []).append(
                Row(
                    it["fix"],
                    float(it["goodput_bps"]),
                    float(it["p99_s"]),
                    it["slower"] == "1",
                    it["poorer"] == "1",
                )
            )
    with POINTS.open(newline="") as file:
        points = {
            int(it["scenario"]): int(it["collapses_at"]) if it["collapses_at"] else None
            for it in csv.DictReader(file)
        }
    return rows, points


def spot(case: Case, name: str) -> float:
    """Simulate a fix again; return its mean goodput."""
    trials = Trials(case)
    fixes = {fix.name: fix.changes for fix in catalogue(case)}
    if name:
        trials.add(name, fixes[name])
    trials.run([name], SEEDS, Clock(inf))
    return trials.mean(name, SEEDS, GOODPUT) or 0.0
