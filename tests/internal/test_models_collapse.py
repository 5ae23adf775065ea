"""The model of the collapse: limits, known cases, and its published accuracy."""

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import incast
from conftest import document
from incast import _core
from incast.models import MODELS, NotApplicable, Question
from incast.models.collapse import knee, trust
from incast.models.collapse.answers import Forecast, forecast
from incast.models.collapse.blocks import SEARCH, SWEEP, Effort
from incast.models.collapse.conditions import refusal
from incast.models.collapse.reads import Reads, read
from incast.scenario.resolved import Resolved

TABLE = Path(__file__).parents[2] / "validation" / "reference" / "collapse" / "held-out.csv"
ENOUGH, FEW = 60, 32  # a fast test: 60 scenarios of the table, and up to 32 servers
PUBLISHED = 0.95  # for these scenarios; docs/validation/collapse.md has the whole table's share


def persistent(**sections: Any) -> dict[str, Any]:
    """Return a read over persistent connections, with sections changed."""
    tree = document(
        network={"buffer": "100KiB"},
        workload={
            "sru": "64KiB",
            "blocks": 20,
            "connections": "persistent",
            "request_jitter": "20us",
        },
        transport={"rto_min": "200ms"},
    )
    for name, section in sections.items():
        tree[name] = tree[name] | section
    return tree


def reads(*trees: dict[str, Any]) -> Reads:
    return read([Question(incast.load(tree).plan.points[0].here) for tree in trees])


def at(servers: list[int], tree: dict[str, Any]) -> Forecast:
    return forecast(reads(tree).with_servers(servers))


def test_one_server_and_a_deep_buffer_lose_nothing() -> None:
    deep = persistent(network={"buffer": "512MiB"})
    result = at([1, 4, 16, 24], deep)
    assert result.timeouts.tolist() == [0.0] * 4
    np.testing.assert_allclose(result.goodput, result.lossless, rtol=0.05)
    assert np.isnan(knee.first_collapse(reads(deep), most=24)).all()


def test_goodput_without_losses_is_that_of_the_simulator() -> None:
    for change in ({}, {"rate": "40Gbps"}):
        tree = persistent(network={"buffer": "512MiB"} | change)
        tree["workload"] |= {"servers": 8}
        tree["run"] = {"seeds": 3}
        simulated = incast.run(tree).summary()["goodput_bps"][0]
        assert at([8], tree).goodput[0] == pytest.approx(simulated, rel=0.12)


def test_a_known_collapse_is_predicted() -> None:
    tree = persistent()
    tree["sweep"] = {"workload.servers": [2, 12, 16, 24]}
    tree["run"] = {"seeds": 10}
    summary = incast.run(tree).summary()
    result = at([2, 12, 16, 24], persistent())
    assert result.collapsed.tolist() == [False, False, True, True]
    assert summary["collapsed"].to_list() == [0.0, 0.0, 1.0, 1.0]
    collapsed = summary["goodput_bps"].to_numpy()[2:]
    np.testing.assert_allclose(result.goodput[2:], collapsed, rtol=0.5)


def test_rare_timeouts_that_take_most_of_the_time_are_a_collapse() -> None:
    """With eight servers, one block in five has a timeout, and goodput is a sixth of the ideal."""
    result = at([8], persistent())
    assert result.timeouts[0] < 0.4
    assert result.goodput[0] < 0.25 * result.lossless[0]
    assert result.collapsed.all()


def test_the_search_waits_for_timeouts_that_are_rare() -> None:
    """With three servers, one block in 100, and so one run in five, waits 200 ms for a timeout."""
    rare = persistent(
        network={"rate": "12Gbps", "buffer": 68_600, "delay": "9us"}, workload={"sru": 95_000}
    )
    tried = range(2, 13)
    thorough = replace(SEARCH, most=8_000_000, fine=0.003)
    result = forecast(reads(rare).with_servers(tried), thorough)
    found = knee.first_collapse(reads(rare))[0]
    first = tried[int(np.flatnonzero(result.collapsed)[0])]
    assert abs(found - first) <= 1
    assert result.timeouts[result.collapsed][0] < 0.5


def test_handshakes_that_are_lost_wait_for_their_own_timer() -> None:
    """Few of 48 SYNs fit into the buffer. A lost SYN costs three seconds, lost data cost 1 ms."""
    tree = persistent(network={"buffer": "3pkt"}, workload={"blocks": 1, "servers": 48})
    tree |= {"profile": "ns2", "transport": {"rto_min": "1ms"}, "run": {"seeds": 5}}
    row = incast.run(tree).summary().row(0, named=True)
    asked = reads(tree)
    result = forecast(asked, SEARCH)
    assert row["timeouts_handshake"] > 1
    assert row["collapsed"] == 1.0
    assert result.collapsed.all()
    assert result.waits[0] > 10 * result.timeouts[0] * asked.rto_min[0]


