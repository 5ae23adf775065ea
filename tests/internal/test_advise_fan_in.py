"""The values read from bursts in a table of flows and bytes per bin."""

import pytest

from incast.advise.readers import fan_in
from incast.errors import AdviceError


@pytest.mark.parametrize("largest", [1, 2, 3])
def test_a_burst_is_one_of_the_largest_bins_of_a_hundred(largest: int) -> None:
    each = 5000
    usual, burst = f"2,{2 * 1000}", f"40,{40 * each}"
    bins = [*[usual] * (100 - largest), *[burst] * largest]
    lines = [f"{time},{one}" for time, one in enumerate(bins)]
    taken = fan_in.read("\n".join(["time,flows,bytes", *lines]), "table.csv")
    assert taken.changes == {
        "workload.servers": 40,
        "workload.sru": each,
        "workload.block": None,
    }


def test_bins_without_flows_are_none_of_the_hundred() -> None:
    lines = [f"{time},0,0" for time in range(1000)] + ["1000,2,2000", "1001,4,40000"]
    taken = fan_in.read("\n".join(["time,flows,bytes", *lines]), "table.csv")
    assert (taken.changes["workload.servers"], taken.changes["workload.sru"]) == (4, 10_000)


def test_a_quote_that_hides_the_columns_is_named() -> None:
    text = '"a,time,flows,bytes\n1,2,3\n'
    assert fan_in.recognises(text)
    with pytest.raises(AdviceError) as refusal:
        fan_in.read(text, "table.csv")
    assert str(refusal.value) == (
        "table.csv: line 1: must name the columns time, flows, bytes, without quotes"
    )
