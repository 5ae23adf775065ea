"""The strip above a picture: it shows at which points the curves have the paper's stated order."""

import polars as pl

from incast.reproduce.data import Curve, Curves
from incast.reproduce.draw.orders import State, of, rows, states, words, worst
from incast.reproduce.figure import Claim, Figure, Order
from incast.reproduce.metrics import all_metrics

GOODPUT = all_metrics()["goodput_bps"]


def curve(label: str, *values: float) -> Curve:
    xs = list(range(len(values)))
    columns = {"x": xs, "seed": [1] * len(xs), "status": ["ok"] * len(xs)}
    return Curve(label, [10 * x for x in xs], pl.DataFrame({**columns, "goodput_bps": values}))


def test_each_point_says_whether_it_is_in_order() -> None:
    ones = [curve("a", 100, 100, 100, 100), curve("b", 50, 99, 120, 50), curve("c", 10, 10, 1, 60)]
    curves = Curves({one.label: one for one in ones}, GOODPUT)
    found = states(Order(["a", "b", "c"]), curves)
    assert found == {0: State.SO, 10: State.EQUAL, 20: State.NOT, 30: State.NOT}
    assert list(states(Order(["a", "b"], start=10, end=20), curves)) == [10, 20]
    assert states(Order(["a", "d"]), curves) == {}


def test_orders_are_those_of_claims_and_those_that_the_figure_adds() -> None:
    ordered = {"test": "ordered", "above": ["a", "b"], "from": 4}
    other = {"test": "ordered", "above": ["b", "a"], "metric": "timeouts"}
    claims = [
        {"id": "1", "says": "So.", "kind": "trend", **ordered},
        {"id": "1b", "says": "So.", "kind": "trend", "reading_of": "1", **ordered, "from": 5},
        {"id": "2", "says": "So.", "kind": "trend", "test": "every", "parts": [ordered, other]},
    ]
    figure = Figure(
        "One",
        "sweep",
        claims=[Claim.from_toml(one, "here") for one in claims],
        orders=[Order(["b", "c"])],
    )
    assert of(figure) == [Order(["a", "b"], start=4), Order(["b", "c"])]


def test_orders_of_one_curve_share_a_row_whose_mark_is_the_worst() -> None:
    pairs = [["a", "b"], ["a", "c"], ["b", "d"], ["c", "d"], ["a", "b", "c"]]
    figure = Figure("One", "sweep", orders=[Order(one) for one in pairs])
    found = rows(figure)
    assert [words(row) for row in found] == ["a above b, c", "b, c above d", "a above b above c"]
    assert words([Order(["1, a", "1, b"]), Order(["1, a", "1, c"])]) == "1, a above 1, b; 1, c"
    ones = [curve("a", 100, 100, 100), curve("b", 50, 99, 50), curve("c", 10, 120, 100)]
    curves = Curves({one.label: one for one in ones}, GOODPUT)
    assert worst(found[0], curves) == {0: State.SO, 10: State.NOT, 20: State.EQUAL}
    row = [Order(["a", "b"], start=20), Order(["a", "c"], end=10)]
    assert worst(row, curves) == {0: State.SO, 10: State.NOT, 20: State.SO}
