"""`incast diagnose --scenario` writes a valid scenario for every capture."""

import random
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import captures
from conftest import Command
from incast import load
from incast.diagnose import scenario
from incast.errors import CaptureError

PLAIN: dict[str, Any] = {
    "rtt_s": 1e-4, "rate_bps": 9.4e8, "buffer_bytes": 96_000.0, "mss": 1460,
    "receive_window": 65535, "rto_min_s": 0.2, "servers": 8, "sru": 65536, "blocks": 4,
    "persistent": True, "sack": True, "timestamps": True, "probes": False,
}  # fmt: skip
ANSWERS = ("servers", "sru", "rate_bps")  # a simulation needs these three


def written(**changes: Any) -> str:
    """Return the scenario that is written for the observed parameters."""
    return scenario.document({"parameters": PLAIN | changes})


def planned(text: str) -> dict[str, Any]:
    """Check that a scenario can be planned; return its tree."""
    document = tomllib.loads(text)
    assert load(document).plan.points
    return document


def test_what_was_seen_is_written() -> None:
    document = planned(written())
    assert document["network"] == {
        "topology": "star", "rate": "1Gbps", "base_rtt": "100000ns", "buffer": "64pkt",
    }  # fmt: skip
    assert document["workload"] == {
        "name": "barrier-read", "servers": 8, "sru": "65536B", "blocks": 4,
        "connections": "persistent",
    }  # fmt: skip
    assert document["transport"] == {
        "name": "sack", "mss": 1460, "receive_window": "65535B", "rto_min": "200000000ns",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "key", "reason"),
    [
        ({"rto_min_s": 130.0}, "transport.rto_min", "exceeds rto_max"),
        ({"rto_min_s": 199_520_000.0}, "transport.rto_min", "is too large"),
        ({"rate_bps": 206_166_873_536_000.0}, "network.rate", "is too large"),
        ({"rtt_s": 1e9}, "network.base_rtt", "is too large"),
        ({"receive_window": 2**40}, "transport.receive_window", "out of range"),
    ],
)
def test_what_is_refused_is_left_out_and_named(
    changes: dict[str, Any], key: str, reason: str
) -> None:
    text = written(**changes)
    table, name = key.split(".")
    assert name not in planned(text)[table]
    (comment,) = (line for line in text.splitlines() if line.startswith(f"# {name} = "))
    assert "was seen, but left out, because incast refuses it: " in comment
    assert reason in comment


def test_what_is_too_much_is_less() -> None:
    text = written(servers=10**9, sru=10**13, blocks=10**9)
    workload = planned(text)["workload"]
    assert (workload["servers"], workload["sru"], workload["blocks"]) == (
        10**6,
        "1000000000B",
        1000,
    )
    assert "servers = 1000000  # seen: 1000000000, more than a simulation may have" in text


@pytest.mark.parametrize("key", ANSWERS)
@pytest.mark.parametrize("value", [None, 0, -5])
def test_without_answers_there_is_no_scenario(key: str, value: int | None) -> None:
    told = r"^--scenario: the capture must have answers of servers, "
    with pytest.raises(CaptureError, match=told) as error:
        written(**{key: value})
    assert "\n" not in str(error.value)


def extreme(stream: random.Random, usual: float, *, whole: bool) -> float | int | None:
    """Return the usual number, a number that no network has, or None."""
    kinds: list[Callable[[], float | None]] = [
        lambda: usual,
        lambda: usual * 10 ** stream.uniform(-12, 12),
        lambda: stream.choice([1e-300, 1e300, 1e18, 1.0, 2.0**63, -(2.0**63), -usual, 0.0]),
        lambda: None,
    ]
    value = stream.choice(kinds)()
    return value if value is None or not whole else int(min(max(value, -(2**63)), 2**63 - 1))


@pytest.mark.parametrize("seed", range(20))
def test_extreme_numbers_always_give_a_scenario_that_is_planned(seed: int) -> None:
    stream = random.Random(seed)
    for _ in range(50):
        changes: dict[str, Any] = {}
        for key, usual in PLAIN.items():
            if isinstance(usual, bool):
                changes[key] = stream.random() < 0.5
                continue
            number = extreme(stream, usual, whole=isinstance(usual, int))
            wanted = key in ANSWERS and (number is None or number < 1)
            changes[key] = usual if wanted else number
        planned(written(**changes))


def test_the_report_is_not_lost_with_the_scenario(command: Command, tmp_path: Path) -> None:
    capture = captures.built(servers=4, lost=1)
    capture.frames = capture.frames[:1]  # only a SYN
    out = tmp_path / "read.toml"
    done = command("diagnose", capture.write(tmp_path / "a.pcap"), "--scenario", out)
    assert done.code == 2
    told = "incast: --scenario: the capture must have answers of servers, but has none\n"
    assert done.err == told
    assert "1 TCP packet of 1 connection" in done.out
    assert not out.exists()
