"""The sentence under the table, on constructed summaries."""

import re
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incast
from conftest import document
from incast.results.causes import CAUSES
from incast.results.collapse import COLLAPSED
from incast.results.verdict import sentences
from incast.scenario.lossless import lossless_goodput
from incast.scenario.resolved import Resolved

NBSP = "\N{NO-BREAK SPACE}"


def resolved(servers: int, **changes: Any) -> Resolved:
    tree: dict[str, Any] = {
        "network": {
            "rate": "1000000000bps", "client_rate": "1000000000bps",
            "server_rate": "1000000000bps", "delay": "0.000025s", "server_delay": "0.000025s",
            "topology": {"name": "star"}, "layer2_overhead": 0,
            "buffer": 102400, "buffer_cell": 1, "buffer_packet_overhead": 0,
        },
        "workload": {
            "name": "barrier-read", "servers": servers, "sru": 65536, "connections": "fresh",
        },
        "transport": {
            "name": "newreno", "mss": 1460, "header_size": 40, "initial_window": 2,
            "receive_window": 2872, "rto_min": "0.2s", "ack_size": 40, "syn_rto": "1s",
            "handshake": "three-way", "opener": "client",
        },
        "background": [],
    }  # fmt: skip
    for key, value in changes.items():
        table, name = key.split("_", 1)
        tree[table][name] = value
    return Resolved(tree)


def point(index: int, mbps: float | None, timeouts: float = 0.0, **more: Any) -> dict[str, Any]:
    row = {
        "point": index, "ok": 0 if mbps is None else 3, "blocks": 10.0, "timeouts": 10 * timeouts,
        "goodput_bps": None if mbps is None else mbps * 1e6, "timeouts_per_block": timeouts,
        "elapsed_s": 1.0, "link_utilization": None if mbps is None else mbps / 1000,
        "status": "ok" if mbps is not None else "3 of 3 time-limit",
        **dict.fromkeys(CAUSES, 0.0),
    }  # fmt: skip
    row["timeouts_full_window"] = 8.3 * timeouts
    row["timeouts_lack_of_dupacks"] = 1.7 * timeouts
    return row | more


def say(rows: list[dict[str, Any]], servers: list[int], **changes: Any) -> list[str]:
    summary = pl.DataFrame(
        [{"workload.servers": servers[row["point"]], **row} for row in rows],
        infer_schema_length=None,
    )
    told = sentences(
        summary, ["workload.servers"], lambda index: resolved(servers[index], **changes)
    )
    return [line.replace(NBSP, " ") for line in told]


def test_a_collapse_is_located_explained_and_computed() -> None:
    rows = [point(0, 850), point(1, 900), point(2, 290, 0.9), point(3, 60, 1.4)]
    (line,) = say(rows, [4, 8, 10, 16])
    assert line == (
        "Collapses between 8 and 10 servers: 0.90 timeouts per block, 83 % full-window; "
        "the client's link is idle 71 % of the time; the buffer holds 68 packets, "
        "the first windows send 20, and the third windows send 80."
    )


def test_real_hosts_know_no_causes_and_may_be_doubted() -> None:
    unknown = dict.fromkeys(CAUSES)
    (told,) = say([point(0, 900), point(1, 90, 4.0, **unknown)], [4, 16])
    assert "4.0 timeouts per block; the client's link is idle" in told
    (told,) = say([point(0, None, status="3 of 3 untrusted")], [4])
    assert told == "No run can be trusted: use a machine with less other work."


def test_first_windows_that_overflow_are_counted_alone() -> None:
    rows = [point(0, 900), point(1, 50, 2)]
    (line,) = say(rows, [4, 16], transport_initial_window=10)
    assert line.endswith("the buffer holds 68 packets, the first windows send 160.")


def test_persistent_connections_may_send_their_whole_share() -> None:
    rows = [point(0, 900), point(1, 50, 2)]
    (line,) = say(rows, [4, 16], workload_connections="persistent")
    assert line.endswith("the buffer holds 68 packets, the windows allow up to 720.")
    (line,) = say(rows, [4, 16], workload_connections="persistent", transport_receive_window=10)
    assert line.endswith("the windows allow up to 160.")


