"""Measure for half a second at each of several rates whether this machine can be trusted."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from incast import units
from incast.errors import LiveError
from incast.live.backend import Kernel
from incast.scenario import load

RATES = (10e6, 50e6, 100e6, 200e6, 500e6)
"""The rates that `incast live --check` measures, in bit/s."""
_LEAST_BUSY = 0.9  # share of the time in which the link must send; if less, hosts are slow
_MOST_BUSY = 0.85  # maximum busy share of a thread; a busier thread may not fill the link
_RTO_AT = 100e6  # bit/s
_SHORTEST_RTO = 1e-3  # the requested minimum; the RTO that the kernel then uses is measured


@dataclass(frozen=True)
class Found:
    """The measurements of a self-check.

    Parameters
    ----------
    rate
        Rate of the links in bit/s.
    row
        The row of the run.
    """

    rate: float
    row: dict[str, Any]

    @cached_property
    def trusted(self) -> bool:
        """Whether runs at this rate can be trusted."""
        paced = self.row["link_utilization"] < _LEAST_BUSY or self.row["live.busy"] > _MOST_BUSY
        return self.row["status"] == "ok" and not paced

    def __str__(self) -> str:
        late = units.time(self.row["live.late_p99_s"])
        worst = units.time(self.row["live.late_max_s"])
        return (
            f"{units.rate(self.rate)}: {'trusted' if self.trusted else 'not trusted'}: 99 % of "
            f"the frames at most {late} late, the worst {worst}; link busy "
            f"{units.percent(self.row['link_utilization'])}, threads busy "
            f"{units.percent(self.row['live.busy'])}"
        )


def measure(rate: float) -> Found:
    """Let four servers fill a link of this rate for half a second; repeat an untrusted run once."""
    flows = {"name": "long-flows", "servers": 4, "duration": "500ms"}
    found = Found(rate, _row(rate, flows))
    return found if found.trusted else Found(rate, _row(rate, flows))


def shortest_rto() -> float | None:
    """Let one server answer on an idle link; return its RTO in seconds, or None if unknown."""
    read = {"name": "barrier-read", "servers": 1, "sru": "1KiB", "blocks": 20}
    rto = _row(_RTO_AT, read | {"connections": "persistent"})["live.rto_s"]
    return None if rto is None else float(rto)


def _row(rate: float, workload: dict[str, Any]) -> dict[str, Any]:
    """Run a workload with Reno, which every kernel has, and with a short minimum RTO."""
    document = {
        "profile": "linux",
        "network": {"rate": f"{rate:.0f}bps", "delay": "20us", "buffer": "64KiB"},
        "workload": workload,
        "transport": {
            "name": "cubic",
            "congestion_control": "reno",
            "rto_min": f"{_SHORTEST_RTO}s",
        },
    }
    kernel = Kernel()
    point = load(document).plan.points[0]
    try:
        output = kernel.run(point, 1, (), kernel.control(), lambda _, __: None)
    finally:
        kernel.close()
    row: dict[str, Any] = output["rows"][0]
    return row


def lines() -> Iterator[str]:
    """Measure all rates; yield a line for each rate, and a line for the shortest RTO."""
    for rate in RATES:
        yield str(measure(rate))
    rto = shortest_rto()
    if rto is not None:
        yield (f"RTO: at least {units.time(rto)}; {units.time(_SHORTEST_RTO)} was requested")


def check_rate(rate: float) -> None:
    """Refuse a rate at which this machine cannot be trusted.

    Raises
    ------
    LiveError
        Runs at this rate cannot be trusted; the message gives the measurements.
    """
    found = measure(rate)
    if not found.trusted:
        raise LiveError(
            "network.rate: must be a rate that passes `incast live --check`, e.g. 100Mbps, not "
            f"{found}"
        )
