"""`incast run --pcap`: captures of simulated runs."""

from collections import Counter
from pathlib import Path

import pytest

import frames
from conftest import SMALL, Command
from frames import ACK, FIN, SYN, Frame

ONE = SMALL.replace("seeds = 2", "seeds = 1")


@pytest.fixture
def one(tmp_path: Path) -> Path:
    """Return a scenario of one run with drops and timeouts."""
    path = tmp_path / "one.toml"
    path.write_text(
        ONE.replace("servers = 4", "servers = 16").replace("32KiB", "12KiB"), encoding="utf-8"
    )
    return path


def captured(command: Command, scenario: Path, *arguments: object) -> list[Frame]:
    """Run a scenario and return the frames of its capture."""
    path = scenario.parent / f"{len(list(scenario.parent.iterdir()))}.pcapng"
    done = command("run", scenario, "--pcap", path, *arguments)
    assert done.code == 0, done.err
    return frames.read(path)


@pytest.mark.parametrize("profile", ["lab", "rfc", "linux", "linux-dctcp", "ns2", "ns3"])
@pytest.mark.parametrize("at", ["client", "switch", "server:2"])
def test_a_capture_has_frames_with_right_checksums_in_the_order_of_time(
    command: Command, one: Path, profile: str, at: str
) -> None:
    found = captured(command, one, "--pcap-at", at, "--set", f"profile={profile}")
    assert found
    assert all(frame.sums == (0, 0) for frame in found)
    times = [frame.nanos for frame in found]
    assert times == sorted(times)
    assert max(frame.kept for frame in found) <= 96


def test_a_client_asks_and_acknowledges_every_byte(command: Command, one: Path) -> None:
    found = captured(command, one, "--set", "workload.connections=persistent")
    answers = [frame for frame in found if frame.ports[0] == 8500]
    requests = [frame for frame in found if frame.ports[1] == 8500 and frame.payload]
    servers = {frame.source for frame in answers}
    assert len(servers) == 16
    for server in servers:
        own = [frame for frame in answers if frame.source == server]
        syn = next(frame for frame in own if frame.flags & SYN)
        end = max(frame.seq + frame.payload for frame in own)
        assert (end - syn.seq - 1) % 2**32 == 2 * 16384, "two blocks of 16 KiB"
        asked = {frame.seq for frame in requests if frame.target == server}
        assert len(asked) == 2
        assert max(asked) - min(asked) == 64, "a request has 64 bytes"
        assert max(frame.ack for frame in own) == max(asked) + 64


def test_the_options_are_those_of_the_transport(command: Command, one: Path) -> None:
    found = captured(command, one, "--set", "profile=linux", "--set", "transport.name=cubic")
    syn = next(frame for frame in found if frame.flags & SYN)
    assert syn.options[2] == (1460).to_bytes(2, "big")
    assert {4, 8, 3} <= syn.options.keys(), "SACK permitted, timestamps, window scale"
    later = [frame for frame in found if not frame.flags & SYN]
    assert all(8 in frame.options for frame in later)
    assert any(5 in frame.options for frame in later), "SACK blocks"
    assert any(frame.flags & FIN for frame in found)
    plain = captured(command, one)
    assert not any({4, 5, 8} & frame.options.keys() for frame in plain)


def test_marks_and_echoes_are_seen(command: Command, one: Path) -> None:
    changes = (
        "profile=linux-dctcp",
        "transport.name=dctcp",
        'network.queue={name="ecn-threshold",threshold="2pkt"}',
    )
    found = captured(command, one, *(word for it in changes for word in ("--set", it)))
    assert any(frame.flags & 0xC2 == 0xC2 for frame in found), "a SYN asks for ECN"
    assert {frame.tos & 3 for frame in found} == {2, 3}
    assert any(frame.flags & 0x40 and frame.flags & ACK for frame in found)


def test_a_host_with_offloads_sees_longer_segments(command: Command, one: Path) -> None:
    change = ("--set", "transport.segmentation_offload=64KiB", "--pcap-at", "server:0")
    plain = captured(command, one, *change)
    merged = captured(command, one, *change, "--pcap-offload")
    assert max(frame.payload for frame in plain) == 1460
    assert max(frame.payload for frame in merged) > 1460
    total = [sum(it.payload for it in file if it.ports[0] == 8500) for file in (plain, merged)]
    assert total[0] == total[1]
    assert all(frame.sums == (0, 0) for frame in merged)


def test_comments_tell_what_packets_do_not(command: Command, one: Path) -> None:
    assert not any(frame.comments for frame in captured(command, one))
    found = captured(command, one, "--pcap-truth")
    words = Counter(text.split()[0] for frame in found for text in frame.comments)
    rows = command("run", one, "--format", "csv").out.splitlines()
    row = dict(zip(rows[0].split(","), rows[1].split(","), strict=True))
    assert words["drop"] == int(row["drops"]) > 0
    assert words["timeout:"] == int(row["timeouts"]) > 0


def test_results_do_not_depend_on_the_capture(command: Command, one: Path) -> None:
    plain = command("run", one, "--format", "csv").out
    beside = command("run", one, "--format", "csv", "--pcap", one.with_name("a.pcapng")).out
    assert beside == plain
    assert not one.with_name("a.pcapng.part").exists()


def test_what_cannot_be_captured_is_refused_in_one_line(
    command: Command, one: Path, sweep: Path, small: Path
) -> None:
    file = one.with_name("a.pcapng")
    there = one.with_name("there.pcapng")
    there.write_bytes(b"mine")
    for arguments, words in (
        ((sweep,), "the scenario has 6 runs; add --set workload.servers=VALUE --seeds 1"),
        ((small,), "the scenario has 2 runs; add --seeds 1"),
        ((one, "--pcap-at", "server:16"), "servers 0 to 15"),
        ((one, "--pcap-at", "router"), "must be client, client:N, switch or server:N"),
        ((one, "--snaplen", "20"), "at least 54"),
        ((one, "--out", one.with_name("out")), "cannot be combined with --out"),
        ((one, "--pcap", there), "exists"),
        ((one, "--pcap", one.parent / "no" / "a.pcapng"), "there is no directory"),
    ):
        done = command("run", *arguments, *(() if "--pcap" in arguments else ("--pcap", file)))
        assert done.code == 2, arguments
        assert words in " ".join(done.err.split()), done.err
        assert done.err.strip().count("\n") == 0 or "Usage" in done.err
    assert there.read_bytes() == b"mine"
    assert not file.exists()