def test_a_buffer_may_be_counted_in_packets() -> None:
    (line,) = say([point(0, 900), point(1, 50, 2)], [4, 16], network_buffer="32pkt")
    assert "the buffer holds 32 packets" in line


def test_servers_are_safe_at_and_below_a_number_although_more_recover() -> None:
    rows = [point(0, 900), point(1, 400, 0.1), point(2, 800), point(3, 100, 2)]
    (line,) = say(rows, [2, 4, 8, 16])
    assert line.startswith("Collapses between 2 and 4 servers: ")
    assert line.endswith(" (There is no collapse at 8 servers.)")
    rows[2]["collapsed"] = 1 / 3
    assert "again" not in say(rows, [2, 4, 8, 16])[0], "some seeds do"


def test_the_worst_seed_decides_how_many_servers_are_safe() -> None:
    rows = [point(i, 900, collapsed=0.0) for i in range(4)]
    rows[2]["collapsed"], rows[3] = 1 / 3, point(3, 50, 2, collapsed=1.0)
    (line,) = say(rows, [2, 4, 8, 16])
    assert line.startswith("Collapses between 4 and 16 servers: ")
    assert "(Two outcomes: at 8 servers 1 of 3 seeds collapse; use --seeds" in line
    (line,) = say(rows[:3], [2, 4, 8])
    assert line.startswith("No collapse up to 8 servers, but in some seeds beyond 4: ")
    rows[0]["collapsed"] = 2 / 3
    (line,) = say(rows, [2, 4, 8, 16])
    assert line.startswith("Collapses at 16 servers, and in some seeds already at 2, the smallest ")
    (line,) = say(rows[:3], [2, 4, 8])
    assert line.startswith("No collapse up to 8 servers, but in some seeds from 2 on: ")


def test_seeds_that_disagree_are_no_certainty() -> None:
    rows = [point(0, 900), point(1, 300, 1, goodput_bps_ci95_high=550e6)]
    (line,) = say(rows, [2, 4])
    assert line.endswith(
        " (Not certain: at 4 servers the 95 % interval of 3 seeds includes more than half of "
        "the goodput without losses; use --seeds to run more.)"
    )
    rows[1]["goodput_bps_ci95_high"] = 390e6
    assert "certain" not in say(rows, [2, 4])[0]


def test_a_link_that_others_fill_does_not_idle() -> None:
    rows = [point(0, 900), point(1, 300, 1, link_utilization=0.97)]
    (line,) = say(rows, [2, 4])
    assert "the client's link is idle 3 % of the time" in line
    others = [{"name": "cbr", "rate": "1Mbps", "packet_size": 1500}]
    told = sentences(
        pl.DataFrame([{"workload.servers": n, **row} for n, row in zip([2, 4], rows, strict=True)]),
        ["workload.servers"],
        lambda i: Resolved(resolved([2, 4][i]).tree | {"background": others}),
    )
    busy = "the client's link is busy 97 % of the time, with the other traffic"
    assert busy in told[0].replace(NBSP, " ")


def test_queries_at_random_times_may_be_few() -> None:
    asked = {"workload_interval": "0.04194304s"}  # 64 KiB from 8 servers: 100 Mbps requested
    (line,) = say([point(0, 95, 0.2)], [8], **asked)
    assert line.startswith("No collapse at 8 servers: 95 Mbps of 100 Mbps requested, ")
    (line,) = say([point(0, 40, 0.9)], [8], **asked)
    assert line.startswith("Collapsed at 8 servers: 40 Mbps of 100 Mbps requested, ")


def test_several_clients_have_several_links() -> None:
    flows = {"name": "long-flows", "servers": 2, "to": [1, 0], "duration": "1s"}
    here = Resolved(resolved(2, network_clients=2).tree | {"workload": flows})
    summary = pl.DataFrame([point(0, 1800, timeouts_per_block=None)])
    (line,) = sentences(summary, [], lambda _: here)
    assert line.startswith("No collapse at 2 servers: 1.8 Gbps of 2 × 1 Gbps, ")
    assert here.capacity == 2e9
    chain = {"topology": {"name": "chain"}}  # a link between switches may be the bottleneck
    here = Resolved(here.tree | {"network": here.tree["network"] | chain})
    (line,) = sentences(summary, [], lambda _: here)
    assert line.startswith("No collapse at 2 servers: 1.8 Gbps over links of 1 Gbps, ")
    assert here.capacity == 1e9


