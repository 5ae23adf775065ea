"""Pictures of the costliest episode: a lane per flow, sequence numbers, and the fan-in."""

import base64
import io
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from incast.diagnose.reading import Report, opened, size
from incast.plots import style

Flow = tuple[NDArray[np.float64], NDArray[np.int64]]  # times and sequence numbers

_MOST_PACKETS = 2_000_000
_LANES = 64
_MILLI = 1e3
_BINS = ((1e-4, "100 µs"), (1e-3, "1 ms"), (1e-2, "10 ms"))  # the widths of the fan-in's bins
_MARGIN = 0.02  # share of the episode's duration, added before and after it


def of(report: Report, paths: Sequence[str]) -> list[tuple[str, str]]:
    """Draw the costliest episode; return titles, and the pictures as PNG in base 64.

    The files are read a second time. Without an episode, or if a file is a pipe, there is no
    picture.
    """
    if not report["episodes"] or size(paths) is None:
        return []
    episode = max(report["episodes"], key=lambda one: one["lost_s"])
    flows = _flows(report, episode, paths)
    if not flows:
        return []
    start = report["began_s"] + episode["start_s"]
    worst = episode["stalled"][0]
    shown = flows.get(worst) or next(iter(flows.values()))
    return [
        (
            "Flows of the costliest episode: every packet, and the waits",
            _lanes(flows, report, start),
        ),
        (f"Sequence numbers of {worst}", _sequence(shown, start)),
        ("Number of flows that send, per 100 µs, 1 ms and 10 ms", _fan_in(flows, start)),
    ]


def _flows(report: Report, episode: dict[str, Any], paths: Sequence[str]) -> dict[str, Flow]:
    """Return times and sequence numbers of each flow's data to the receiver of the episode."""
    length = episode["end_s"] - episode["start_s"]
    began = report["began_s"]
    first = began + episode["start_s"] - _MARGIN * length
    last = began + episode["end_s"] + _MARGIN * length
    packets = opened(list(paths)).packets(round(first * 1e9), round(last * 1e9), _MOST_PACKETS)
    receiver = episode["receiver"]
    target = np.array([text.rpartition(":")[0].strip("[]") for text in packets["target"]])
    data = (target == receiver) & (packets["payload"] > 0) & (packets["point"] == 0)
    ends = zip(packets["source"], packets["target"], strict=True)
    flow = np.array([f"{source} > {target}" for source, target in ends])
    return {
        str(one): (
            packets["time_ns"][data & (flow == one)] / 1e9,
            packets["seq"][data & (flow == one)],
        )
        for one in np.unique(flow[data])
    }


def _lanes(flows: dict[str, Flow], report: Report, start: float) -> str:
    """Draw a lane per flow, with the packets and the waits of the flow."""
    kept = sorted(flows, key=lambda sender: flows[sender][0][-1])[-_LANES:]
    figure, (axes,) = style.sheet("", "", size=(7.6, 1.6 + 0.14 * len(kept)))
    rows = {sender: row for row, sender in enumerate(kept)}
    for stall in report["stalls"]:
        row = rows.get(stall["flow"])
        begin = report["began_s"] + stall["start_s"] - start
        if row is not None:
            width = stall["duration_s"] * _MILLI
            axes.barh(row, width, 0.5, begin * _MILLI, color=style.COLOURS[1], lw=0)
    for sender, row in rows.items():
        times = (flows[sender][0] - start) * _MILLI
        axes.plot(times, np.full(len(times), row), "|", color=style.COLOURS[0], ms=4)
    senders = [flow.partition(" > ")[0] for flow in kept]
    axes.set_yticks(range(len(kept)), senders, fontsize=6)
    last = max(times[-1] for times, _ in flows.values()) - start
    axes.set_xlim(-_MARGIN * last * _MILLI, (1 + _MARGIN) * last * _MILLI)
    axes.set_xlabel("time since the start of the episode [ms]; orange: waits")
    return _png(figure)


def kilobytes(numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return sequence numbers in kB, relative to the first; they wrap at 2^32 bytes."""
    told: NDArray[np.float64] = ((numbers - numbers[0] + 2**31) % 2**32 - 2**31) / 1e3
    return told


def _sequence(flow: Flow, start: float) -> str:
    """Draw sequence numbers over time."""
    times, numbers = flow
    figure, (axes,) = style.sheet("", "", size=(7.6, 3.2))
    axes.plot((times - start) * _MILLI, kilobytes(numbers), ".", color=style.COLOURS[0])
    axes.set_xlabel("time since the start of the episode [ms]")
    axes.set_ylabel("sequence number [kB]")
    return _png(figure)


def _fan_in(flows: dict[str, Flow], start: float) -> str:
    """Draw the number of flows that send in each time bin."""
    figure, panels = style.sheet("", "", panels=len(_BINS), size=(7.6, 5.2), sharex=True)
    for axes, (width, name) in zip(panels, _BINS, strict=True):
        _steps(axes, flows, start, width)
        axes.set_ylabel(f"per {name}")
    panels[-1].set_xlabel("time since the start of the episode [ms]")
    return _png(figure)


def _steps(axes: Axes, flows: dict[str, Flow], start: float, width: float) -> None:
    bins = [np.unique(np.floor((times - start) / width)) for times, _ in flows.values()]
    used, counts = np.unique(np.concatenate(bins), return_counts=True)
    axes.bar(used * width * _MILLI, counts, width * _MILLI, align="edge", color=style.COLOURS[0])


def _png(figure: Figure) -> str:
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=110)
    return base64.b64encode(out.getvalue()).decode()
