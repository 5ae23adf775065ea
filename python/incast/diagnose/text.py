"""The report as text: the answer first, then what it rests on."""

from collections import Counter
from collections.abc import Iterator

from incast import units
from incast.diagnose.reading import Report

_MOST = 10  # rows of a list
_ANSWERS = {True: "Incast", False: "No incast", None: "Cannot tell whether this is incast"}
_FOUND = {True: "found", False: "ruled out", None: "cannot tell"}
CAUSES = {
    "full_window": "full window lost",
    "tail": "tail lost",
    "lack_of_dupacks": "too few duplicate ACKs",
    "lost_retransmission": "retransmission lost",
    "ack_loss": "ACKs lost",
    "spurious": "timer too early",
    "handshake": "handshake lost",
    None: "cannot tell",
}


def answer(report: Report) -> str:
    """Return the first sentence: is there incast, and why."""
    return f"{_ANSWERS[report['incast']]}: {report['why']}."


def about(report: Report) -> str:
    """Return what was read, one sentence."""
    place = report["vantage"] or "unknown"
    return (
        f"{units.plural(report['packets'], 'TCP packet')} of "
        f"{units.plural(report['connections'], 'connection')} in "
        f"{units.time(report['length_s'])}; vantage point: {place}"
    )


def notes(report: Report) -> Iterator[str]:
    """Yield what is wrong with the files, and what the list leaves out."""
    if report.get("interrupted"):
        yield "The reading was interrupted; this is what was read so far."
    for file in report["files"]:
        for note in file["notes"]:
            yield f"{file['path']}: {note}"
    if report["unlisted"]:
        yield f"{report['unlisted']} more stalls and episodes are not listed."


def episodes(report: Report) -> list[tuple[str, ...]]:
    """Return a row per episode, the costliest first, below a row of headings."""
    rows: list[tuple[str, ...]] = [
        ("start", "length", "receiver", "fan-in", "bytes", "idle", "flows that waited")
    ]
    worst = sorted(report["episodes"], key=lambda one: -one["lost_s"])[:_MOST]
    rows += [
        (
            f"{one['start_s']:.6f} s",
            units.time(one["end_s"] - one["start_s"]),
            one["receiver"],
            str(one["fan_in"]),
            units.size(one["bytes"]),
            units.time(one["lost_s"]),
            str(len(one["stalled"])),
        )
        for one in worst
    ]
    return rows


def causes(report: Report) -> list[tuple[str, ...]]:
    """Return a row per cause of stalls, the most frequent first, below a row of headings."""
    rows: list[tuple[str, ...]] = [("cause", "stalls", "time", "by a probe")]
    counts = Counter(one["cause"] for one in report["stalls"])
    for cause, count in counts.most_common():
        own = [one for one in report["stalls"] if one["cause"] == cause]
        probes = sum(one["ended_by"] == "probe" for one in own)
        time = sum(one["duration_s"] for one in own)
        rows.append((CAUSES[cause], str(count), units.time(time), str(probes)))
    return rows


def stalls(report: Report) -> list[tuple[str, ...]]:
    """Return a row per stall, the longest first, below a row of headings."""
    rows: list[tuple[str, ...]] = [("start", "length", "flow", "cause", "sure", "Wireshark filter")]
    longest = sorted(report["stalls"], key=lambda one: -one["duration_s"])[:_MOST]
    rows += [
        (
            f"{one['start_s']:.6f} s",
            units.time(one["duration_s"]),
            one["flow"],
            CAUSES[one["cause"]],
            f"{one['confidence']:.0%}",
            one["filter"],
        )
        for one in longest
    ]
    return rows


def look_alikes(report: Report) -> list[tuple[str, ...]]:
    """Return a row per look-alike, those that were found first."""
    order = {True: 0, None: 1, False: 2}
    listed = sorted(report["look_alikes"], key=lambda one: order[one["found"]])
    rows: list[tuple[str, ...]] = []
    for one in listed:
        place = f" ({one['where']})" if one["where"] and one["found"] else ""
        rows.append((one["name"], _FOUND[one["found"]], f"{one['why']}{place}"))
    return rows


def cannot_tell(report: Report) -> list[str]:
    """Return what the capture cannot say, one sentence each."""
    told = [f"Cannot tell {one['what']}, because {one['why']}." for one in report["cannot_tell"]]
    if len(told) > _MOST:
        return [*told[:_MOST], f"{len(told) - _MOST} more like these."]
    return told


def left_out(report: Report, what: str) -> str:
    """Return how many rows of a list are not shown, or nothing."""
    count = len(report[what]) - _MOST
    return f"{count} more; --format json lists all." if count > 0 else ""