def test_goodput_may_halve_between_neighbours_without_staying_low() -> None:
    rows = [point(0, 900), point(1, 400, 1), point(2, 600, 0.5)]
    (line,) = say(rows, [2, 4, 8])
    assert line.startswith("Collapses between 2 and 4 servers: 1.0 timeouts per block")


def test_a_point_that_waits_for_timers_has_not_recovered() -> None:
    rows = [point(0, 900), point(1, 420, 1.1), point(2, 517, 24), point(3, 340, 120)]
    (line,) = say(rows, [16, 32, 64, 128])
    assert line.startswith("Collapses between 16 and 32 servers: 1.1 timeouts per block")
    rows = [point(0, 900), point(1, 600, 0.7), point(2, 340, 120)]
    (line,) = say(rows, [16, 32, 64])
    assert line.startswith("Collapses between 32 and 64 servers: ")


def test_active_servers_are_servers() -> None:
    rows = [point(0, 850), point(1, 60, 2)]
    summary = pl.DataFrame([{"workload.active": 4 * (1 + row["point"]), **row} for row in rows])
    (line,) = sentences(
        summary, ["workload.active"], lambda i: resolved(64, workload_active=4 * (1 + i))
    )
    assert line.startswith("Collapses between 4 and 8 servers: ")


def test_no_collapse() -> None:
    (line,) = say([point(0, 850), point(1, 900), point(2, 880, 0.01)], [2, 4, 8])
    assert line.startswith(
        "No collapse up to 8 servers: 880 Mbps of 1 Gbps there, at most 0.010 timeouts per block; "
        "the client's link is idle 12 % of the time; the buffer holds 68 packets, "
    )


def test_collapsed_everywhere() -> None:
    (line,) = say([point(0, 90, 1.1), point(1, 80, 2), point(2, 30, 9)], [16, 32, 64])
    assert line.startswith("Collapsed from 16 servers on, the smallest number tried: 1.1 timeouts")


def test_few_servers_with_little_to_send_are_not_collapsed() -> None:
    rows = [point(0, 160), point(1, 290), point(2, 20, 4), point(3, 14, 20)]
    (line,) = say(rows, [2, 4, 16, 32])
    assert line.startswith("Collapses between 4 and 16 servers: 4.0 timeouts per block")
    rows = [point(0, 160, 0.001), point(1, 290, 0.002), point(2, 20, 4)]
    (line,) = say(rows, [2, 4, 16])
    assert line.startswith("Collapses between 4 and 16 servers")


def test_rare_timeouts_that_take_most_of_the_time_are_a_collapse() -> None:
    """With 4 servers, a block takes 2.3 ms without losses; one block in ten waits for 200 ms."""
    rows = [point(0, 80, 0.1), point(1, 30, 3)]
    (line,) = say(rows, [4, 16])
    assert line.startswith("Collapsed from 4 servers on, the smallest number tried: 0.10 timeouts")
    # With 50 ms, the timeouts are too short to be the reason for the low goodput.
    (line,) = say(rows, [4, 16], transport_rto_min="0.05s")
    assert line.startswith("Collapses between 4 and 16 servers: ")


def test_slow_without_a_timeout_is_not_called_a_collapse() -> None:
    (line,) = say([point(0, 90), point(1, 150)], [2, 4])
    assert line.startswith(
        "No collapse, but always below half of the line rate: 150 Mbps of 1 Gbps"
    )
    (line,) = say([point(0, 900), point(1, 450)], [2, 4])
    assert line.startswith("Slows down between 2 and 4 servers, to 450 Mbps, but without timeouts")


