"""Goals of advice: the fixes that help, their order, and why the other fixes are not advised."""

from dataclasses import replace
from typing import Any

import pytest

from incast.advise.goal import Goal, goal_of, is_behind, is_better
from incast.advise.search import Advised, Gain, Tried, _ordered, _why
from incast.advise.trials import GOODPUT, P99
from incast.errors import AdviceError
from incast.results.compare import Compared, Finding

P999 = "completion_p999_s"


def compared(a: float, b: float, finding: Finding = Finding.UNKNOWN, **more: Any) -> Compared:
    return Compared({}, 12, a, b, b - a, more.get("low"), more.get("high"), finding)


@pytest.mark.parametrize(
    ("text", "columns", "bound"),
    [
        (None, (GOODPUT, P99), None),
        ("goodput", (GOODPUT,), None),
        ("p99", (P99,), None),
        ("p999", (P999,), None),
        ("p99<20ms", (P99,), 0.02),
        (" p999 < 1.5 s", (P999,), 1.5),
    ],
)
def test_a_goal_has_quantities_and_perhaps_a_bound(
    text: str | None, columns: tuple[str, ...], bound: float | None
) -> None:
    goal = goal_of(text)
    assert (goal.columns, goal.bound) == (columns, bound)
    assert goal.percentile == (P999 if P999 in columns else P99)
    assert goal.label == ("p999" if P999 in columns else "p99")


@pytest.mark.parametrize(
    "text",
    ["", "p50", "p99<", "p99<20", "p99<20GB", "p99<0ms", "p99<-1ms", "p99>20ms", "p99<٣ms",
     "p99<1e999s", "goodput<1Gbps", "p99<\n20ms", "\x1b[31m"],
)  # fmt: skip
def test_another_goal_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(AdviceError, match=r"^--for: ") as error:
        goal_of(text)
    assert "\n" not in str(error.value)
    assert "\x1b" not in str(error.value)


def test_without_blocks_only_goodput_is_a_goal() -> None:
    assert Goal().without_blocks().columns == (GOODPUT,)
    with pytest.raises(AdviceError, match="must be goodput"):
        goal_of("p99<1s").without_blocks()


def test_a_tail_that_is_gone_helps_whatever_the_goodput_does() -> None:
    same = compared(9e9, 9e9, Finding.SAME)
    gone = compared(0.208, 0.016, Finding.BETTER)
    assert is_better({GOODPUT: same, P99: gone})
    assert not is_behind({GOODPUT: same, P99: gone}, strict=True)
    assert not is_better({GOODPUT: same, P99: compared(0.208, 0.206, Finding.BETTER)}), "1 %"
    assert is_better({GOODPUT: compared(1e9, 1.02e9, Finding.BETTER)})
    assert not is_better({GOODPUT: compared(1e9, 1.019e9, Finding.BETTER)})


def test_a_fix_is_behind_if_nothing_can_become_better() -> None:
    worse, hoped = compared(1e9, 0.9e9, Finding.WORSE), compared(0.2, 0.1)
    assert is_behind({GOODPUT: worse}, strict=False)
    assert not is_behind({GOODPUT: worse, P99: hoped}, strict=True)
    slower = compared(0.2, 0.3)
    assert not is_behind({GOODPUT: worse, P99: slower}, strict=False), "few seeds"
    assert is_behind({GOODPUT: worse, P99: slower}, strict=True)


def test_a_bound_is_kept_if_the_interval_is_below_it() -> None:
    goal = goal_of("p99<20ms")
    assert goal.is_kept(compared(0.2, 0.015, low=-0.19, high=-0.181))
    assert not goal.is_kept(compared(0.2, 0.015, low=-0.19, high=-0.18))
    assert not goal.is_kept(compared(0.2, 0.021))
    assert not goal.is_kept(None)
    assert Goal().is_kept(None)


@pytest.mark.parametrize(
    ("found", "why"),
    [
        ({GOODPUT: compared(1, 1, Finding.SAME), P99: compared(1, 1, Finding.SAME)},
         "changes nothing"),
        ({GOODPUT: compared(1, 0.9996, Finding.WORSE)}, "changes hardly anything"),
        ({GOODPUT: compared(1, 0.9, Finding.WORSE)}, "is worse than no fix"),
        ({GOODPUT: compared(1, 1.01, Finding.BETTER)}, "gains less than 2%"),
        ({GOODPUT: compared(1, 1, Finding.SAME), P99: compared(0.2, 0.02)},
         "no certain gain"),
    ],
)  # fmt: skip
def test_why_a_fix_is_not_advised(found: dict[str, Compared], why: str) -> None:
    assert _why(found) == why


def test_the_cheapest_of_those_close_to_the_best_comes_first(fixes: list[Any]) -> None:
    host, switch = fixes
    gain = Gain(1, 2, 1.9, 2.1, 12)
    one, two = Advised(host, gain, None, times=2.0), Advised(switch, gain, None, times=2.09)
    assert [it.fix for it in _ordered([two, one])] == [host, switch]
    assert [it.fix for it in _ordered([one, replace(two, times=2.2)])] == [switch, host]
    kept = [replace(one, kept=False), two]
    assert [it.fix for it in _ordered(kept)] == [switch, host], "what keeps the bound"


@pytest.fixture
def fixes() -> list[Any]:
    """A fix on the server hosts, and a fix on the switch."""
    from incast.advise.case import case_of
    from incast.advise.fixes import Who, catalogue
    from incast.scenario import load

    every = list(catalogue(case_of(load("storage-read").override("workload.servers", 16))))
    return [next(one for one in every if one.who is who) for who in (Who.SERVERS, Who.SWITCH)]


def test_what_was_tried_is_told_with_both_ratios() -> None:
    from incast.cli.advised import _changed

    fix: Any = None
    assert _changed(Tried(fix, "", 1.0, 0.0769), "p99") == " (× 1.00, p99 × 0.0769)"
    assert _changed(Tried(fix, "", 0.9), "p99") == " (× 0.900)"
    assert _changed(Tried(fix, ""), "p99") == ""


def test_a_long_text_that_is_no_goal_is_shortened() -> None:
    with pytest.raises(AdviceError, match="is not a goal") as caught:
        goal_of("p99<" + "x" * 5000)
    assert len(str(caught.value)) < 200
    with pytest.raises(AdviceError, match="is not a goal"):
        goal_of("p99 <" + " " * 80 + "20ms")
