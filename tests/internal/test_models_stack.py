"""The parameters that the collapse model takes from a scenario, and the bounds of its search."""

from dataclasses import asdict
from typing import Any

import pytest

import incast
from conftest import document
from incast.models import Question
from incast.models.collapse import blocks, knee, trust
from incast.models.collapse.conditions import refusal
from incast.models.collapse.stacks import stack
from incast.scenario.resolved import Resolved


def point(profile: str = "lab", **sections: Any) -> Resolved:
    return incast.load(document(**sections) | {"profile": profile}).plan.points[0].here


def ways(profile: str = "lab", **transport: Any) -> dict[str, float]:
    return asdict(stack(point(profile, transport=transport)))


PLAIN = {
    "repair": 2, "exit": 0, "halved": 0, "burst": 0, "growth": 0, "watch": 0, "style": 0,
    "examine": 0, "idle": 0, "careful": True, "impatient": True, "restarts_timer": True,
    "limited_transmit": True, "limited_again": False, "in_turn": False, "answers": False,
    "rescues": False, "block_bytes": False, "whole_windows": False, "defers": False,
    "closes": False, "proportional": False, "cubic_c": 0.4, "cubic_beta": 0.7,
    "cubic_yields": True, "cubic_friendly": True, "cubic_blind": 0, "cubic_counts": False,
    "bbr_startup": 2.885, "bbr_cruise": 2, "bbr_probe": 1.25, "bbr_rounds": 10,
    "bbr_full_rounds": 3, "bbr_least": 4, "bbr_burst": 1, "bbr_burst_time": 0,
    "bbr_round_trip_time": 10, "bbr_probe_time": 0.2, "uses_marks": False, "mark_alpha": 1,
    "mark_gain": 0, "mark_floor": 2, "mark_at_once": False, "probes": 0, "probe_first": 1,
    "probe_margin": 0, "probe_ack_delay": 0, "reduces_again": False, "needs_reordering": False,
    "granularity": 1e-6, "per_window": False, "timestamps": False, "times_blocks": False,
    "tick": 0, "runs_idle": False, "ack_every": 1, "ack_timeout": 0, "quick": 0,
    "counts_acks": False, "arrival_first": False,
}  # fmt: skip
"""The parameters of NewReno in the profile `lab`."""


def test_newreno_is_plain() -> None:
    assert ways() == PLAIN


def control(name: str, **keys: object) -> dict[str, Any]:
    return {"congestion_control": {"name": name, **keys}}


def recovery(name: str, **keys: object) -> dict[str, Any]:
    return {"recovery": {"name": name, **keys}, "sack": name in ("sack", "rack-tlp")}