def test_requests_are_too_short_only_where_they_are_without_losses() -> None:
    (line,) = say([point(0, 300)], [8], workload_sru=4096)
    assert "no timeout; the client's link is idle 70 % of the time" in line
    assert "too short" not in line
    assert line.endswith(": without losses it reaches 542 Mbps.")
    (line,) = say([point(0, 150)], [2], workload_sru=2920)
    assert line.endswith(": the requests are too short for a higher goodput.")


def test_what_the_servers_cannot_send_is_not_missed() -> None:
    rows = [point(0, 95), point(1, 190)]
    (line,) = say(rows, [1, 2], network_server_rate="100000000bps")
    assert line.startswith("No collapse up to 2 servers: 190 Mbps of 1 Gbps there, no timeout")


@pytest.mark.parametrize(
    ("row", "start"),
    [
        (point(0, 900), "No collapse at 8 servers: 900 Mbps of 1 Gbps, no timeout; "),
        (point(0, 40, 1.5), "Collapsed at 8 servers: 40 Mbps of 1 Gbps, 1.5 timeouts per block, "),
        (point(0, 40), "No collapse, but always below half of the line rate: "),
        (point(0, None), "No run finished: increase run.time_limit."),
    ],
)
def test_a_single_point(row: dict[str, Any], start: str) -> None:
    summary = pl.DataFrame([row], infer_schema_length=None)
    (line,) = sentences(summary, [], lambda _: resolved(8))
    assert line.startswith(start)


def test_points_without_a_finished_run_are_mentioned() -> None:
    rows = [point(0, 900), point(1, 50, 2), point(2, None)]
    (line,) = say(rows, [2, 4, 8])
    assert line.startswith("Collapses between 2 and 4 servers")
    assert line.endswith("(Left out: 1 point without a finished run.)")


def test_every_curve_has_its_sentence() -> None:
    keys = ["transport.name", "workload.servers"]
    at = [("newreno", 8), ("newreno", 16), ("plato", 8), ("plato", 16)]
    rows = [point(0, 900), point(1, 50, 2), point(2, 900), point(3, 890)]
    summary = pl.DataFrame([dict(zip(keys, at[row["point"]], strict=True)) | row for row in rows])
    told = sentences(summary, keys, lambda index: resolved(at[index][1]))
    assert told[0].startswith("newreno: collapses between 8 and 16 servers: ")
    assert told[1].startswith("plato: no collapse up to 16 servers: ")


def test_an_axis_other_than_servers() -> None:
    values = ["200ms", "10ms", "1ms"]
    rows = [point(0, 50, 1), point(1, 300, 2), point(2, 900, 5)]
    summary = pl.DataFrame([{"transport.rto_min": values[row["point"]], **row} for row in rows])
    (line,) = sentences(summary, ["transport.rto_min"], lambda _: resolved(16))
    assert line.startswith("Collapsed at rto_min = 200ms, 10ms; at 200ms: 1.0 timeouts per block")


def test_what_follows_names_the_key_that_is_swept() -> None:
    values = ["200ms", "10ms"]
    rows = [point(0, 50, 1, collapsed=2 / 3), point(1, 600, 0.1, collapsed=1 / 3)]
    summary = pl.DataFrame([{"transport.rto_min": values[row["point"]], **row} for row in rows])
    (line,) = sentences(summary, ["transport.rto_min"], lambda _: resolved(16))
    assert "at rto_min = 200ms 2 of 3 seeds collapse, at rto_min = 10ms 1 of 3" in line
    rows = [point(0, 900), point(1, 600, 0.1, stalls_tail_probe=7.0)]
    summary = pl.DataFrame([{"transport.rto_min": values[row["point"]], **row} for row in rows])
    (line,) = sentences(summary, ["transport.rto_min"], lambda _: resolved(16))
    assert " But at rto_min = 10ms goodput is " in line
    assert "Blocks also wait without a timeout, at rto_min = 10ms: 0.70 stalls per block" in line


def test_names_along_an_axis() -> None:
    names = ["newreno", "swift", "dctcp"]
    rows = [point(0, 50, 1), point(1, 300), point(2, 900)]
    summary = pl.DataFrame([{"transport.name": names[row["point"]], **row} for row in rows])
    (line,) = sentences(summary, ["transport.name"], lambda _: resolved(16))
    assert line.startswith("Collapsed at transport = newreno; at newreno: ")
    assert line.endswith(" (Below half of the line rate, but not because of timeouts: swift.)")


