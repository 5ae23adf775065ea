"""The exact contents of a report's tables and pictures, and of the scenario of a capture."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from incast.diagnose import pictures, reading, scenario, text

MS = 1e-3


def episode(start: float, lost: float, **more: Any) -> dict[str, Any]:
    return {
        "start_s": start, "end_s": start + 0.25, "fan_in": 8, "stalled": ["a", "b"],
        "bytes": 65536, "lost_s": lost, "receiver": "10.0.0.1",
    } | more  # fmt: skip


def stall(start: float, length: float, **more: Any) -> dict[str, Any]:
    return {
        "flow": f"flow {start}", "start_s": start, "duration_s": length, "cause": "tail",
        "confidence": 0.5, "ended_by": "timeout", "filter": "tcp",
    } | more  # fmt: skip


def test_the_costliest_ten_episodes_are_listed() -> None:
    report: Any = {"episodes": [episode(n, 0.01 * n) for n in range(12)]}
    head, *rows = text.episodes(report)
    assert head == ("start", "length", "fan-in", "waited", "bytes", "idle", "receiver")
    assert [row[0] for row in rows] == [f"{n}.000000 s" for n in range(11, 1, -1)]
    assert rows[0] == (
        "11.000000 s", "250 ms", "8", "2", "64 KiB", "110 ms",
        "10.0.0.1",
    )  # fmt: skip
    assert text.left_out(report, "episodes") == "2 more; --format json lists all."


@pytest.mark.parametrize(("count", "told"), [(10, ""), (11, "1 more; --format json lists all.")])
def test_what_a_list_leaves_out_is_told(count: int, told: str) -> None:
    report: Any = {"stalls": [stall(n, 1.0) for n in range(count)]}
    assert text.left_out(report, "stalls") == told
    assert len(text.stalls(report)) == 11


def test_stalls_are_listed_by_length_and_summed_by_cause() -> None:
    told = [
        stall(0.5, 0.2),
        stall(1.25, 0.4, cause="full_window", ended_by="probe", confidence=0.994),
        stall(2.0, 0.3),
        stall(3.0, 0.1, cause=None, ended_by="probe"),
        stall(4.0, 0.1, ended_by="probe"),
    ]
    report: Any = {"stalls": told}
    assert text.stalls(report)[1:] == [
        ("1.250000 s", "400 ms", "flow 1.25", "full window lost", "99.4\xa0%", "tcp"),
        ("2.000000 s", "300 ms", "flow 2.0", "tail lost", "50\xa0%", "tcp"),
        ("0.500000 s", "200 ms", "flow 0.5", "tail lost", "50\xa0%", "tcp"),
        ("3.000000 s", "100 ms", "flow 3.0", "cannot tell", "50\xa0%", "tcp"),
        ("4.000000 s", "100 ms", "flow 4.0", "tail lost", "50\xa0%", "tcp"),
    ]
    assert text.causes(report) == [
        ("cause", "stalls", "time", "ended by a probe"),
        ("tail lost", "3", "600 ms", "1"),
        ("full window lost", "1", "400 ms", "1"),
        ("cannot tell", "1", "100 ms", "1"),
    ]


def test_look_alikes_that_were_found_are_first() -> None:
    told = [(False, "x"), (None, "x"), (True, "x"), (True, None)]
    report: Any = {
        "look_alikes": [
            {"name": f"n{index}", "found": found, "where": where, "why": "why"}
            for index, (found, where) in enumerate(told)
        ]
    }
    assert text.look_alikes(report) == [
        ("n2", "found", "why (x)"),
        ("n3", "found", "why"),
        ("n1", "cannot tell", "why"),
        ("n0", "ruled out", "why"),
    ]


@pytest.mark.parametrize("count", [10, 11, 13])
def test_of_many_unknowns_ten_are_told(count: int) -> None:
    report: Any = {"cannot_tell": [{"what": f"w{n}", "why": "y"} for n in range(count)]}
    told = text.cannot_tell(report)
    assert told[:10] == [f"Cannot tell w{n}, because y." for n in range(10)]
    assert told[10:] == ([f"{count - 10} more like these."] if count > 10 else [])


@pytest.mark.parametrize(
    ("share", "told"), [(0.001, "0.1\xa0%"), (0.00099, "less than 0.1\xa0%"), (0.5, "50\xa0%")]
)
def test_a_share_below_a_thousandth_is_called_so(share: float, told: str) -> None:
    assert text._share({"share": share}) == told


def test_notes_name_what_is_not_listed() -> None:
    report: Any = {"interrupted": True, "tunnels": [], "files": [], "unlisted": 3}
    assert list(text.notes(report)) == [
        "The reading was interrupted; the report covers the part that was read.",
        "3 more stalls and episodes are not listed.",
    ]
    assert list(text.notes(report | {"interrupted": False, "unlisted": 0})) == []


# Pictures.

FLOWS = {
    "s1 > c": (np.array([10.0, 10.00004, 10.00016]), np.array([2**32 - 1000, 0, 1460])),
    "s2 > c": (np.array([10.00001, 10.25]), np.array([0, 1000])),
}


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Return pictures as figures instead of PNG files."""
    monkeypatch.setattr(pictures, "_png", lambda figure: figure)