@pytest.mark.parametrize(
    ("transport", "changed"),
    [
        ({"prr": "linux"}, {"proportional": True}),
        ({"prr": "crb"}, {}),
        ({"prr": "rfc9937"}, {}),
        ({"undo": "f-rto"}, {"examine": 1}),
        ({"undo": "linux"}, {"examine": 2}),
        ({"rto_style": "linux"}, {"style": 1}),
        ({"rto_style": "ns2"}, {"style": 2}),
        ({"rto_style": "ns3"}, {"style": 3}),
        ({"idle_restart": "5681"}, {"idle": 1}),
        ({"idle_restart": "2861"}, {"idle": 2}),
        ({"recovery_burst": 3}, {"burst": 3}),
        ({"window_unit": "packets"}, {"whole_windows": True}),
        ({"rtt_sampling": "per-window"}, {"per_window": True}),
        ({"timestamps": True}, {"timestamps": True}),
        ({"rtt_sampling": "linux"}, {"times_blocks": True}),
        ({"timer_tick": "10ms"}, {"tick": 0.01}),
        ({"rto_runs_idle": True}, {"runs_idle": True}),
        ({"limited_transmit": False}, {"limited_transmit": False}),
        ({"fin": True}, {"closes": True}),
        (control("reno", byte_counting=True), {"growth": 1}),
        (control("reno", byte_counting=True, slow_start_limit=0), {"growth": 2}),
        (control("reno", reduce_from="cwnd"), {"halved": 1}),
        (control("cubic", hystart="off"), {"growth": 3}),
        (control("cubic", hystart="linux"), {"growth": 3, "watch": 2}),
        (
            control("cubic", hystart="off", c=0.2, beta=0.5, fast_convergence=False),
            {"growth": 3, "cubic_c": 0.2, "cubic_beta": 0.5, "cubic_yields": False},
        ),
        (
            control("cubic", hystart="off", reno_friendly=False, blind_growth=7, counting="linux"),
            {"growth": 3, "cubic_friendly": False, "cubic_blind": 7, "cubic_counts": True},
        ),
        (recovery("tahoe"), {"repair": 0}),
        (recovery("reno"), {"repair": 1}),
        (recovery("newreno", exit="flight"), {"exit": 1}),
        (recovery("newreno", exit="keep"), {"exit": 2}),
        (recovery("newreno", careful=False), {"careful": False}),
        (recovery("newreno", impatient=False), {"impatient": False}),
        (recovery("newreno", restart_timer_on_entry=False), {"restarts_timer": False}),
        (recovery("sack"), {"repair": 3, "rescues": True}),
        (recovery("sack", rescue=False), {"repair": 3}),
        (recovery("sack", reduce_from="pipe"), {"repair": 3, "rescues": True, "halved": 3}),
        (recovery("rack-tlp"), {"repair": 5, "probes": 1, "reduces_again": True}),
        (
            recovery("rack-tlp", max_ack_delay="30ms", probe_initial="2s", timer_margin="1ms"),
            {"repair": 5, "probes": 1, "reduces_again": True, "probe_ack_delay": 0.03,
             "probe_first": 2, "probe_margin": 0.001},
        ),
        (
            {"delayed_ack": {"segments": 2, "timeout": "50ms", "quickack": 4}},
            {"ack_every": 2, "ack_timeout": 0.05, "quick": 4, "probe_ack_delay": 0.05},
        ),
    ],
)  # fmt: skip
def test_each_key_is_one_way_of_a_stack(
    transport: dict[str, Any], changed: dict[str, float]
) -> None:
    found = ways(**transport)
    assert {name: value for name, value in found.items() if value != PLAIN[name]} == changed


def test_dctcp_has_its_parameters() -> None:
    marks = control("dctcp", alpha=0.5, g=0.125, floor=3)
    found = asdict(stack(point(transport={"name": "dctcp", **marks})))
    names = ("uses_marks", "mark_alpha", "mark_gain", "mark_floor", "mark_at_once")
    assert [found[name] for name in names] == [True, 0.5, 0.125, 3, True]
    at_ack = control("dctcp", react_at="window-end")
    assert not stack(point(transport={"name": "dctcp", **at_ack})).mark_at_once


@pytest.mark.parametrize(
    ("sections", "name"),
    [
        ({"network": {"ties": "arrival-first"}}, "arrival_first"),
        ({"network": {"ties": "scheduled"}}, "arrival_first"),
        ({"transport": {"fin": True}}, "closes"),
    ],
)
def test_ties_and_ends_are_those_of_the_network_and_the_workload(
    sections: dict[str, Any], name: str
) -> None:
    assert getattr(stack(point(**sections)), name) is True
    kept = {"workload": {"connections": "persistent"}}
    assert not stack(point("linux", **kept)).closes
    assert stack(point("linux")).closes