def test_numbers_of_a_healthy_axis_are_of_its_worst_point() -> None:
    rows = [point(0, 700), point(1, 900)]
    summary = pl.DataFrame([{"network.buffer": row["point"], **row} for row in rows])
    (line,) = sentences(
        summary, ["network.buffer"], lambda i: resolved(16, network_buffer=f"{32 + i}pkt")
    )
    assert "at least 700 Mbps of 1 Gbps, at 0, no timeout; the client's link is idle 30" in line
    assert "the buffer holds 32 packets" in line


@pytest.mark.parametrize("trunks", [0, 1, 3])
def test_the_round_trip_counts_the_links_between_switches(trunks: int) -> None:
    """A block of one packet takes a round trip: the request to the server, and the packet back."""
    topology: Any = {"name": "chain", "switches": trunks + 1} if trunks else "star"
    core = {"core": {"rate": "100Mbps", "delay": "70us"}} if trunks else {}
    network = {"topology": topology, "rate": "1Gbps", "delay": "25us", "buffer": "64KiB", **core}
    workload = {"servers": 1, "sru": 1460, "blocks": 3, "connections": "persistent"}
    tree = {
        "network": network,
        "workload": {"name": "barrier-read", **workload},
        "transport": {"name": "newreno"},
        "run": {"seeds": 1},
    }
    results = incast.run(tree, jobs=1)
    here = results.resolved(0)
    assert here.trunks == trunks
    assert results.frame()["completion_p50_s"][0] == pytest.approx(here.base_rtt)
    microseconds = 2 * (2 * 25 + trunks * 70)
    assert here.round_trip_packets == 1000 * microseconds // (8 * 1500)


def test_seeds_with_two_outcomes_are_called_so() -> None:
    rows = [point(0, 900), point(1, 300, 1, collapsed=2 / 3), point(2, 60, 9, collapsed=1.0)]
    (line,) = say(rows, [2, 4, 8])
    assert line.startswith("Collapses between 2 and 4 servers: ")
    assert line.endswith(
        " (Two outcomes: at 4 servers 2 of 3 seeds collapse; use --seeds to run more.)"
    )
    rows[0]["collapsed"] = 1 / 3
    assert (
        "(Two outcomes: at 2 servers 1 of 3 seeds collapse, at 4 servers" in say(rows, [2, 4, 8])[0]
    )


def test_a_poor_read_that_has_not_collapsed_is_not_called_well() -> None:
    times = {"completion_p50_s": 9e-3, "completion_p99_s": 0.21}
    ends = {"goodput_bps_ci95_low": 76e6, "goodput_bps_ci95_high": 830e6}
    (line,) = say([point(0, 900), point(1, 480, 0.001, **times, **ends)], [2, 4])
    assert line.startswith("No collapse up to 4 servers: ")
    assert line.endswith(
        " But at 4 servers goodput is 55 % of the 875 Mbps without losses, the 95 % interval of "
        "its mean is 76 Mbps to 830 Mbps, one block in a hundred takes 210 ms or more, while the "
        "median is 9 ms."
    )
    assert "But" not in say([point(0, 900), point(1, 850, **times)], [2, 4])[0]


def test_a_point_that_is_there_twice_is_one_point() -> None:
    tree = document() | {"sweep": {"workload.servers": [4, 4]}, "run": {"seeds": 1}}
    results = incast.run(tree)
    (line,) = sentences(results.summary(), results.plan.swept, results.resolved)
    assert "None" not in line
    assert "at 4 servers" in line


def test_rare_timeouts_that_are_not_why_a_read_is_slow_are_no_collapse() -> None:
    rows = [point(0, 900), point(1, 300, 0.001)]
    (line,) = say(rows, [2, 4])
    assert line.startswith(
        "Slows down between 2 and 4 servers, to 300 Mbps, but not because of timeouts: "
    )


def shuffle(clients: int) -> Resolved:
    here = incast.load("shuffle").override("network.clients", clients)
    return here.plan.points[0].here