def lanes(count: int = 2, stalls: tuple[dict[str, Any], ...] = ()) -> Figure:
    flows = FLOWS if count == 2 else {
        f"s{n} > c": (np.array([10.0, 10.0 + n * MS]), np.array([0, 1])) for n in range(count)
    }  # fmt: skip
    report: Any = {"stalls": list(stalls), "began_s": 9.0}
    figure: Any = pictures._lanes(flows, report, 10.0)
    assert isinstance(figure, Figure)
    return figure


def test_a_lane_has_its_packets_and_its_waits(drawn: None) -> None:
    figure = lanes(stalls=(stall(1.05, 0.2, flow="s2 > c"), stall(1.1, 9.0, flow="other")))
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["s1", "s2"]
    (bar,) = axes.patches
    assert bar.get_xy() == pytest.approx((50.0, 0.75))  # type: ignore[attr-defined]
    assert (bar.get_width(), bar.get_height()) == pytest.approx((200.0, 0.5))  # type: ignore[attr-defined]
    first, second = axes.get_lines()
    assert first.get_xdata() == pytest.approx([0, 0.04, 0.16])
    assert list(first.get_ydata()) == [0, 0, 0]
    assert second.get_xdata() == pytest.approx([0.01, 250])
    assert list(second.get_ydata()) == [1, 1]
    assert axes.get_xlim() == pytest.approx((-5, 255)), "2 % of 250 ms on both sides"
    assert figure.get_size_inches().tolist() == pytest.approx([7.6, 1.6 + 2 * 0.14])
    assert first.get_markersize() == 4
    assert {label.get_fontsize() for label in axes.get_yticklabels()} == {6}
    assert "[ms]" in axes.get_xlabel()


def test_of_many_lanes_the_last_64_are_shown(drawn: None) -> None:
    (axes,) = lanes(70).axes
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == [f"s{n}" for n in range(6, 70)]
    assert axes.get_xlim() == pytest.approx((-1.38, 70.38))


def test_sequence_numbers_are_in_kilobytes_over_milliseconds(drawn: None) -> None:
    figure: Any = pictures._sequence(FLOWS["s1 > c"], 9.9)
    (line,) = figure.axes[0].get_lines()
    assert line.get_xdata() == pytest.approx([100, 100.04, 100.16])
    assert line.get_ydata().tolist() == [0.0, 1.0, 2.46]
    assert figure.get_size_inches().tolist() == [7.6, 3.2]