def test_a_shorter_timer_lifts_the_goodput() -> None:
    long, short = (
        at([16, 24, 64], persistent(transport={"rto_min": rto})).goodput for rto in ("200ms", "2ms")
    )
    assert np.all(short > long)


def test_many_servers_with_a_long_timer_stay_collapsed() -> None:
    tree = persistent(workload={"sru": "256KiB"}, network={"rate": "1Gbps"})
    tree["sweep"] = {"workload.servers": [24, 32, 64]}
    tree["run"] = {"seeds": 3}
    simulated = incast.run(tree).summary()["goodput_bps"].to_numpy()
    predicted = at([24, 32, 64], tree)
    assert predicted.collapsed.all()
    np.testing.assert_allclose(np.log(predicted.goodput / simulated), 0.0, atol=0.7)


def test_a_few_points_are_followed_until_rare_timeouts_show() -> None:
    tree = persistent(
        workload={"sru": "256KiB", "servers": 4}, transport={"receive_window": "32KiB"}
    )
    (answer,) = MODELS["collapse"].answer_many(
        [Question(point.here) for point in incast.load(tree).plan.points]
    )
    assert isinstance(answer, dict)
    assert 0.0 < answer["timeouts_per_block"] < 0.1
    tree["run"] = {"seeds": 5}
    simulated = incast.run(tree).summary()["goodput_bps"][0]
    assert answer["goodput_bps"] == pytest.approx(simulated, rel=0.25)


def test_threads_and_company_do_not_change_answers() -> None:
    many = reads(persistent(), persistent(network={"buffer": "32KiB"})).with_servers([2, 9, 40])
    bounds = np.full(6, 1e4), 0.5, 0.5, 0.5
    one, three = (_core.follow_reads(many, bounds, SWEEP, threads) for threads in (1, 3))
    np.testing.assert_array_equal(one, three)
    alone = _core.follow_reads(many.take(np.array([4])), (np.full(1, 1e4), 0.5, 0.5, 0.5), SWEEP, 1)
    np.testing.assert_array_equal(np.array(one)[:, 4:5], alone)


def test_a_column_that_is_missing_or_of_another_type_is_refused() -> None:
    wrong = replace(reads(persistent()), buffer=np.array([1]))
    with pytest.raises(TypeError, match="buffer"):
        _core.follow_reads(wrong, (np.ones(1), 0.5, 0.5, 0.5), SWEEP, 1)


def test_it_is_the_process_that_the_simulator_simulates() -> None:
    tree = persistent(network={"buffer": "64KiB"}, transport={"rto_min": "5ms"})
    tree["workload"] |= {"servers": 12}
    tree["run"] = {"seeds": 40}
    summary = incast.run(tree).summary()
    result = forecast(reads(tree), Effort(fine=0.0, coarse=0.0, most=5_000_000))
    assert result.goodput[0] == pytest.approx(summary["goodput_bps"][0], rel=0.1)
    timeouts = summary["timeouts"][0] / tree["workload"]["blocks"]
    assert result.timeouts[0] == pytest.approx(timeouts, rel=0.1)


def test_the_search_finds_the_first_of_the_numbers_that_collapse() -> None:
    shallow = reads(persistent())
    found = knee.first_collapse(shallow)
    tried = forecast(shallow.with_servers(range(2, 13)), SEARCH).collapsed
    assert found[0] == np.flatnonzero(tried)[0] + 2 if tried.any() else found[0] > 12


def test_the_search_halves_between_the_numbers_of_its_grid() -> None:
    deep = persistent(network={"buffer": "64KiB"}, transport={"rto_min": "2ms"})
    found = knee.first_collapse(reads(deep))[0]
    assert found not in knee.servers_tried()
    before = np.floor(found * (1 - knee.CLOSE)) - 1
    tried = forecast(reads(deep).with_servers([int(before), int(found)]), SEARCH)
    assert tried.collapsed.tolist() == [False, True]


def test_a_handshake_is_lost_where_headers_fill_what_packets_leave() -> None:
    gap, packet, header = 10e-6 * 10e9 / 8 / 1500, 1500, 40
    waiting = round(68 / gap)  # SYN-ACKs in a full buffer of 68 packets
    likely, never = (68 * packet + headers * header for headers in (waiting, waiting + 20))
    seconds = [
        forecast(reads(persistent(network={"buffer": size})).with_servers([256])).seconds[0]
        for size in (likely, never)
    ]
    # The client waits a second for a lost SYN-ACK, in one of twenty blocks.
    assert seconds[0] - seconds[1] > 0.03


