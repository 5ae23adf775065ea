"""The limiting resource: every number in the printed sentences comes from the rows."""

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incast import units
from incast.advise.case import Case, case_of
from incast.advise.limit import limit_of
from incast.scenario import load
from incast.scenario.lossless import block_bits, lossless_goodput

_NUMBER = re.compile(r"(\d[\d.]*)\s?(Gbps|Mbps|kbps|bps|ns|µs|ms|s\b|%)?")
_UNIT = {
    None: 1.0, "Gbps": 1e9, "Mbps": 1e6, "kbps": 1e3, "bps": 1.0, "ns": 1e-9, "µs": 1e-6,
    "ms": 1e-3, "s": 1.0, "%": 0.01,
}  # fmt: skip


def case(**changes: Any) -> Case:
    scenario = load("storage-read")
    for key, value in {"workload.servers": 16, **changes}.items():
        scenario = scenario.override(key, value)
    return case_of(scenario)


CASES = [
    case(),
    case(**{"network.buffer": "8KiB"}),
    case(**{"transport.rto_min": "5ms", "network.buffer": "2MiB"}),
    case(**{"workload.connections": "persistent"}),
]


def row(**given_here: float) -> dict[str, Any]:
    """Return a row with the means of runs."""
    return {
        "goodput_bps": 1e8, "timeouts": 0.0, "timeouts_handshake": 0.0, "stalls_tail_probe": 0.0,
        "stall_max_s": None, "blocks": 10.0, "completion_s": 0.05, "link_utilization": 0.3,
    } | given_here  # fmt: skip


def near(value: float, told: float) -> bool:
    """Whether a printed number agrees with its value to two digits."""
    return abs(value - told) <= 0.06 * abs(value) + 1e-12


@settings(max_examples=300, deadline=None)
@given(
    which=st.sampled_from(CASES),
    goodput=st.floats(1e6, 2e9),
    timeouts=st.floats(0, 300) | st.just(0.0),
    handshakes=st.floats(0, 1),
    probes=st.floats(0, 100) | st.just(0.0),
    longest=st.floats(1e-4, 3) | st.none(),
    blocks=st.integers(1, 50),
    mean=st.floats(1e-4, 5),
    collapsing=st.sampled_from([0.0, 0.2]),
)
def test_every_number_of_the_page_is_of_the_rows(
    which: Case, goodput: float, timeouts: float, handshakes: float, probes: float,
    longest: float | None, blocks: int, mean: float, collapsing: float,
) -> None:  # fmt: skip
    here = which.here
    means = row(
        goodput_bps=goodput, timeouts=timeouts, timeouts_handshake=handshakes * timeouts,
        stalls_tail_probe=probes, blocks=float(blocks), completion_s=mean,
    ) | {"stall_max_s": longest}  # fmt: skip
    limit = limit_of(which, means, collapsing)
    first = here.flows * min(here.initial_window, here.window_limit)
    known = [
        goodput, lossless_goodput(here), goodput / lossless_goodput(here), here.capacity,
        timeouts / blocks, handshakes * timeouts / blocks, probes / blocks, mean, 0.3,
        block_bits(here) / lossless_goodput(here), here.rto_min, here.syn_rto, float(here.flows),
        2.0, 2.0 * here.flows, float(which.room), float(here.buffer_packets),
        float(here.round_trip_packets), which.room / here.flows, float(first),
        float(here.flows * here.window_limit), float(here.flows * here.receive_window),
        round(here.line_rate * here.base_rtt / 8 / here.packet),
        *([longest] if longest and not timeouts else []),
    ]  # fmt: skip
    text = limit.sentences().replace("\N{NO-BREAK SPACE}", " ")
    for number, unit in _NUMBER.findall(text):
        told = float(number.rstrip(".")) * _UNIT[unit or None]
        assert any(near(value, told) for value in known), f"{number} {unit} of {text!r}"
    for name, value in limit.facts.items():
        assert any(near(one, value) for one in known), name


def said(means: dict[str, Any], which: Case | None = None, collapsing: float = 0.0) -> str:
    text = limit_of(which or CASES[2], means, collapsing).sentences()
    return text.replace("\N{NO-BREAK SPACE}", " ")


def test_probes_and_timers_are_told_by_their_own_lengths() -> None:
    limit = limit_of(CASES[2], row(stalls_tail_probe=13.0, stall_max_s=0.0064))
    assert limit.name == "tail probe"
    text = said(row(stalls_tail_probe=13.0, stall_max_s=0.0064, completion_s=0.00817))
    assert text.startswith("A block waits 1.3 times for a tail-loss probe, for 6.4 ms at most. ")
    assert text.endswith("and takes 8.17 ms, without a timeout.")
    assert "5 ms or more" not in text
    both = row(stalls_tail_probe=13.0, stall_max_s=0.2, timeouts=2.0)
    assert said(both).startswith(
        "A block waits 1.3 times for a tail-loss probe, and 0.20 times for a timer, for 5 ms or "
        "more each time. "
    )
    assert "with 0.20 timeouts of at least 5 ms." in said(both)
    rare = row(stalls_tail_probe=1.0, timeouts=2.0)
    assert limit_of(CASES[2], rare).name == "timer"
    assert said(rare).startswith("A block waits 0.20 times for a timer, for 5 ms or more each ")


def test_a_line_that_is_nearly_full_does_not_limit_runs_that_collapse() -> None:
    full = row(goodput_bps=0.9 * lossless_goodput(CASES[2].here), timeouts=1.0)
    assert limit_of(CASES[2], full).name == "line"
    assert limit_of(CASES[2], full, 1 / 12).name == "timer"


@pytest.mark.parametrize(
    ("which", "means", "name"),
    [
        (CASES[1], row(timeouts=50.0), "buffer"),
        (CASES[0], row(timeouts=50.0, timeouts_handshake=40.0), "handshake"),
        (CASES[2], row(timeouts=50.0), "windows"),
        (CASES[2], row(), "transport"),
    ],
)
def test_the_resource_has_a_name(which: Case, means: dict[str, Any], name: str) -> None:
    assert limit_of(which, means).name == name


def test_facts_have_units_at_the_end_of_their_names() -> None:
    facts = limit_of(CASES[2], row(stalls_tail_probe=13.0, stall_max_s=0.0064)).facts
    assert facts == {
        "ideal_s": pytest.approx(facts["ideal_s"]), "mean_s": 0.05, "probes": 1.3,
        "longest_s": 0.0064,
    }  # fmt: skip
    assert units.kind_of("longest_s") == "time"
