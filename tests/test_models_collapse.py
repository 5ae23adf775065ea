"""The model of the collapse: limits, known cases, and its published accuracy."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import incast
from conftest import document
from incast.models import MODELS, NotApplicable, Question
from incast.models.collapse import knee
from incast.models.collapse.answers import Forecast, forecast
from incast.models.collapse.burst import Losses, meet
from incast.models.collapse.handshake import lost_handshakes
from incast.models.collapse.reads import Reads, read, refusal
from incast.models.collapse.rounds import play
from incast.models.collapse.senders import AT_ONCE, Senders
from incast.scenario.resolved import Resolved

TABLE = Path(__file__).parent.parent / "benches" / "reference" / "collapse" / "held-out.csv"
ENOUGH, FEW = 60, 32  # scenarios of the table, and servers, for a fast test
PUBLISHED = 0.75  # of these; docs/validation/collapse.md says what the whole table gives


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
    points = [incast.load(tree).plan.points[0].resolved for tree in trees]
    return read([Question(Resolved(point)) for point in points])


def at(servers: list[int], tree: dict[str, Any]) -> Forecast:
    return forecast(reads(tree).with_servers(servers))


def lone_burst(start: list[float], packets: list[float], places: float) -> Losses:
    """Let senders meet, phases in their order."""
    count = len(start)
    uniform = np.full((1, 2 * count), 0.9)
    return meet(
        np.array([start]),
        np.array([packets]),
        queue=np.zeros(1),
        places=np.array([places]),
        pipe=np.array([1e6]),
        goes_on=np.zeros((1, count), dtype=np.bool_),
        first=True,
        short_tail=np.zeros(1, dtype=np.bool_),
        draws=(np.linspace(0.1, 0.9, count)[None, :], uniform, uniform),
    )


def test_a_burst_that_fits_loses_nothing() -> None:
    losses = lone_burst([0.0, 1.0, 2.0], [10.0, 10.0, 10.0], places=18.0)
    assert losses.lost.sum() == 0


def test_who_opens_the_busy_period_keeps_its_place_and_the_latecomer_loses_all() -> None:
    # Two senders fill ten places within ten packet times; the third begins when all are taken.
    losses = lone_burst([0.0, 0.0, 15.0], [40.0, 40.0, 20.0], places=10.0)
    assert losses.lost[0].tolist() == [0.0, 30.0, 20.0]
    assert losses.before[0, 1] == pytest.approx(10.0)


def test_what_a_burst_loses_is_what_the_queue_cannot_hold() -> None:
    # All at once: n·w arrive in w packet times, w leave, B stay.
    for servers, window, places in ((4, 20, 16), (8, 10, 30), (3, 50, 5)):
        losses = lone_burst([0.0] * servers, [float(window)] * servers, float(places))
        assert losses.lost.sum() == pytest.approx(servers * window - window - places, abs=servers)


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


def test_a_known_collapse_is_foretold() -> None:
    tree = persistent()
    tree["sweep"] = {"workload.servers": [8, 12, 16, 24]}
    tree["run"] = {"seeds": 10}
    summary = incast.run(tree).summary()
    result = at([8, 12, 16, 24], persistent())
    assert result.collapsed.tolist() == [False, False, True, True]
    collapsed = summary["goodput_bps"].to_numpy()[2:]
    np.testing.assert_allclose(result.goodput[2:], collapsed, rtol=0.5)


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
    foretold = at([24, 32, 64], tree)
    assert foretold.collapsed.all()
    np.testing.assert_allclose(np.log(foretold.goodput / simulated), 0.0, atol=0.7)


def last_window(
    sent: float, *, left: float, places: float, draw: float = 0.5
) -> tuple[Senders, float]:
    """Let two senders send their last windows through a network of a full path and `places`."""
    room = reads(persistent(transport={"rto_min": "200ms"})).with_servers([2])
    values = {name: np.array([value]) for name, value in (("places", places), ("pipe", 10.0))}
    room = Reads(**{**vars(room), **values})
    senders = Senders.connected(np.array([sent]), 2)
    senders.ask(np.full((1, 2), left), np.zeros((1, 2)))
    senders.pause[:], senders.fresh[:] = AT_ONCE, False
    senders.clocked[:] = 0.0
    timeouts, _ = play(room, senders, np.zeros(1), np.full((1, 3, 1, 2), draw), 99)
    return senders, float(timeouts[0])


def test_windows_that_fit_grow_until_all_has_arrived() -> None:
    senders, timeouts = last_window(4.0, left=100.0, places=1e6)
    assert timeouts == 0
    assert (senders.left == 0).all()
    assert (senders.window > 50).all()


def test_whoever_loses_some_of_a_window_repairs_it() -> None:
    senders, timeouts = last_window(20.0, left=40.0, places=20.0)
    assert timeouts == 0
    assert (senders.left == 0).all()
    assert (senders.threshold < 20).all()


def test_whoever_loses_the_last_packets_of_all_waits_for_its_timer() -> None:
    senders, timeouts = last_window(10.0, left=10.0, places=0.0, draw=0.1)
    assert timeouts >= 2
    assert (senders.left == 0).all()


def test_a_repair_that_outlasts_the_timer_ends_in_a_timeout() -> None:
    # More holes, one per round trip of some 100 us, than the timer of 1 ms waits for.
    tree = persistent(transport={"rto_min": "1ms"})
    room = reads(tree).with_servers([1])
    senders = Senders.connected(np.array([4.0]), 1)
    senders.ask(np.full((1, 1), 2000.0), np.zeros((1, 1)))
    senders.pause[:], senders.fresh[:] = AT_ONCE, False
    senders.holes[:], senders.threshold[:] = 2000.0, 2.0
    timeouts, _ = play(room, senders, np.zeros(1), np.full((1, 3, 1, 1), 0.5), 99)
    assert timeouts[0] >= 1


def test_a_handshake_is_lost_where_headers_fill_what_packets_leave() -> None:
    gap, packet, header = 10e-6 * 10e9 / 8 / 1500, 1500, 40
    waiting = 68 / gap  # SYN-ACKs in a full buffer of 68 packets
    likely, never = (68 * packet + round(headers) * header for headers in (waiting, waiting + 20))
    few, many, other = (
        lost_handshakes(reads(persistent(network={"buffer": size})).with_servers([servers]))[0]
        for size, servers in ((likely, 8), (likely, 256), (never, 256))
    )
    assert few == 0
    assert many > 1
    assert other < many / 10
    fast = persistent(network={"rate": "100Gbps"})
    assert lost_handshakes(reads(fast).with_servers([256]))[0] == 0


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"workload": {"connections": "fresh"}}, "persistent"),
        ({"transport": {"name": "dctcp"}}, "queue"),
        ({"transport": {"name": "sack"}}, "NewReno"),
        ({"transport": {"delayed_ack": True}}, "delayed_ack"),
        ({"network": {"client_rate": "10Gbps"}}, "one rate"),
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
    foretold = knee.first_collapse(asked, most)
    simulated = np.array([float(row["servers"]) for row in rows])
    found = np.abs(foretold - simulated) <= np.maximum(1, 0.2 * simulated)
    assert found.mean() >= PUBLISHED
    error = np.abs(np.log(np.where(np.isnan(foretold), most, foretold) / simulated)).mean()
    constant = np.abs(np.log(simulated / np.median(simulated))).mean()
    assert constant / error >= 2