HYSTART = {"name": "rfc9406", "min_thresh": "1ms"}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"workload": {"interval": "1ms"}}, "interval"),
        ({"workload": {"active": 2}}, "active"),
        ({"workload": {"request_size": 9000}}, "request_size"),
        ({"network": {"queue": "red"}}, "queue"),
        ({"network": {"queue": {"name": "ecn-threshold", "threshold": "70%"}}}, "threshold"),
        ({"transport": {"name": "vegas"}}, "vegas"),
        ({"transport": {"name": "bbr", "recovery": "newreno"}}, "BBR"),
        ({"transport": {"prr": "rfc9937"}}, "prr"),
        ({"transport": {"undo": "eifel", "timestamps": True}}, "undo"),
        (
            {"transport": {"congestion_control": {"name": "cubic", "hystart": HYSTART}}},
            "hystart: min_thresh",
        ),
        ({"transport": {"recovery": {"name": "rack-tlp", "probe_rtts": 3}}}, "probe_rtts"),
        ({"transport": {"pacing": True}}, "pacing"),
        ({"transport": {"rto_jitter": 0.5}}, "rto_jitter"),
        ({"transport": {"dupack_threshold": 2}}, "dupack_threshold"),
        ({"network": {"clock_noise": "1us"}}, "clock_noise"),
        ({"workload": {"blocks": None, "duration": "1s"}}, "duration"),
    ],
)
def test_it_says_what_it_does_not_know(change: dict[str, dict[str, Any]], reason: str) -> None:
    tree = persistent(**change)
    tree["workload"] = {key: value for key, value in tree["workload"].items() if value is not None}
    question = Question(Resolved(incast.load(tree).plan.points[0].resolved))
    said = refusal(question)
    assert said is not None
    assert reason in said
    assert isinstance(MODELS["collapse"].answer(question.point.tree), NotApplicable)


def test_linux_has_rules_of_its_own() -> None:
    def rules(tree: dict[str, Any]) -> list[float]:
        asked = reads(tree)
        flags = ("times_blocks", "defers", "counts_acks", "needs_reordering", "cubic_counts")
        return [float(getattr(asked, name)[0]) for name in (*flags, "examine")]

    fresh = persistent(workload={"connections": "fresh"}, transport={"name": "cubic"})
    assert rules(fresh | {"profile": "linux"}) == [1, 1, 1, 1, 1, 2]
    assert rules(fresh | {"profile": "rfc"}) == [0, 0, 0, 0, 0, 0]


def test_it_finds_the_published_share_of_collapse_points() -> None:
    with TABLE.open(newline="") as file:
        rows = list(csv.DictReader(file))[:ENOUGH]
    rows = [row for row in rows if row["servers"] and int(row["servers"]) <= FEW]
    asked = reads(
        *(
            persistent(
                network={
                    "rate": f"{row['rate']}bps",
                    "delay": f"{int(row['round_trip_ns']) // 4}ns",
                    "buffer": int(row["buffer"]),
                },
                workload={"sru": int(row["sru"])},
                transport={"rto_min": f"{row['rto_min_us']}us"},
            )
            for row in rows
        )
    )
    most = 2 * FEW
    predicted = knee.first_collapse(asked, most)
    simulated = np.array([float(row["servers"]) for row in rows])
    found = np.abs(predicted - simulated) <= np.maximum(1, 0.2 * simulated)
    assert found.mean() >= PUBLISHED
    error = np.abs(np.log(np.where(np.isnan(predicted), most, predicted) / simulated)).mean()
    constant = np.abs(np.log(simulated / np.median(simulated))).mean()
    assert constant / error >= 5


def simulated(tree: dict[str, Any], seeds: int) -> float:
    """Return the simulator's mean goodput."""
    tree["run"] = {"seeds": seeds}
    return float(incast.run(tree).summary()["goodput_bps"][0])


def told(tree: dict[str, Any]) -> dict[str, float] | NotApplicable:
    points = incast.load(tree).plan.points
    return MODELS["collapse"].answer_many([Question(Resolved(it.resolved)) for it in points])[0]