def test_a_round_of_a_shuffle_is_told_beside_the_time_of_its_data() -> None:
    late = {"completion_p50_s": 0.2, "completion_p99_s": 0.2}
    worst = {"completion_p50_s": 0.4, "completion_p99_s": 0.41}
    rows = [point(0, 240, 9.2, **late), point(1, 349, 35, **worst), point(2, None)]
    clients = [8, 16, 32]
    summary = pl.DataFrame(
        [{"network.clients": clients[row["point"]], **row} for row in rows],
        infer_schema_length=None,
    )
    (line,) = sentences(summary, ["network.clients"], lambda i: shuffle(clients[i]))
    assert line.replace(NBSP, " ") == (
        "No verdict: a collapse is defined for one read, or for long flows, not for all-to-all. "
        "At clients = 16: a round takes 400 ms (median), 410 ms (p99), and 786 µs at the rate of "
        "the links; 35 timeouts per round, 83 % full-window; goodput is 349 Mbps for all 16 "
        "clients together; their links have 10 Gbps each, and the busiest link is busy 35 % of the "
        "time. "
        "(Left out: 1 point without a finished run.)"
    )


def test_long_flows_have_no_blocks_that_wait() -> None:
    flows = {"name": "long-flows", "servers": 2, "to": [0, 0], "duration": "1s"}
    here = Resolved(resolved(2).tree | {"workload": flows})
    row = point(0, 990, timeouts_per_block=None, blocks=0.0, stalls_network=17000.0)
    (line,) = sentences(pl.DataFrame([row]), [], lambda _: here)
    assert "wait" not in line
    row = point(0, 400, timeouts_per_block=None, blocks=0.0, stalls_tail_probe=3.0)
    (line,) = sentences(pl.DataFrame([row]), [], lambda _: here)
    assert line.replace(NBSP, " ").endswith("But flows wait: 3.0 stalls, for a tail-loss probe.")


_NUMBER = re.compile(r"(?<![A-Za-z0-9.])(\d+(?:\.\d+)?)(?: (Gbps|Mbps|kbps|bps|%))?")
_UNIT = {"": 1.0, "Gbps": 1e9, "Mbps": 1e6, "kbps": 1e3, "bps": 1.0, "%": 0.01}
_SERVERS = (2, 4, 7, 12, 23)


@settings(max_examples=100, deadline=None)
@given(
    curve=st.lists(
        st.tuples(
            st.floats(0.5, 999), st.floats(0, 30) | st.just(0.0), st.sampled_from([0, 0.4, 1])
        ),
        min_size=1,
        max_size=5,
    ),
    connections=st.sampled_from(["fresh", "persistent"]),
    buffer=st.sampled_from([8192, 102400, 1 << 20]),
)
def test_every_number_of_a_verdict_is_of_the_rows(
    curve: list[tuple[float, float, float]], connections: str, buffer: int
) -> None:
    """Each printed number agrees to two digits with a row, or with the resolved scenario."""
    changes = {"workload_connections": connections, "network_buffer": buffer}
    rows = [
        point(index, mbps, timeouts, **{COLLAPSED: share})
        for index, (mbps, timeouts, share) in enumerate(curve)
    ]
    (line,) = say(rows, list(_SERVERS), **changes)
    known = [0.95, 1e9, 3.0, float(len(rows))]
    for index, (mbps, timeouts, share) in enumerate(curve):
        here = resolved(_SERVERS[index], **changes)
        known += [
            float(_SERVERS[index]), mbps * 1e6, timeouts, 10 * timeouts, share, 3 * share,
            mbps / 1000, 1 - mbps / 1000, 0.83, 0.17, lossless_goodput(here),
            mbps * 1e6 / lossless_goodput(here),
            float(here.buffer_packets), float(here.servers * here.window_limit),
            *(float(here.window(n)) for n in range(1, 9)),
        ]  # fmt: skip
    for number, unit in _NUMBER.findall(line):
        told = float(number) * _UNIT[unit]
        near = [it for it in known if abs(it - told) <= 0.06 * abs(it) + 0.006 * (unit == "%")]
        assert near, f"{number} {unit} of {line!r}"