def test_the_fan_in_counts_flows_of_each_bin_once(drawn: None) -> None:
    figure: Any = pictures._fan_in(FLOWS, 10.0)
    assert figure.get_size_inches().tolist() == [7.6, 5.2]
    assert [axes.get_ylabel() for axes in figure.axes] == ["per 100 µs", "per 1 ms", "per 10 ms"]
    bars = [
        [
            (round(bar.get_x(), 3), bar.get_height(), round(bar.get_width(), 3))
            for bar in one.patches
        ]
        for one in figure.axes
    ]
    assert bars == [
        [(0.0, 2, 0.1), (0.1, 1, 0.1), (250.0, 1, 0.1)],
        [(0.0, 2, 1.0), (250.0, 1, 1.0)],
        [(0.0, 2, 10.0), (250.0, 1, 10.0)],
    ]


def test_packets_of_an_episode_are_those_into_its_receiver(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[int, ...]] = []
    packets = {
        "source": ["s:1", "s:1", "t:2", "s:1", "s:1"],
        "target": ["c:9", "c:9", "d:9", "c:9", "c:9"],
        "payload": np.array([1460, 0, 1460, 1, 1460]),
        "point": np.array([0, 0, 0, 0, 1]),
        "time_ns": np.array([10**9, 2, 3, 2 * 10**9, 5]),
        "seq": np.array([7, 8, 9, 10, 11]),
    }

    class Opened:
        def packets(self, *limits: int) -> dict[str, Any]:
            asked.append(limits)
            return packets

    monkeypatch.setattr(pictures, "opened", lambda _: Opened())
    worst = episode(1.0, 9.0, receiver="c")
    report: Any = {"began_s": 100.0}
    flows = pictures._flows(report, worst, ["a"])
    # The limits are 2 % of 250 ms before and after the episode.
    assert asked == [(100_995_000_000, 101_255_000_000, 2_000_000)]
    ((name, (times, numbers)),) = flows.items()
    assert name == "s:1 > c:9"
    assert (times.tolist(), numbers.tolist()) == ([1.0, 2.0], [7, 10])


def test_the_costliest_episode_is_drawn(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, drawn: None
) -> None:
    seen: list[float] = []

    def flows(_: object, worst: dict[str, Any], __: object) -> dict[str, Any]:
        seen.append(worst["start_s"])
        return FLOWS

    monkeypatch.setattr(pictures, "_flows", flows)
    file = tmp_path / "a.pcap"
    file.write_bytes(b"1234")
    many = [episode(1.0, 0.1), episode(2.0, 0.3, stalled=["s2 > c"]), episode(3.0, 0.2)]
    report: Any = {"episodes": many, "began_s": 8.0, "stalls": []}
    told: list[Any] = list(pictures.of(report, [str(file)]))
    assert seen == [2.0]
    assert [title for title, _ in told] == [
        "Flows of the costliest episode: every packet, and the waits",
        "Sequence numbers of s2 > c",
        "Number of flows that send, per 100 µs, 1 ms and 10 ms",
    ]
    assert told[1][1].axes[0].get_lines()[0].get_xdata() == pytest.approx([0.01, 250])
    assert pictures.of(report | {"episodes": []}, [str(file)]) == []
    assert pictures.of(report, ["-"]) == []
    assert reading.size([str(file), str(file)]) == 8
    assert reading.size([str(file), "-"]) is None


@pytest.mark.parametrize(
    ("read", "total", "spent", "state"),
    [
        (0, 100, 1.0, (None, None)),
        (10, None, 1.0, (None, None)),
        (10, 0, 1.0, (None, None)),
        (25, 100, 2.0, (0.25, 6.0)),
        (100, 100, 3.0, (1.0, 0.0)),
        (120, 100, 3.0, (1.0, 0.0)),
    ],
)
def test_progress_is_a_share_and_the_time_left(
    read: int, total: int | None, spent: float, state: tuple[float | None, float | None]
) -> None:
    assert reading._state(read, total, spent) == state


# The scenario.