@pytest.mark.parametrize(
    ("sections", "reason"),
    [
        ({"workload": {"servers": 1024}}, ""),
        ({"workload": {"servers": 1025}}, "at most 1024 servers"),
        ({"workload": {"request_size": 40}}, ""),
        ({"workload": {"request_size": 41}}, "request_size"),
        ({"workload": {"request_spread": "1us"}}, "request_spread"),
        ({"workload": {"handshakes": "before"}}, "request_spread"),
        ({"workload": {"start_spread": "1ms"}}, ""),
        ({"network": {"topology": "two-tier"}}, "the topology must be 'star', not 'two-tier'"),
        ({"network": {"buffer": {"name": "dynamic", "total": "1MiB", "alpha": 1}}}, "own buffer"),
        ({"background": [{"name": "cbr", "rate": "1Mbps"}]}, "background"),
        ({"transport": {"remedies": ["batching"]}}, "not supported: batching"),
        ({"transport": {"prr": "linux"}}, "partial_acks must be 'reduced'"),
        ({"transport": {"idle_restart": "7661"}}, "idle_restart"),
        (
            {"transport": control("reno", byte_counting=True, slow_start_limit=2)},
            "slow_start_limit = 2",
        ),
        ({"transport": control("reno", byte_counting=True, slow_start_limit=1)}, ""),
    ],
)
def test_the_model_says_what_it_cannot(sections: dict[str, Any], reason: str) -> None:
    tree = document(**{name: part for name, part in sections.items() if name != "background"})
    tree |= {name: part for name, part in sections.items() if name == "background"}
    said = refusal(Question(incast.load(tree).plan.points[0].here))
    assert (said is None) == (not reason), said
    assert reason in (said or "")


@pytest.mark.parametrize(
    ("most", "tried"),
    [
        (2, [2]),
        (5, [2, 3, 4, 5]),
        (12, list(range(2, 13))),
        (13, [*range(2, 13), 13]),
        (30, [*range(2, 13), 15, 19, 24, 30]),
        (256, [*range(2, 13), 15, 19, 24, 30, 38, 48, 60, 75, 94, 118, 148, 185, 231, 256]),
    ],
)
def test_the_search_tries_all_up_to_twelve_and_then_a_quarter_more(
    most: int, tried: list[int]
) -> None:
    assert knee.servers_tried(most) == tried
    assert knee.MOST_SERVERS == 256


@pytest.mark.parametrize(
    ("points", "most", "fine"),
    [(1, 8_000_000, 0.03), (5, 8_000_000, 0.03), (6, 6_666_666, 0.03), (40, 1_000_000, 0.03),
     (41, 120_000, 0.02), (0, 8_000_000, 0.03)],
)  # fmt: skip
def test_few_points_are_followed_longer(points: int, most: int, fine: float) -> None:
    effort = blocks.effort_for(points)
    assert (effort.most, effort.fine, effort.rare) == (most, fine, points <= 40)


def test_efforts_are_these() -> None:
    assert blocks.Effort(
        fine=0.02, coarse=0.35, clear=2.5, least=20_000, most=120_000, blocks=1,
        limit=5_000_000, rare=False,
    ) == blocks.SWEEP  # fmt: skip
    assert blocks.Effort(
        fine=0.03, coarse=0.03, clear=2.5, least=200_000, most=8_000_000, blocks=3,
        limit=5_000_000, rare=True,
    ) == blocks.FEW  # fmt: skip
    assert blocks.Effort(
        fine=0.01, coarse=0.1, clear=3.0, least=20_000, most=2_000_000, blocks=57,
        limit=20_000_000, rare=True,
    ) == blocks.SEARCH  # fmt: skip


def test_an_answer_is_trusted_as_those_of_its_region(monkeypatch: pytest.MonkeyPatch) -> None:
    regions = (
        trust.Region(0.02, 100, 1.01),
        trust.Region(0.1, 30, 1.08),
        trust.Region(0.25, 7, 1.15),
    )
    monkeypatch.setattr(trust, "regions", lambda: regions)
    places = [regions.index(trust.region(each)) for each in (0, 0.02, 0.021, 0.1, 0.11, 0.25, 9)]
    assert places == [0, 0, 1, 1, 2, 2, 2]
    assert trust.line([0.01]) == (
        "Accuracy: for 90% of 100 held-out reads with similar variation, predicted and simulated "
        "goodput (mean of 10 runs) differ by at most a factor of 1.01 (docs/validation/jitter.md)."
    )
    several = trust.line([0.05, 0.01, 0.02, 0.09, 0.0])
    assert "for 90% of 130 held-out reads" in several
    assert "a factor of 1.01 at 3 of 5 points, a factor of 1.08 at 2 of 5 points (" in several
    assert trust.EDGES == (0.02, 0.1, 0.25)
    assert "runs of 1 block has a standard error of 30%" in trust.chance(0.3, 1)
    assert "of 10 runs of 2 blocks has a standard error of 30%" in trust.chance(0.3, 2)
