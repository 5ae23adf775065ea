"""The search for advice, with formulas instead of runs: knee, rounds, gains and order."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

import incast
from incast.advise import quiet as calm
from incast.advise import search as searching
from incast.advise import trials as trying
from incast.advise.case import Case, case_of
from incast.advise.envelope import Word, envelope_of
from incast.advise.fixes import Fix, Who, catalogue
from incast.advise.goal import Goal
from incast.advise.knee import Knee, _between, _ladder, knee
from incast.advise.pieces import joined, of_whole
from incast.advise.search import FRESH, ROUNDS, Advised, Found, Gain, Search, Tried, rounds
from incast.advise.trials import BASE, GOODPUT, Clock, TimeUp
from incast.results.compare import Compared, Finding

READ: dict[str, Any] = {
    "network": {"rate": "1Gbps", "delay": "25us", "buffer": "64KiB"},
    "workload": {"servers": 16, "sru": "64KiB", "blocks": 2, "request_jitter": "20us"},
    "transport": {"name": "newreno"},
}


def case(**changes: Any) -> Case:
    scenario = incast.load(READ)
    for key, value in changes.items():
        scenario = scenario.override(key.replace("__", "."), value)
    return case_of(scenario)


class Formula:
    """Trials whose collapse is a formula of the number of servers."""

    def __init__(self, share: Callable[[int], float]) -> None:
        self.share = share
        self.points: dict[str, int] = {}
        self.ran: list[tuple[list[int], int]] = []

    def add(self, name: str, changes: dict[str, int]) -> bool:
        self.points[name] = changes["workload.servers"]
        return True

    def run(self, names: Iterable[str], seeds: Sequence[int], clock: Clock) -> None:
        clock.look()
        self.ran.append(([self.points[name] for name in names], len(seeds)))

    def collapsed(self, name: str, seeds: Sequence[int]) -> tuple[bool, float]:
        share = self.share(self.points[name])
        return share >= 0.5, share


def hunted(servers: int, share: Callable[[int], float]) -> tuple[Knee, Formula]:
    trials: Any = Formula(share)
    found = knee(case(workload__servers=servers), trials, Clock(float("inf")))
    assert found is not None
    return found, trials


def at(servers: int) -> Callable[[int], float]:
    """Return a formula: from this number of servers on, all seeds collapse."""
    return lambda n: float(n >= servers)


@pytest.mark.parametrize(
    ("servers", "collapses", "low", "high"),
    [
        (16, 10, 9, 10),
        (16, 16, 15, 16),
        (16, 17, 16, 17),
        (4, 2, 1, 2),
        (8, 30, 27, 30),  # bisected from 24 and 30
        (100, 90, 84, 94),  # bisected from 75 and 94
        (64, 33, 30, 34),  # bisected from 30 and 38
    ],
)
def test_the_knee_is_found_closely(servers: int, collapses: int, low: int, high: int) -> None:
    found, trials = hunted(servers, at(collapses))
    assert found.servers == servers
    assert found.low < collapses
    assert found.high is not None
    assert collapses <= found.high
    assert found.high - found.low <= max(1, 0.12 * found.high)
    assert (found.low, found.high) == (low, high)
    tried = {n: seeds for numbers, seeds in trials.ran for n in numbers}
    assert all(tried[n] == 12 for n in range(2, found.low + 1)), "also all below it"


def test_the_search_looks_up_to_four_times_as_far() -> None:
    found, trials = hunted(16, at(1000))
    assert (found.low, found.high, found.most, found.seeds) == (64, None, 64, 12)
    assert trials.ran[0] == ([2, 3, 4, 5, 6, 8, 10, 12, 15, 16], 6)
    assert [numbers for numbers, _ in trials.ran[1:7]] == [[19], [24], [30], [38], [48], [60]]
    assert max(max(numbers) for numbers, _ in trials.ran) == 64
    assert max(len(numbers) for numbers, _ in trials.ran[8:]) == 8
    few, _ = hunted(3, at(1000))
    assert few.most == 16
    many, _ = hunted(100, at(1000))
    assert many.most == 256
    assert hunted(300, at(1000))[0].most == 300


def test_a_knee_needs_three_of_four_seeds() -> None:
    some, _ = hunted(8, lambda n: 0.74 if n >= 6 else 0.0)
    assert (some.low, some.high) == (5, None)
    sure, _ = hunted(8, lambda n: 0.75 if n >= 6 else 0.0)
    assert (sure.low, sure.high) == (5, 6)


def test_a_number_that_collapses_below_others_counts() -> None:
    """A read may collapse with 7 servers, but not with 8; the smallest such number is the knee."""
    found, _ = hunted(16, lambda n: float(n in (7, 16)))
    assert (found.low, found.high) == (6, 7)


def test_without_blocks_or_with_few_active_servers_there_is_no_knee() -> None:
    trials: Any = Formula(at(2))
    clock = Clock(float("inf"))
    assert knee(case(workload__active=4), trials, clock) is None
    flows = {"name": "long-flows", "servers": 4, "duration": "50ms"}
    of_flows = case_of(incast.load(READ | {"workload": flows}))
    assert knee(of_flows, trials, clock) is None
    assert trials.ran == []


def test_without_time_there_is_no_knee() -> None:
    trials: Any = Formula(at(2))
    assert knee(case(), trials, Clock(0.0)) is None


@pytest.mark.parametrize(
    ("low", "high", "middle"),
    [(2, 3, []), (2, 4, [3]), (5, 8, [6]), (6, 9, [7]), (9, 10, []), (10, 20, [15]),
     (88, 100, []), (87, 100, [93]), (0, 2, [1])],
)  # fmt: skip
def test_the_middle_of_two_numbers_that_are_apart(low: int, high: int, middle: list[int]) -> None:
    assert list(_between(low, high)) == middle


def test_a_ladder_has_steps_of_a_quarter() -> None:
    assert _ladder(2) == [2]
    assert _ladder(9) == [2, 3, 4, 5, 6, 8, 9]
    assert _ladder(40) == [2, 3, 4, 5, 6, 8, 10, 12, 15, 19, 24, 30, 38, 40]


@pytest.mark.parametrize(
    ("servers", "low", "high", "most", "text"),
    [
        (4, 16, None, 16, "No collapse up to 16 servers, the largest number tried ({})."),
        (4, 12, None, 16, (
            "No collapse up to 12 servers; between 12 and 16, some seeds collapse ({}); you have 4."
        )),
        (10, 8, 10, 16, "Collapses between 8 and 10 servers ({}); you have 10."),
        (9, 8, 10, 16, (
            "Collapses between 8 and 10 servers ({}); you have 9, in the uncertain range."
        )),
        (8, 8, 10, 16, (
            "Collapses between 8 and 10 servers ({}); you have 8, which is 1.2 times fewer."
        )),
        (2, 0, 3, 16, (
            "Collapses from 3 servers on, and perhaps with fewer ({}); you have 2, in the "
            "uncertain range."
        )),
    ],
)  # fmt: skip
def test_a_knee_is_one_sentence(
    servers: int, low: int, high: int | None, most: int, text: str
) -> None:
    assert Knee(servers, low, high, most, 12).sentence() == text.format("12 seeds each")


# Windows of the client's schedules.


@pytest.mark.parametrize(
    ("delay", "window"),
    # At 1 Gbit/s, 1500 bytes take 12 µs. So 8.7, 82.1 and 2.4 packets fit on the path, rounded up.
    [("20us", 2 * 9 * 1460), ("240us", 2 * 83 * 1460), ("1us", 2 * 3 * 1460)],
)
def test_windows_of_a_schedule_are_twice_the_path(delay: str, window: int) -> None:
    told = case(network__delay=delay)
    path = told.here.line_rate * told.here.base_rtt / 8 / 1500
    fixes = {fix.name: fix for fix in catalogue(told)}
    assert f"Plan.ccs(window={window})" in fixes["ccs"].text, path
    rate, trip = "1000000000", f"{told.here.base_rtt:.3g}"
    assert f"Plan.ocs_for({rate}, {trip}, 65536)" in fixes["ocs"].text


# Clocks, rounds and order.


def test_a_clock_has_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("incast.advise.trials.time.monotonic", lambda: now[0])
    clock = Clock(110.0)
    assert (clock.left, clock.part(0.25), clock.part(2.0)) == (10.0, Clock(102.5), Clock(110.0))
    clock.look()
    now[0] = 110.0
    assert clock.left == 0
    with pytest.raises(TimeUp):
        clock.look()
    now[0] = 120.0
    assert clock.left == 0
    assert Clock(float("inf")).left == float("inf")


@pytest.mark.parametrize(("last", "done"), [(3, 3), (2, 2), (1, 1)])
def test_rounds_are_counted_as_far_as_there_is_time(last: int, done: int) -> None:
    ran: list[int] = []

    def one(number: int, clock: Clock) -> None:
        if number >= last:
            raise TimeUp
        ran.append(number)

    search: Any = SimpleNamespace(round=one)
    assert rounds(search, Clock(0.0)) == done
    assert ran == list(range(1, done))
    assert (ROUNDS, FRESH) == (((2, 5), (6, 3), (12, 2)), (12, 24, 48))


def compared(a: float, b: float, **more: Any) -> Compared:
    given = {"low": None, "high": None, "finding": Finding.UNKNOWN} | more
    return Compared({}, 12, a, b, b - a, **given)


@pytest.mark.parametrize(
    ("told", "ends"),
    [
        (compared(2.0, 3.0, low=0.5, high=1.5), (1.25, 1.75)),
        (compared(2.0, 1.0, low=-3.0, high=0.0), (0.0, 1.0)),
        (compared(2.0, 3.0, low=0.5, high=1.5, ratio_low=1.1, ratio_high=1.9), (1.1, 1.9)),
        (compared(2.0, 3.0), None),
        (compared(0.0, 3.0, low=1.0, high=2.0), None),
    ],
)
def test_a_gain_is_a_ratio_with_an_interval(
    told: Compared, ends: tuple[float, float] | None
) -> None:
    gain = Gain.of(told)
    if ends is None:
        assert gain is None
        return
    assert gain is not None
    assert (gain.low, gain.high) == ends
    assert (gain.ratio, gain.seeds) == (told.b / told.a, 12)


def fixes() -> list[Fix]:
    return list(catalogue(case()))


def test_prices_are_told_with_what_was_measured() -> None:
    fix, gain = fixes()[0], Gain(1, 2, 1.5, 2.5, 12)
    plain = Advised(fix, gain, None)
    assert plain.prices() == [fix.price]
    assert replace(plain, quiet=1.5, premature=0.25).prices() == [
        fix.price, "A read from only two servers takes 1.50 times as long.",
        "There are 0.25 spurious timeouts per block.",
    ]  # fmt: skip
    assert replace(plain, premature=0.0).prices() == [fix.price]


def test_the_first_of_each_party_is_kept() -> None:
    every, gain = fixes(), Gain(1, 2, 1.5, 2.5, 12)
    advised = [Advised(fix, gain, None) for fix in every]
    chosen = Found(advised).per_party()
    assert [one.fix.who for one in chosen] == list(dict.fromkeys(fix.who for fix in every))
    for one in chosen:
        assert one.fix is next(fix for fix in every if fix.who is one.fix.who)


class Table:
    """Trials with given gains, by the name of the fix."""

    def __init__(self, gains: dict[str, float]) -> None:
        self.gains, self.refused = gains, {"refused": "why"}
        self.ran: list[tuple[int, int, int]] = []

    def add(self, name: str, *_: object) -> bool:
        return name != "refused"

    def run(self, names: Sequence[str], seeds: range, _: Clock) -> None:
        self.ran.append((len(list(names)), seeds.start, len(seeds)))

    def compare(self, name: str, seeds: range, column: str = GOODPUT, **_: Any) -> Compared | None:
        if column != GOODPUT:
            return None
        gain = self.gains[name]
        finding = Finding.BETTER if gain > 1 else Finding.WORSE if gain < 1 else Finding.UNKNOWN
        return compared(1.0, gain, low=gain - 1.01, high=gain - 0.99, finding=finding)

    def together(self, name: str, seeds: range) -> float:
        return self.gains[name] if name != BASE else 1.0

    def mean(self, name: str, seeds: range, column: str = GOODPUT) -> float | None:
        return {"timeouts_spurious": 3.0, "blocks": 4.0}.get(column)


def sought(gains: dict[str, float]) -> tuple[Search, Table]:
    """Return a search among fixes of one party."""
    pattern = next(fix for fix in fixes() if fix.who is Who.SERVERS)
    table: Any = Table(gains)
    found = [replace(pattern, name=name) for name in gains]
    return Search(case(), table, found, Goal("goodput", (GOODPUT,))), table


def names(search: Search) -> list[str]:
    return sorted(fix.name for fix in search.field)


SEVEN = {"a": 9.0, "b": 8.0, "c": 4.5, "d": 4.4, "e": 2.0, "f": 1.5, "g": 0.9}


def test_each_round_keeps_the_best_of_a_party() -> None:
    search, table = sought(SEVEN)
    search.round(0, Clock(float("inf")))
    assert names(search) == ["a", "b", "c", "d", "e"]
    assert table.ran == [(8, 1, 2)]
    assert search.out["f"].why == "less than “a”"
    assert search.out["g"].why == "is worse than no fix"
    search.round(1, Clock(float("inf")))
    assert names(search) == ["a", "b", "c"]
    search.round(2, Clock(float("inf")))
    assert names(search) == ["a", "b"]
    assert table.ran[1:] == [(6, 1, 6), (4, 1, 12)]


def test_from_six_seeds_on_less_than_half_of_the_best_is_dropped() -> None:
    search, _ = sought({"a": 9.0, "b": 4.5, "c": 4.4})
    search.round(0, Clock(float("inf")))
    assert names(search) == ["a", "b", "c"]
    search.round(1, Clock(float("inf")))
    assert names(search) == ["a", "b"]


def test_fresh_seeds_are_added_while_something_is_open() -> None:
    clear, table = sought({"a": 2.0})
    clear.confirm(Clock(float("inf")))
    assert table.ran == [(2, 1001, 12)]
    still, table = sought({"a": 2.0, "b": 1.0})
    still.confirm(Clock(float("inf")))
    assert table.ran == [(3, 1001, 12), (3, 1001, 24), (3, 1001, 48)]
    assert still.seeds(3, confirmed=True) == range(1001, 1049)
    assert [still.seeds(n, confirmed=False) for n in range(4)] == [
        range(1, 3), range(1, 3), range(1, 7), range(1, 13),
    ]  # fmt: skip
    assert still.has_fresh()


def test_without_a_fix_the_case_itself_needs_fresh_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    search, table = sought({"a": 0.5})
    search.field.clear()
    monkeypatch.setattr(table, "mean", lambda *_: None)
    assert not search.has_fresh(), "the time ended before"
    monkeypatch.setattr(table, "mean", lambda *_: 1.0)
    assert search.has_fresh()


def test_what_was_found_is_told_with_its_reasons() -> None:
    search, _ = sought({"a": 2.0, "refused": 3.0, "b": 1.01, "c": 0.9})
    found = search.found(1, confirmed=False)
    assert [(one.fix.name, one.times, one.premature) for one in found.advised] == [("a", 2.0, 0.75)]
    assert {one.fix.name: (one.why, one.ratio) for one in found.tried} == {
        "refused": ("not simulated here: why", None),
        "b": ("gains less than 2%", 1.01),
        "c": ("is worse than no fix", 0.9),
    }
    assert [one.fix.name for one in found.tried] == ["b", "c", "refused"]
    assert not found.confirmed


def test_those_within_a_twentieth_of_the_best_are_alike() -> None:
    host = next(fix for fix in fixes() if fix.who is Who.SERVERS)
    gain = Gain(1, 2, 1.5, 2.5, 12)
    cheap, dear = (replace(host, name=f"{effort}", effort=effort) for effort in (0, 5))
    for times, first in ((9.5, "0"), (9.49, "5")):
        both = [Advised(dear, gain, None, times=10.0), Advised(cheap, gain, None, times=times)]
        assert searching._ordered(both)[0].fix.name == first
    assert searching._ordered([]) == []


def test_hardly_is_less_than_half_a_per_cent() -> None:
    less, more = (compared(1000.0, b, finding=Finding.WORSE) for b in (995.1, 995.0))
    assert searching._why({GOODPUT: less}) == "changes hardly anything"
    assert searching._why({GOODPUT: more}) == "is worse than no fix"


@pytest.mark.parametrize(
    ("late", "strict", "why"),
    [
        (compared(1.0, 1.0099), True, ""),
        (compared(1.0, 1.011), True, "the slowest blocks are slower"),
        (compared(1.0, 1.011), False, ""),
        (compared(1.0, 1.011, finding=Finding.WORSE), False, "the slowest blocks are slower"),
        (compared(1.0, 1.005, finding=Finding.WORSE), False, ""),
        (None, True, ""),
    ],
)
def test_slower_blocks_count_against_a_fix(late: Compared | None, strict: bool, why: str) -> None:
    search, _ = sought({"a": 2.0})
    assert search._worse(search.field[0], range(1, 3), late, strict=strict) == why


# Small functions.


def test_pieces_are_put_together() -> None:
    times = [1.0, 2.0, 3.0, 4.0, 5.0]
    assert joined(times, 2) == [3.0, 7.0]
    assert joined(times, 5) == [15.0]
    assert joined(times, 6) == []
    told = [of_whole(name, 9.0, times, 2) for name in ("blocks", "completion_s", "goodput_bps")]
    assert told == [2.0, 5.0, 9.0]
    assert of_whole("completion_p99_s", 9.0, times, 2) == pytest.approx(7.0, rel=0.02)
    assert [of_whole(name, 9.0, times, 6) for name in ("blocks", "completion_s")] == [0.0, None]
    assert of_whole("completion_s", 9.0, times, 1) == 9.0


@pytest.mark.parametrize(
    ("changes", "asked"), [({"servers": 2}, False), ({"servers": 3}, True), ({"active": 4}, False)]
)
def test_a_quiet_read_has_two_servers(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, int], asked: bool
) -> None:
    told = case(**{f"workload__{key}": value for key, value in changes.items()})
    medians = {BASE: 0.5, "a": 0.75, "b": None}
    ran: list[Any] = []

    def trials(few: Case, *_: object) -> SimpleNamespace:
        assert few.here.servers == 2
        return SimpleNamespace(
            add=lambda *_: True, run=lambda names, seeds, _: ran.append((list(names), list(seeds))),
            mean=lambda name, *_: medians[name],
        )  # fmt: skip

    monkeypatch.setattr(calm, "Trials", trials)
    gain, pattern = Gain(1, 2, 1.5, 2.5, 12), fixes()[0]
    advised = [Advised(replace(pattern, name=name), gain, None) for name in "ab"]
    beside: Any = SimpleNamespace(jobs=1, store=None)
    found = calm.quiet(told, advised, beside, Clock(float("inf")))
    assert found == ({"a": 1.5} if asked else {})
    assert ran == ([([BASE, "a", "b"], [1, 2, 3])] if asked else [])


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        # The range that ns-2 confirms: 100 Mbit/s to 10 Gbit/s, 192 servers, 32 KiB to 1 MiB.
        ({"network__rate": "10Gbps"}, Word.INSIDE),
        ({"network__rate": "10.6Gbps"}, Word.INSIDE),
        ({"network__rate": "10.7Gbps"}, Word.NEAR),
        ({"network__rate": "40Gbps"}, Word.NEAR),
        ({"network__rate": "40.1Gbps"}, Word.OUTSIDE),
        ({"network__rate": "95Mbps"}, Word.INSIDE),
        ({"network__rate": "90Mbps"}, Word.NEAR),
        ({"network__rate": "24Mbps"}, Word.OUTSIDE),
        ({"workload__servers": 203}, Word.INSIDE),
        ({"workload__servers": 204}, Word.NEAR),
        ({"workload__servers": 769}, Word.OUTSIDE),
        ({"workload__sru": "7KiB"}, Word.OUTSIDE),
        ({"workload__sru": "8KiB"}, Word.NEAR),
        ({"network__buffer": "512KiB"}, Word.NEAR),
        ({"network__buffer": "513KiB"}, Word.OUTSIDE),
        ({"transport__rto_min": "800ms"}, Word.NEAR),
        ({"transport__rto_min": "801ms"}, Word.OUTSIDE),
    ],
)
def test_a_factor_of_four_is_near(changes: dict[str, Any], word: Word) -> None:
    assert envelope_of(case(**changes)).word is word


def test_means_are_of_the_seeds_that_have_finished() -> None:
    trials = trying.Trials(case())
    trials._known["x", "all"] = {"a": {1: 2.0, 2: 4.0, 5: 9.0}}
    trials._known[GOODPUT, "all"] = {"a": {1: 2.0, 2: 6.0, 3: 0.5}}
    assert trials.mean("a", [1, 2, 3], "x") == 3.0
    assert trials.mean("a", [7], "x") is None
    assert trials.together("a", [1, 2]) == pytest.approx(3.0)
    assert trials.together("a", [3]) == 1.0
    assert trials.together("b", [1]) is None
    start = time.monotonic()
    assert Clock(start + 100).left == pytest.approx(100, abs=1)


def test_tried_ones_have_no_ratio_unless_they_ran() -> None:
    one = Tried(fixes()[0], "why")
    assert (one.ratio, one.late) == (None, None)
