"""Verdicts on claims."""

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from incast.errors import FigureError
from incast.reproduce.arithmetic import evaluate
from incast.reproduce.data import Curve, Curves, Unjudged
from incast.reproduce.figure import Claim
from incast.reproduce.judge import Verdict, judge
from incast.reproduce.metrics import all_metrics
from incast.reproduce.quantity import Quantity


def curves(**values: list[float]) -> Curves:
    """Return curves with the points 1, 2, 3 and so on, and one seed."""
    of = {}
    for label, ys in values.items():
        rows = pl.DataFrame({"x": range(len(ys)), "seed": 1, "status": "ok", "goodput_bps": ys})
        of[label] = Curve(label, list(range(1, len(ys) + 1)), rows)
    return Curves(of, all_metrics()["goodput_bps"])


def verdict(claim: dict[str, Any], ours: Curves, theirs: Curves | None = None) -> Verdict:
    tree = {"id": "A", "says": "It does.", "kind": "trend", **claim}
    (found,) = judge([Claim.from_toml(tree, "here")], ours, theirs, "figure")
    return found.verdict


_EARLY = {"test": "ordered", "above": ["a", "b"], "to": 3}
_FIVE = {"op": "~", "right": 5}


@pytest.mark.parametrize(
    ("claim", "holds"),
    [
        ({"left": {"series": "a", "at": 2}, "op": ">", "right": 4}, True),
        ({"left": {"series": "a", "at": 2}, "op": ">", "right": 5}, False),
        ({"left": {"series": "a", "at": 2}, "op": ">=", "right": 5.2, "tolerance": 0.1}, True),
        ({"left": {"series": "a", "at": 2}, "op": "~", "right": 4.9, "tolerance": 0.1}, True),
        ({"left": {"series": "a", "at": 2}, "op": "~", "right": 4, "tolerance": 0.1}, False),
        ({"left": {"series": "a", "reduce": "argmax"}, "op": "~", "right": 2}, True),
        ({"left": {"series": "a", "reduce": "knee"}, "op": "~", "right": 3}, True),
        ({"left": {"series": "b", "reduce": "knee"}, "op": ">=", "right": 100}, True),
        (
            {
                "left": {"series": "a", "reduce": "knee"},
                "op": "<",
                "right": {"series": "b", "reduce": "knee"},
                "tolerance": 0.1,
            },
            True,
        ),
        (
            {
                "left": {"series": "b", "reduce": "knee"},
                "op": "<",
                "right": {"series": "b", "reduce": "knee", "times": 2},
            },
            None,
        ),
        (
            {
                "left": {"series": "a", "reduce": "mean", "from": 2, "to": 3},
                "op": "~",
                "right": 4.5,
            },
            True,
        ),
        (
            {
                "left": {"series": "a", "beside": "b", "reduce": "log-error", "to": 1},
                "op": "~",
                "right": {"formula": "log(3)"},
                "tolerance": 1e-9,
            },
            True,
        ),
        (
            {
                "left": {"series": "a", "beside": "b", "reduce": "rank-correlation", "to": 2},
                "op": ">",
                "right": 0.5,
            },
            None,
        ),
        ({"left": {"formula": "floor(40 / 3) ** 2"}, "op": "~", "right": 169}, True),
        ({"test": "ordered", "above": ["a", "b"], "to": 3}, True),
        ({"test": "ordered", "above": ["a", "b"]}, False),
        ({"test": "ordered", "above": ["a", "b"], "except_for": 1}, True),
        ({"test": "ordered", "above": ["a", "b"], "to": 3, "factor": 3}, False),
        ({"test": "ordered", "above": ["a", "b"], "to": 3, "at_most": 5}, True),
        ({"test": "ordered", "above": ["a", "b"], "to": 3, "at_most": 4}, False),
        ({"test": "ordered", "above": ["a", "b"], "to": 3, "at_most": 4, "tolerance": 1}, True),
        ({"test": "every", "parts": [_EARLY, {"left": {"series": "a", "at": 2}, **_FIVE}]}, True),
        ({"test": "every", "parts": [_EARLY, {"left": {"series": "a", "at": 3}, **_FIVE}]}, False),
        ({"test": "monotone", "curves": ["b"], "direction": "rising"}, True),
        ({"test": "monotone", "curves": ["b"], "direction": "rising", "to": 2}, False),
        ({"test": "monotone", "curves": ["a"], "direction": "falling"}, False),
        ({"test": "monotone", "curves": ["a"], "direction": "falling", "from": 2}, True),
        (
            {
                "left": {"series": "a", "beside": "b", "reduce": "rank-correlation", "from": 2},
                "op": "<",
                "right": -0.8,
            },
            True,
        ),
        ({"test": "below-average", "curve": "b", "among": ["a", "b"], "to": 3}, True),
        ({"test": "below-average", "curve": "a", "among": ["a", "b"], "to": 3}, False),
        ({"test": "below-average", "curve": "b", "among": ["a", "b"]}, False),
        ({"test": "below-average", "curve": "b", "among": ["a", "b"], "tolerance": 0.4}, True),
        ({"test": "close", "curves": ["a", "b"], "within": 0.8}, True),
        ({"test": "close", "curves": ["a", "b"], "within": 0.5}, False),
        ({"test": "gain", "over": "b", "by": "a"}, False),
        ({"test": "gain", "over": "b", "by": "a", "least": -2}, True),
        ({"test": "gain", "over": "b", "by": "a", "most_at": "2"}, True),
        ({"test": "gain", "over": "b", "by": "a", "most_at": "3", "relative": True}, False),
        ({"left": {"series": "b", "reduce": "deviation"}, "op": "~", "right": 0.5}, True),
    ],
)
def test_what_a_claim_may_say(claim: dict[str, Any], holds: bool | None) -> None:
    found = verdict(claim, curves(a=[3, 5, 4, 1], b=[1, 1, 2, 2]))
    wanted = {True: Verdict.HOLDS, False: Verdict.FAILS, None: Verdict.UNJUDGED}
    assert found is wanted[holds]


