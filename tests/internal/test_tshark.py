"""tshark finds only whole packets in our captures, and finds the simulator's retransmissions."""

import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import frames
import incast
from frames import FIN, SYN, Frame
from incast import _core
from validation.captures.scenarios import Case, simulated

FIELDS = (
    "tcp.srcport",
    "tcp.analysis.retransmission",
    "tcp.analysis.out_of_order",
    "tcp.analysis.duplicate_ack",
    "_ws.malformed",
    "ip.checksum.status",
    "tcp.checksum.status",
)
SERVER = 8500
GOOD, NONE = "1", ""  # NONE is the TCP checksum status of a datagram
WHOLE = 1 << 17  # bytes; tshark verifies no checksum of a frame that is cut off
LOSSY = [case for case in simulated() if case.family in ("incast", "bad-optic", "few-flows")]

pytestmark = pytest.mark.skipif(
    shutil.which("tshark") is None, reason="tshark, the oracle, is not installed"
)


def told(path: Path) -> Iterator[dict[str, str]]:
    """Yield the fields that tshark prints for each frame."""
    checks = [f"{protocol}.check_checksum:TRUE" for protocol in ("ip", "tcp", "udp")]
    words = ["tshark", "-r", str(path), "-T", "fields"]
    words += [word for field in FIELDS for word in ("-e", field)]
    words += [word for check in checks for word in ("-o", check)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        yield dict(zip(FIELDS, line.split("\t"), strict=True))


def duplicates(captured: list[Frame]) -> int:
    """Count the client's ACKs that repeat the last ACK: same number, same window, no data.

    RFC 5681 also requires outstanding data, but tshark does not. tshark counts the client's second
    ACK if data arrived twice.
    """
    last: dict[tuple[str, tuple[int, int]], tuple[int, int]] = {}
    count = 0
    for frame in captured:
        if frame.ports[1] != SERVER:
            continue
        key, ack = (frame.target, frame.ports), (frame.ack, frame.window)
        count += not frame.payload and not frame.flags & (SYN | FIN) and last.get(key) == ack
        last[key] = ack
    return count


@pytest.mark.parametrize("case", LOSSY[:20], ids=lambda case: case.name)
def test_tshark_sees_every_repetition_and_no_other(case: Case, tmp_path: Path) -> None:
    path = tmp_path / "a.pcapng"
    point = incast.load(case.document).plan.points[0]
    ours = _core.run(point.scenario, 1, capture=_core.Capture(path, "switch", WHOLE))["rows"][0]
    seen: Counter[str] = Counter()
    for frame in told(path):
        assert not frame["_ws.malformed"]
        assert frame["ip.checksum.status"] == GOOD
        assert frame["tcp.checksum.status"] in (GOOD, NONE)
        if frame["tcp.srcport"] == str(SERVER):
            again = frame["tcp.analysis.retransmission"] or frame["tcp.analysis.out_of_order"]
            seen["again"] += bool(again)
        else:
            seen["duplicates"] += bool(frame["tcp.analysis.duplicate_ack"])
    # The switch sees each packet once, in the order of sending. tshark calls a retransmission "out
    # of order" if it follows soon after the later packets.
    assert seen["again"] == ours["retransmitted_packets"]
    assert seen["duplicates"] == duplicates(frames.read(path))


@pytest.mark.parametrize("at", ["client", "server:1"])
def test_hosts_with_offloads_see_whole_packets_too(at: str, tmp_path: Path) -> None:
    path = tmp_path / "a.pcapng"
    case = next(case for case in LOSSY if "segmentation_offload" in case.document["transport"])
    point = incast.load(case.document).plan.points[0]
    _core.run(point.scenario, 1, capture=_core.Capture(path, at, WHOLE, truth=True, offload=True))
    assert {frame["_ws.malformed"] for frame in told(path)} == {""}
    assert {frame["tcp.checksum.status"] for frame in told(path)} <= {GOOD, NONE}
