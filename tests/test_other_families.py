"""Commands with a transport of another family than TCP: what works, and what is refused."""

from pathlib import Path

import pytest

import incast
from conftest import Command

BLAST = """
[network]
buffer = "32KiB"

[workload]
servers = 16
sru = "20KiB"
blocks = 4

[transport]
name = "blast"

[run]
seeds = 1
"""


@pytest.fixture
def blast(tmp_path: Path) -> Path:
    path = tmp_path / "blast.toml"
    path.write_text(BLAST)
    return path


def test_a_run_has_a_row_a_table_traces_and_pictures(
    command: Command, blast: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    told = command("run", blast, "--out", kept, "--trace", "events,queue,cwnd")
    assert told.code == 0
    assert "blast, profile lab, RTO min 1 ms" in told.out
    assert "Collapsed at 16 servers" in told.out
    assert "full-window" not in told.out, "the causes of its timeouts are not known"
    row = incast.run(incast.load(blast)).frame()
    assert row["status"].to_list() == ["ok"]
    assert row["bytes"].to_list() == [4 * 16 * 20 * 1024]
    assert row["timeouts"][0] > 0
    for kind in ("goodput", "timeouts", "swimlane", "queue", "cwnd"):
        drawn = command("plot", kept, "--kind", kind, "-o", tmp_path / f"{kind}.png")
        assert (drawn.code, drawn.err) == (0, ""), kind


def test_parts_are_named_or_tables_and_are_swept(command: Command, blast: Path) -> None:
    swept = 'sweep."transport.repair"=["go-back-n", "selective-repeat"]'
    told = command("run", blast, "--set", swept, "--format", "csv")
    assert told.code == 0
    assert [name in told.out for name in ("go-back-n", "selective-repeat")] == [True, True]
    document = {
        "workload": {"servers": 2, "sru": "20KiB"},
        "transport": {"name": {"name": "blast", "mtu": 1000}, "nic": "round-robin"},
    }
    resolved = incast.load(document).plan.points[0].resolved
    assert resolved["transport"]["mtu"] == 1000
    assert resolved["transport"]["nic"] == {"name": "round-robin"}
    again = incast.load(resolved).plan.points[0].resolved
    assert again == resolved


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("mtu", "0", "transport.mtu: 0 is out of range; must be 1 to 65000 bytes"),
        ("window", "1B", "transport.window: 1 is less than a packet; must be at least mtu"),
        ("rto", "0s", "transport.rto: must be above 0"),
        ("rate", "nope", 'transport.rate.name: "nope" is unknown; '),
        ("rate.gain", "1", 'transport.rate.gain: unknown key; "none" takes no parameters'),
        ("rto_min", "1ms", "transport.rto_min: unknown key; "),
        ("nic", "fast", 'transport.nic: "fast" is unknown; accepted: '),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    command: Command, blast: Path, key: str, value: str, why: str
) -> None:
    told = command("run", blast, "--set", f"transport.{key}={value}")
    assert told.code == 2
    assert why in told.err
    assert told.err.count("\n") == 1


def test_what_is_for_tcp_refuses_it_in_one_line(
    command: Command, blast: Path, tmp_path: Path
) -> None:
    for what, words in (
        ("advice", ["advise", blast]),
        ("live", ["live", blast]),
        ("a capture", ["run", blast, "--pcap", tmp_path / "one.pcapng"]),
    ):
        told = command(*words)
        assert told.code == 2, what
        assert f"is of the family 'blast', and {what} is for TCP" in told.err.replace('"', "'")
        assert told.err.count("\n") == 1
    told = command("model", blast)
    assert "is of the family 'blast', and a model is for TCP" in told.out


def test_its_keys_and_parts_are_listed_and_explained(command: Command) -> None:
    assert "blast" in command("list", "transports").out
    for kind, name in (("repairs", "go-back-n"), ("paths", "oblivious"), ("nics", "round-robin")):
        assert name in command("list", kind).out
    told = command("explain", "transport.mtu")
    assert "transport.mtu (blast)" in told.out
    assert "1024" in told.out