@pytest.mark.parametrize(
    "change",
    [
        {"transport": {"send_jitter": "20us"}},
        {"workload": {"start_spread": "200us"}},
        {"workload": {"connections": "fresh"}, "transport": {"rto_min": "5ms"}},
        {"network": {"server_rate": "400Mbps"}},
        {"network": {"client_rate": "250Mbps"}},
        {"network": {"server_delay": "400us", "layer2_overhead": 38}},
        {"network": {"buffer_cell": 208, "buffer_packet_overhead": 64}},
        {"transport": {"delayed_ack": True}},
        {"transport": {"idle_restart": "5681", "send_jitter": "5us"}},
        {"transport": {"name": "sack", "send_jitter": "5us"}},
    ],
    ids=str,
)
def test_what_a_scenario_says_of_hosts_and_links_is_simulated(change: dict[str, Any]) -> None:
    tree = persistent(transport={"rto_min": "5ms"}, workload={"servers": 12})
    for name, section in change.items():
        tree[name] |= section
    answer = told(tree)
    assert isinstance(answer, dict), answer
    assert answer["goodput_bps"] == pytest.approx(simulated(tree, 10), rel=0.12)


@pytest.mark.parametrize("profile", ["ns2", "ns3", "rfc"])
@pytest.mark.parametrize("connections", ["fresh", "persistent"])
def test_profiles_are_simulated(profile: str, connections: str) -> None:
    tree = persistent(workload={"servers": 16, "connections": connections})
    tree["profile"] = profile
    tree["transport"] = {"rto_min": "5ms", "send_jitter": "10us"}
    answer = told(tree)
    assert isinstance(answer, dict), answer
    assert answer["goodput_bps"] == pytest.approx(simulated(tree, 10), rel=0.15)


@pytest.mark.parametrize("buffer", ["4MiB", "64KiB"])
def test_linux_is_simulated_with_losses_and_without(buffer: str) -> None:
    tree = persistent(
        network={"buffer": buffer}, workload={"servers": 8, "connections": "fresh", "blocks": 10}
    )
    tree["profile"], tree["transport"] = "linux", {"rto_min": "10ms"}
    answer = told(tree)
    assert isinstance(answer, dict), answer
    assert answer["goodput_bps"] == pytest.approx(simulated(tree, 10), rel=0.15)


@pytest.mark.parametrize("profile", ["lab", "linux", "ns2", "ns3", "rfc"])
@pytest.mark.parametrize("name", ["tahoe", "reno", "newreno", "sack", "cubic", "dctcp"])
def test_every_transport_is_simulated_in_every_profile(profile: str, name: str) -> None:
    tree = persistent(
        network={"buffer": "40pkt"}, workload={"servers": 12, "connections": "fresh", "blocks": 10}
    )
    tree["profile"] = profile
    tree["transport"] = {"name": name, "rto_min": "5ms", "send_jitter": "20us"}
    answer = told(tree)
    assert isinstance(answer, dict), answer
    assert answer["goodput_bps"] == pytest.approx(simulated(tree, 8), rel=0.2)


def test_the_readmes_own_example_is_answered_as_the_simulator_answers_it() -> None:
    tree = persistent(
        network={"rate": "25Gbps", "delay": "5us", "buffer": "512KiB"},
        workload={"sru": "512KiB", "blocks": 50, "servers": 16, "request_jitter": "5us"},
        transport={"rto_min": "200ms", "initial_window": 10, "send_jitter": "2us"},
    )
    answer = told(tree)
    assert isinstance(answer, dict), answer
    # Without the jitter of the hosts, it would be 14.6 Gbps.
    assert answer["goodput_bps"] == pytest.approx(simulated(tree, 10), rel=0.5)
    tree["workload"]["servers"] = 32
    answer = told(tree)
    assert isinstance(answer, dict), answer
    assert answer["goodput_bps"] == pytest.approx(simulated(tree, 3), rel=0.1)


def test_where_chance_decides_there_is_no_answer_but_a_reason() -> None:
    tree = persistent(workload={"servers": 8, "blocks": 4})
    said = told(tree)
    assert isinstance(said, NotApplicable)
    assert "depends on chance" in said.reason


def test_answers_say_how_far_they_may_be_trusted() -> None:
    factors = [one.factor for one in trust.regions()]
    assert factors == sorted(factors)
    assert all(1.0 <= factor < 2.0 for factor in factors)
    assert all(one.reads > 0 for one in trust.regions())
    steady = told(persistent(network={"buffer": "8MiB"}))
    assert isinstance(steady, dict)
    assert steady["collapse.uncertainty"] < 0.02
    assert steady["collapse.factor"] == factors[0]
    line = trust.line([0.0, 0.0, 0.2])
    assert f"a factor of {factors[0]:.2f} at 2 of 3 points" in line
    assert f"a factor of {factors[2]:.2f} at 1 of 3" in line
