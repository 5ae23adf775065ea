"""The foreign part of the corpus: its halves, its size, its files, and its judgement."""

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from validation.captures import kernel
from validation.captures.__main__ import main
from validation.captures.foreign import incomplete, judging, links, real
from validation.captures.foreign.cases import Foreign, all_foreign, made_here, on_kernel
from validation.captures.foreign.files import Form, write
from validation.captures.foreign.make import make
from validation.captures.foreign.packet import ACK, PSH, Packet, as_ipv6
from validation.captures.foreign.split import committed, halves
from validation.captures.foreign.witness import Witnesses
from validation.captures.split import DEVELOPMENT, HELD_OUT

_CLIENT, _SERVER = "192.0.2.1", "192.0.2.2"


def _data(time: float, seq: int, number: int = 0) -> Packet:
    return Packet(time, _SERVER, _CLIENT, (80, 4000), seq, 1, ACK, 1000, 100, b"", number)


def _ack(time: float, ack: int) -> Packet:
    return Packet(time, _CLIENT, _SERVER, (4000, 80), 1, ack, ACK, 1000, 0)


def _told(name: str, directory: Path) -> dict[str, Any]:
    case = next(case for case in made_here() if case.name == name)
    (path,) = make(case, directory)
    told: dict[str, Any] = json.loads(path.with_suffix(".json").read_text("utf-8"))
    return told


def test_the_halves_are_the_committed_ones() -> None:
    assert committed() == halves()
    assert len(all_foreign()) == len({case.name for case in all_foreign()})


def test_the_held_out_half_has_600_controls_of_all_kinds() -> None:
    held = [case for case in made_here() if committed()[case.name] == HELD_OUT]
    assert sum(not case.incast for case in held) >= judging.CONTROLS
    assert {case.kind for case in held} == {case.kind for case in made_here()}


def test_a_capture_is_the_same_each_time(tmp_path: Path) -> None:
    for name in ("a", "b"):
        arguments = ["make", str(tmp_path / name), "--foreign", "--half", "development"]
        assert main([*arguments, "--only", "window"]) == 0
    files = sorted(path.name for path in (tmp_path / "a").iterdir())
    cases = [case for case in made_here() if case.family == "window"]
    asked = sum(committed()[case.name] == DEVELOPMENT for case in cases)
    assert len(files) == 2 * asked + 1 > 100
    for name in files:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_witnesses_of_a_loss() -> None:
    def seen(*packets: Packet, counted: bool = False, complete: bool = True) -> int:
        return len(Witnesses(list(packets), counted=counted, complete=complete).times[_SERVER])

    first, second, third = _data(0.0, 1, 1), _data(0.1, 101, 2), _data(0.2, 201, 3)
    assert seen(first, second, third, counted=True) == 0
    assert seen(first, second, second) == 1, "bytes that come twice"
    assert seen(first, third) == 1, "a hole"
    assert seen(first, third, complete=False) == 0, "which may be the file's"
    assert seen(first, third, second, complete=False) == 1, "unless it is filled"
    assert seen(first, _data(0.1, 101, 3), counted=True) == 1, "a number is missing"
    assert seen(first, _data(0.1, 101, 3)) == 0, "which says nothing of a host's counter"
    assert seen(first, _ack(0.1, 101), _ack(0.2, 101)) == 1, "an ACK that repeats the one before"


def test_a_wait_without_a_witness_is_in_doubt() -> None:
    stall = {"server": _SERVER, "start": 0.1, "duration": 0.2, "expired": 0.3}
    late = Witnesses([_data(0.0, 1), _data(0.3, 101)], counted=False, complete=True)
    again = Witnesses([_data(0.0, 1), _data(0.3, 1)], counted=False, complete=True)
    assert not late.of_stall(stall)
    assert again.of_stall(stall)


@pytest.mark.parametrize("kind", [*links.TUNNELS, *links.LINKS, "ethernet"])
@pytest.mark.parametrize("version6", [False, True])
def test_the_packet_is_behind_its_links_and_tunnels(
    kind: str, version6: bool, tmp_path: Path
) -> None:
    packet = _data(1.5, 77)
    if version6:
        packet.source, packet.target = as_ipv6(packet.source), as_ipv6(packet.target)
    path = tmp_path / "one.pcap"
    write([packet], path, Form(kind, 1600, nanoseconds=False))
    data = path.read_bytes()
    assert int.from_bytes(data[20:24], "little") == links.link_type(kind)
    kept, length = (int.from_bytes(data[at : at + 4], "little") for at in (32, 36))
    inner = (40 if version6 else 20) + 20 + packet.length
    assert kept == length == len(data) - 40
    frame = data[40:]
    assert frame[-inner] >> 4 == (6 if version6 else 4)
    assert frame[-inner + (6 if version6 else 9)] == 6, "TCP"
    if kind in links.TUNNELS:
        assert int.from_bytes(frame[16:18], "big") == len(frame) - 14, "the outer length"