PLAIN: dict[str, Any] = {
    "rtt_s": 1e-4, "rate_bps": 9.4e8, "buffer_bytes": 96_000.0, "mss": 1460,
    "receive_window": 65535, "rto_min_s": 0.2, "servers": 8, "sru": 65536, "blocks": 4,
    "persistent": True, "sack": True, "timestamps": True, "probes": False,
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"rate_bps": 0.75e9}, 'rate = "1Gbps"  # seen: 750 Mbps'),
        ({"rate_bps": 0.749e9}, 'rate = "749000000bps"  # seen: 749 Mbps'),
        ({"rate_bps": 1.2e9}, 'rate = "1Gbps"  # seen: 1.2 Gbps'),
        ({"rate_bps": 1.21e9}, 'rate = "1210000000bps"  # seen: 1.21 Gbps'),
        ({"rate_bps": 45e9}, 'rate = "50Gbps"  # seen: 45 Gbps'),
        ({"rate_bps": 44e9}, 'rate = "40Gbps"  # seen: 44 Gbps'),
        ({"rate_bps": 1.5}, 'rate = "2bps"  # seen: 1.5 bps'),
        ({"buffer_bytes": 96_000.0}, 'buffer = "64pkt"'),
        ({"buffer_bytes": 5_250.0}, 'buffer = "4pkt"'),
        ({"buffer_bytes": 6_760.0}, 'buffer = "5pkt"'),
        ({"buffer_bytes": 1.0}, 'buffer = "4pkt"'),
        ({"buffer_bytes": None}, "# buffer: no packet was seen waiting"),
        # The time of two packets of 1460 + 156 bytes at 1 Gbit/s, plus 10 %: 28.44 µs.
        ({"rtt_s": 2e-5}, 'base_rtt = "28442ns"'),
        ({"rtt_s": 3e-5}, 'base_rtt = "30000ns"'),
        ({"rtt_s": None}, 'base_rtt = "100000ns"'),
        ({"mss": 87}, "mss = 88"),
        ({"mss": 70_000}, "mss = 65495"),
        ({"mss": None}, "mss = 1460"),
        ({"blocks": None}, "blocks = 1"),
        ({"blocks": 1000}, "blocks = 1000"),
        ({"blocks": 1001}, "blocks = 1000"),
        ({"servers": 1_000_000}, "servers = 1000000"),
        ({"sru": 10**9}, 'sru = "1000000000B"'),
        ({"sru": 10**9 + 1}, 'sru = "1000000000B"  # seen: 1000000001, more than a simulation'),
        ({"receive_window": 100}, 'receive_window = "1460B"'),
        ({"persistent": False}, 'connections = "fresh"'),
        ({"sack": False}, 'name = "newreno"'),
        ({"rto_min_s": 1e-10}, 'rto_min = "1ns"'),
    ],
)
def test_a_line_is_near_what_was_seen(changes: dict[str, Any], line: str) -> None:
    written = [one.text for one in scenario._lines(PLAIN | changes)]
    assert any(one.startswith(line) for one in written), written
    if "more than" not in line:
        assert "more than a simulation" not in "".join(written)


@pytest.mark.parametrize(
    ("value", "number"),
    [(None, 0), (9e-16, 0), (1e-15, 1e-15), (-5.0, 0), (1e15, 1e15), (2e15, 1e15), (7, 7)],
)
def test_a_number_that_was_seen_has_few_digits(value: float | None, number: float) -> None:
    assert scenario._number(value) == number


def test_no_line_of_a_key_is_left_out_for_what_another_said() -> None:
    lines = [
        scenario._Line("mss = 1", "transport.mss"),
        scenario._Line("rate = 1", "network.rate"),
        scenario._Line("rto = 1", "transport.rto_min"),
    ]
    assert scenario._at_fault(lines, "transport.rto_min") == 2
    assert scenario._at_fault(lines, "network.buffer") == 1
    assert scenario._at_fault(lines, "workload.sru") == 0
    assert scenario._at_fault([scenario._Line("title = 1")], "network.rate") is None