def test_a_factor_stands_behind_the_number_that_was_measured() -> None:
    right = Quantity(series="b", at=3, times=1.5)
    assert right.text(curves(b=[1, 1, 2, 2])).endswith(" of b at 3 = 2, times 1.50 = 3")


def test_a_column_may_be_looked_at_where_it_is_above_a_value() -> None:
    busy = pl.DataFrame({"time_s": [0.1, 0.2, 0.3, 0.4], "busy": [0.0, 0.0, 0.9, 0.8]})
    ours = curves(a=[1])
    curve = replace(ours.of["a"], traces=lambda _: [busy])
    traced = replace(ours, of={"a": curve}, trace="queue")
    used = {"series": "a", "column": "busy", "reduce": "min"}
    holds = {"left": {**used, "over": 0.05}, "op": "~", "right": 0.8}
    assert verdict(holds, traced) is Verdict.HOLDS
    assert verdict({**holds, "left": used}, traced) is Verdict.FAILS
    assert verdict({**holds, "left": {**used, "over": 0.95}}, traced) is Verdict.UNJUDGED
    with pytest.raises(FigureError, match="over may be given only together with column"):
        verdict({**holds, "left": {"series": "a", "at": 1, "over": 0.05}}, traced)


def test_a_function_of_the_models_is_a_number() -> None:
    path = {"function": "serialisation.Path", "with": {"rate": 1e9, "base_rtt": 100e-6}}
    ramp = {**path, "part": "ramp"}
    assert (
        verdict({"left": ramp, "op": "~", "right": 412e-6, "tolerance": 1e-3}, curves()) == "holds"
    )
    with pytest.raises(FigureError, match=r"serialisation\.Way"):
        verdict({"left": {"function": "serialisation.Way"}, "op": ">", "right": 1}, curves())


@pytest.mark.parametrize("parts", [[], [3], [{"test": "odered"}], [{"curves": ["a"]}]])
def test_parts_of_a_sentence_are_checked(parts: list[Any]) -> None:
    with pytest.raises(FigureError, match="parts"):
        verdict({"test": "every", "parts": parts}, curves())


def test_every_verdict() -> None:
    ours, theirs = curves(a=[1, 2]), curves(a=[5, 6])
    low = {"left": {"series": "a", "at": 1}, "op": "<", "right": 3}
    high = {**low, "op": ">"}
    assert verdict(low, ours, theirs) is Verdict.HOLDS
    assert verdict(high, ours, theirs) is Verdict.FAILS
    assert verdict(high, ours, curves(a=[2, 3])) is Verdict.TWICE
    assert verdict(high, ours, curves(b=[2, 3])) is Verdict.FAILS
    assert verdict({**high, "impossible": "it is more than the link carries"}, ours) == "impossible"
    assert verdict({**high, "left": {"series": "a", "at": 9}}, ours) is Verdict.UNJUDGED
    assert verdict({"unjudged": "the text does not say of what"}, ours) is Verdict.UNJUDGED


def test_a_claim_about_a_run_that_no_seed_has_fails() -> None:
    claim = {"left": {"series": "a", "at": 1}, "op": "<", "right": 3}
    nothing = Curves({}, None, sought=40)
    (found,) = judge(
        [Claim.from_toml({"id": "A", "says": "It does.", "kind": "trend", **claim}, "here")],
        nothing,
        None,
        "figure",
    )
    assert found.verdict is Verdict.FAILS
    expected = "none of 40 seeds has a run that meets the conditions of the search"
    assert found.measured == expected
    assert verdict(claim, Curves({}, None)) is Verdict.UNJUDGED


def test_runs_that_did_not_end_count_nowhere() -> None:
    rows = pl.DataFrame(
        {"x": [0, 0], "seed": [1, 2], "status": ["ok", "time-limit"], "goodput_bps": [2.0, 9.0]}
    )
    some = Curves({"a": Curve("a", [1], rows)}, all_metrics()["goodput_bps"])
    assert some.values("a") == {1: 2.0}
    with pytest.raises(Unjudged):
        some.at("a", 2)


@pytest.mark.parametrize(
    "formula", ["__import__('os')", "1 if 2 else 3", "x", "1 / 0", "2 **", "True"]
)
def test_formulas_are_arithmetic_only(formula: str) -> None:
    with pytest.raises(FigureError, match="cannot be computed"):
        evaluate(formula, {}, "here")
