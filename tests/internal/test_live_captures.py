"""`incast live --pcap`: the switch captures the frames of real hosts."""

from collections import Counter
from pathlib import Path

import pytest
from test_live import READ, WHY

import frames
from conftest import Command
from frames import SYN
from incast.live.star import address

pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif(bool(WHY), reason=f"no network namespaces: {WHY}"),
]
SERVERS = 16


@pytest.fixture
def one(tmp_path: Path) -> Path:
    """Return a scenario of one run."""
    path = tmp_path / "one.toml"
    path.write_text(READ % "persistent" + "[run]\nseeds = 1\n", encoding="utf-8")
    return path


def test_the_switch_writes_what_real_hosts_send(command: Command, one: Path) -> None:
    seen = {}
    for at in ("client", "switch", "server:3"):
        path = one.with_name(f"{at.replace(':', '-')}.pcapng")
        done = command("live", one, "--pcap", path, "--pcap-at", at)
        assert done.code == 0, done.err
        seen[at] = frames.read(path)
        times = [frame.nanos for frame in seen[at]]
        assert times == sorted(times)
        assert {frame.sums[0] for frame in seen[at]} == {0}
    for at, servers in (("client", SERVERS), ("switch", SERVERS), ("server:3", 1)):
        syns = Counter(frame.target for frame in seen[at] if frame.flags & 0x12 == SYN)
        assert len(syns) == servers, at
    assert {frame.source for frame in seen["server:3"]} == {address(0), address(4)}


def test_a_switch_of_the_kernel_writes_no_capture(command: Command, one: Path) -> None:
    path = one.with_name("a.pcapng")
    done = command("live", one, "--switch", "kernel", "--pcap", path)
    assert done.code == 2
    assert "cannot be combined with --switch" in " ".join(done.err.split())
    assert not path.exists()
