"""A scenario of the read in a capture, without values that `incast run` refuses."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incast import units
from incast._core import ScenarioError
from incast.diagnose.reading import Report
from incast.errors import CaptureError
from incast.scenario import Scenario
from incast.scenario.document import read

# The usual rates of links. If the observed rate is near none of them, no link was full.
_RATES = {
    10e6: "10Mbps", 100e6: "100Mbps", 1e9: "1Gbps", 2.5e9: "2500Mbps", 5e9: "5Gbps",
    10e9: "10Gbps", 25e9: "25Gbps", 40e9: "40Gbps", 50e9: "50Gbps", 100e9: "100Gbps",
    200e9: "200Gbps", 400e9: "400Gbps",
}  # fmt: skip
_NEAR = (0.75, 1.2)  # shares of a usual rate between which an observed rate is near it
_LEAST_BUFFER = 4  # packets, the smallest buffer
_HEADERS = 40
_MOST_HEADERS = 78  # bytes, with Ethernet and options
_SEGMENTS = (88, 65495)  # bytes, the smallest and the largest
_USUAL_SEGMENT = 1460
_USUAL_TRIP = 1e-4  # seconds
# The largest values that a simulation accepts.
_SERVERS, _ANSWER, _BLOCKS = 1_000_000, 10**9, 1000
_LARGE = 10**15


@dataclass(frozen=True)
class _Line:
    """A line of a scenario, and the key that it sets. A line without a key is never left out."""

    text: str
    key: str = ""


def document(report: Report) -> str:
    """Return the read as a scenario that `incast run` accepts.

    Raises
    ------
    CaptureError
        The capture has no answer of a server, or `incast run` accepts no scenario of the read.
    """
    return _planned([_Line(text) for text in _HEAD] + list(_lines(report["parameters"])))


def write(report: Report, path: Path) -> None:
    """Write the scenario.

    Raises
    ------
    CaptureError
        `document` refuses the read, or the file cannot be written.
    """
    text = document(report)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CaptureError(f"{path}: cannot be written: {error.strerror}") from None


_HEAD = (
    "# The read in a capture, as a scenario of incast. The values are estimates: correct them.",
    "",
    'title = "Read seen in a capture"',
    'profile = "linux"',
)


def _lines(seen: dict[str, Any]) -> Iterator[_Line]:
    servers, answer, rate_seen = (_number(seen[key]) for key in ("servers", "sru", "rate_bps"))
    if servers < 1 or answer < 1 or not rate_seen:
        raise CaptureError("--scenario: the capture must have answers of servers, but has none")
    least, most = _SEGMENTS
    mss = min(max(int(_number(seen["mss"])) or _USUAL_SEGMENT, least), most)
    rate_bps, rate = _rate(rate_seen)
    # The base round trip must be long enough to transmit a full packet and its ACK.
    shortest = 1.1 * 2 * 8 * (mss + 2 * _MOST_HEADERS) / rate_bps
    trip = max(_number(seen["rtt_s"]) or _USUAL_TRIP, shortest)
    yield from (_Line(""), _Line("[network]"), _Line('topology = "star"'))
    yield _Line(f'rate = "{rate}"  # seen: {units.rate(rate_seen)}', "network.rate")
    yield _Line(f'base_rtt = "{_time(trip)}"', "network.base_rtt")
    yield _buffer(_number(seen["buffer_bytes"]), mss)
    yield from (_Line(""), _Line("[workload]"), _Line('name = "barrier-read"'))
    yield _Line(f"servers = {min(int(servers), _SERVERS)}{_beyond(servers, _SERVERS)}")
    yield _Line(f'sru = "{min(int(answer), _ANSWER)}B"{_beyond(answer, _ANSWER)}')
    yield _Line(f"blocks = {int(min(max(_number(seen['blocks']), 1), _BLOCKS))}")
    yield _Line(f'connections = "{"persistent" if seen["persistent"] else "fresh"}"')
    yield from (_Line(""), _Line("[transport]"))
    yield _Line(f'name = "{"sack" if seen["sack"] else "newreno"}"')
    yield _Line(f"mss = {mss}", "transport.mss")
    window, timer = _number(seen["receive_window"]), _number(seen["rto_min_s"])
    if window:
        yield _Line(f'receive_window = "{max(int(window), mss)}B"', "transport.receive_window")
    if timer:
        text = f'rto_min = "{_time(timer)}"  # the usual wait for a timer'
        yield _Line(text, "transport.rto_min")


def _number(value: float | None) -> float:
    """Return an observed value, limited to `_LARGE`; 0 if it is missing or tiny."""
    if value is None or value < 1 / _LARGE:
        return 0
    return min(value, _LARGE)


def _beyond(seen: float, most: int) -> str:
    return f"  # seen: {int(seen)}, more than a simulation may have" if seen > most else ""


def _buffer(seen: float, mss: int) -> _Line:
    if not seen:
        return _Line("# buffer: no packet was seen waiting in a queue; enter your switch's buffer")
    packets = max(round(seen / (mss + _HEADERS)), _LEAST_BUFFER)
    text = f'buffer = "{packets}pkt"  # from the longest wait in a queue; correct it'
    return _Line(text, "network.buffer")


def _rate(seen: float) -> tuple[float, str]:
    rate, name = min(_RATES.items(), key=lambda item: max(item[0] / seen, seen / item[0]))
    if _NEAR[0] * rate <= seen <= _NEAR[1] * rate:
        return rate, name
    return seen, f"{max(round(seen), 1)}bps"


def _time(seconds: float) -> str:
    return f"{max(round(seconds * 1e9), 1)}ns"


def _planned(lines: Sequence[_Line]) -> str:
    """Return the lines as one string, without lines whose values are refused."""
    lines = list(lines)
    while True:
        text = "\n".join([line.text for line in lines] + [""])
        refusal = _refusal(text)
        if refusal is None:
            return text
        key, _, why = refusal.partition(": ")
        at = _at_fault(lines, key)
        if at is None:
            raise CaptureError(f"--scenario: no scenario of this read is accepted: {refusal}")
        value = lines[at].text.partition("  #")[0]
        lines[at] = _Line(f"# {value}: was seen, but left out, because incast refuses it: {why}")


def _at_fault(lines: Sequence[_Line], key: str) -> int | None:
    """Return the index of the line to leave out for a refused key.

    If no line sets the key, return a line of the same table, or else any line that sets a key.
    """
    table = key.partition(".")[0] + "."
    exact = (at for at, line in enumerate(lines) if line.key == key)
    near = (at for at, line in enumerate(lines) if line.key.startswith(table))
    others = (at for at, line in enumerate(lines) if line.key)
    return next(exact, next(near, next(others, None)))


def _refusal(text: str) -> str | None:
    """Return the reason why a scenario is refused, in one line; None if it is accepted."""
    try:
        _ = Scenario(read(text)).plan
    except ScenarioError as error:
        return units.plain(str(error))
    return None
