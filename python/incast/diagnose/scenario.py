"""What was seen, as a scenario that `incast run` simulates."""

from pathlib import Path

from incast.diagnose.reading import Report
from incast.errors import CaptureError

# A rate that was seen is near one of these, or the capture has no full link.
_RATES = {
    10e6: "10Mbps", 100e6: "100Mbps", 1e9: "1Gbps", 2.5e9: "2500Mbps", 5e9: "5Gbps",
    10e9: "10Gbps", 25e9: "25Gbps", 40e9: "40Gbps", 50e9: "50Gbps", 100e9: "100Gbps",
    200e9: "200Gbps", 400e9: "400Gbps",
}  # fmt: skip
_NEAR = (0.75, 1.2)  # of a usual rate
_LEAST_BUFFER = 4  # packets
_HEADERS = 40
_MOST_HEADERS = 78  # with Ethernet and options


def document(report: Report) -> str:
    """Return the read as a scenario.

    Raises
    ------
    CaptureError
        The capture has no answer of a server to simulate.
    """
    seen = report["parameters"]
    if not seen["servers"] or not seen["sru"] or not seen["rate_bps"]:
        raise CaptureError("--scenario: must have answers of servers; the capture has none")
    mss = min(max(int(seen["mss"]) or 1460, 88), 65495)
    packet = mss + _HEADERS
    base = seen["rtt_s"] or 1e-4
    rate_bps, rate = _rate(seen["rate_bps"])
    least = 2 * 8 * (mss + 2 * _MOST_HEADERS) / rate_bps
    buffer = "# buffer: no packet was seen to wait in a queue; write that of your switch"
    if seen["buffer_bytes"]:
        packets = max(round(seen["buffer_bytes"] / packet), _LEAST_BUFFER)
        buffer = f'buffer = "{packets}pkt"  # from the longest wait in a queue; correct it'
    timer = seen["rto_min_s"]
    lines = [
        "# What a capture shows, as incast would simulate it: estimates, to be corrected by hand.",
        "",
        'title = "Read seen in a capture"',
        'profile = "linux"',
        "",
        "[network]",
        'topology = "star"',
        f'rate = "{rate}"  # seen: {seen["rate_bps"] / 1e6:.1f} Mbps',
        f'base_rtt = "{_time(max(base, 1.1 * least))}"',
        buffer,
        "",
        "[workload]",
        'name = "barrier-read"',
        f"servers = {seen['servers']}",
        f'sru = "{max(int(seen["sru"]), 1)}B"',
        f"blocks = {min(max(seen['blocks'], 1), 1000)}",
        f'connections = "{"persistent" if seen["persistent"] else "fresh"}"',
        "",
        "[transport]",
        'name = "newreno"' if not seen["sack"] else 'name = "sack"',
        f"mss = {mss}",
    ]
    if seen["receive_window"] > 0:
        lines.append(f'receive_window = "{max(int(seen["receive_window"]), mss)}B"')
    if timer:
        lines.append(f'rto_min = "{_time(timer)}"  # the usual wait for a timer')
    return "\n".join([*lines, ""])


def write(report: Report, path: Path) -> None:
    """Write the scenario.

    Raises
    ------
    CaptureError
        The capture has no read, or the file cannot be written.
    """
    text = document(report)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CaptureError(f"{path}: cannot be written: {error.strerror}") from None


def _rate(seen: float) -> tuple[float, str]:
    rate, name = min(_RATES.items(), key=lambda item: max(item[0] / seen, seen / item[0]))
    if _NEAR[0] * rate <= seen <= _NEAR[1] * rate:
        return rate, name
    return seen, f"{round(seen / 1e3)}kbps"


def _time(seconds: float) -> str:
    return f"{max(round(seconds * 1e9), 1)}ns"