def test_files_lack_what_their_kind_says() -> None:
    packets = [packet for at in range(40) for packet in _round(at)]
    random = Random(1)
    kept = {kind: change(packets, random) for kind, change in incomplete.CHANGES.items()}
    assert all(one.length for one in kept["filtered"])
    assert len(kept["filtered"]) < 80
    assert len(kept["data-only"]) == 80
    assert len({one.way for one in kept["one-direction"]}) == 1
    assert kept["syn-only"] == []
    for kind in ("mirrored", "two-devices", "appended"):
        again = Counter((one.way, one.seq, one.ack) for one in kept[kind])
        assert set(again.values()) == {2}
    times = [one.time for one in kept["clock-back"]]
    assert sum(after < before for before, after in pairwise(times)) == 1
    assert len(kept["drops"]) < len(packets) > len(kept["bursts-of-drops"])
    assert incomplete.shown(packets, [one for one in packets if one.seq != 101])
    assert not incomplete.shown(packets, [one for one in packets if one.length])


def _round(at: int) -> list[Packet]:
    seq, time = 1 + 200 * at, 0.01 * at
    last = _data(time + 1e-4, seq + 100)
    last.flags |= PSH
    return [_data(time, seq), last, _ack(time + 2e-4, seq + 200)]


def test_the_truth_says_what_a_file_can_show(tmp_path: Path) -> None:
    filtered = _told("incomplete-filtered-control-first-01", tmp_path)
    assert filtered["incomplete"] == "filtered"
    assert (filtered["control"], filtered["quiet"], filtered["episodes"]) == (True, False, [])
    tunnel = _told("tunnel-vxlan-incast-first-00", tmp_path)
    assert tunnel["tunnel"] == "vxlan"
    assert (tmp_path / tunnel["plain"]).exists()
    late = _told("service-late-rpc-control-first-00", tmp_path)
    assert (late["found"], late["quiet"]) == (["slow_server"], True)
    syns = _told("incomplete-syn-only-incast-first-00", tmp_path)
    assert not syns["proven"]
    closed = _told("window-closed-to-the-end-control-first-00", tmp_path)
    assert closed["to_end"]
    assert closed["pauses"][-1] > 1.0


def test_a_false_incast_and_an_invented_cause_are_mistakes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = _told("service-late-rpc-control-first-00", tmp_path)
    right = {
        "incast": False,
        "began_s": 0.0,
        "episodes": [],
        "stalls": [],
        "look_alikes": [{"name": "slow_server", "found": True, "why": ""}],
    }
    wrong = right | {
        "incast": True,
        "stalls": [{"flow": "a:1 > b:2", "start_s": 0.0, "duration_s": 0.2, "cause": "tail"}],
        "look_alikes": [{"name": "slow_server", "found": False, "why": ""}],
    }
    for report, mistakes in ((right, 0), (wrong, 3)):
        score = judging.Score()
        monkeypatch.setattr(judging, "diagnose", lambda _, report=report: report)
        judging.judge(tmp_path / told["file"], score)
        assert sum(count for count, _, _ in score.mistakes) == mistakes
        held = {one.what: one.value >= one.least for one in judging.criteria(score)}
        assert held["controls without false incast"] is (mistakes == 0)
        assert held["look-alikes present, not ruled out"] is (mistakes == 0)
        assert held["no cause reported where nothing was lost"] is (mistakes == 0)


def test_a_pause_must_be_told_with_its_length(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = _told("window-below-a-segment-control-first-00", tmp_path)
    longest, stopped = max(zip(told["pauses"], told["stopped"], strict=True))
    assert stopped > longest
    for why, right in (
        (f"the longest {1000 * longest:.1f} ms", True),
        (f"the longest {1000 * stopped:.1f} ms", True),
        (f"the longest {1000 * (0.8 * longest - 0.03):.1f} ms", False),
        (f"the longest {1000 * (1.2 * stopped + 0.03):.1f} ms", False),
        ("the longest 9.9 s", False),
    ):
        report = {
            "incast": False,
            "began_s": 0.0,
            "episodes": [],
            "stalls": [],
            "look_alikes": [{"name": "receiver_paused", "found": True, "why": why}],
        }
        score = judging.Score()
        monkeypatch.setattr(judging, "diagnose", lambda _, report=report: report)
        judging.judge(tmp_path / told["file"], score)
        assert score.pauses[right] == 1


@pytest.mark.skipif(kernel.lacks() is not None, reason=f"real hosts: {kernel.lacks()}")
def test_real_hosts_lose_nothing_where_servers_are_late(tmp_path: Path) -> None:
    case = next(case for case in on_kernel() if case.kind == "slow-servers")
    made = real.make(case, tmp_path)
    told = [json.loads(path.with_suffix(".json").read_text("utf-8")) for path in made]
    assert [one["vantage"] for one in told] == ["client", "switch", "switch", "server:0"]
    assert {one["incomplete"] for one in told} == {"", "duplicated"}
    assert all(one["episodes"] == [] for one in told)
    assert all(path.stat().st_size > 1000 for path in made)


def test_names_say_what_a_case_is() -> None:
    case = Foreign("tunnel", "gre", incast=True, draw="first", number=3)
    assert case.name == "tunnel-gre-incast-first-03"
