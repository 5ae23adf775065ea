"""The report as sentences and tables: the answer first, then the reasons for the answer.

Control characters in the names of files, and in names from captures, are escaped, so that they
do not reach a terminal or a page.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from incast import units

_MOST = 10  # maximum number of rows of a list
_ANSWERS = {True: "Incast", False: "No incast", None: "Cannot tell whether this is incast"}
_FOUND = {True: "found", False: "ruled out", None: "cannot tell"}
_LACKS = "the capture is incomplete"
_MISSING = "what happened to packets that are not in the file"
INCOMPLETE = {
    "filtered": "The capture looks like a filtered export: bytes between its packets are missing "
    "in many places. Read the whole capture.",
    "one_direction": "The capture has only one direction of the connections. "
    "Capture both directions.",
    "data_only": "The capture has no pure ACKs (ACKs without data). Capture all TCP packets.",
    "syn_only": "The capture has only the handshakes of connections. Capture all TCP packets.",
    "duplicated": "The capture has some frames more than once. Each frame is counted once.",
    "clock_back": "The clock of the capture was set back.",
    "capture_drops": "The capture program dropped packets. Shorter frames and a larger buffer "
    "help: tcpdump -s 96 -B 65536.",
}
_LEAST_SHARE = 0.001  # smallest share of the time that is written as a number
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


def answer(report: Mapping[str, Any]) -> str:
    """Return the first line: whether there is incast, and the cost of waits or the reason."""
    incast, severity = report["incast"], report["severity"]
    head = _ANSWERS[incast]
    if incast and severity and severity["mild"]:
        head = "Mild incast"
    if incast is not False and severity and severity["share"]:
        subject = "it costs" if incast else "waits cost"
        return f"{head}: {subject} {_share(severity)} of the time; {_tail(severity)}."
    if incast is None and report["incomplete"]:
        return f"{head}: {_LACKS}."
    return f"{head}: {units.plain(report['why'])}."


def _share(severity: dict[str, Any]) -> str:
    if severity["share"] < _LEAST_SHARE:
        return f"less than {units.percent(_LEAST_SHARE)}"
    return units.percent(severity["share"])


def _tail(severity: dict[str, Any]) -> str:
    """Return the durations of blocks with the waits and without the waits."""
    there, without = units.time(severity["p99_s"]), units.time(severity["p99_without_s"])
    if severity["blocks"] == 1:
        return f"the block took {there}, and would take {without} without the waits"
    return (
        f"p99 of {severity['blocks']} blocks is {there}, and would be {without} without the waits"
    )


def reasons(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the files lack, then the reason for the answer unless `answer` states it."""
    for lack in report["incomplete"]:
        yield INCOMPLETE.get(lack, f"{_LACKS.capitalize()}: {units.plain(lack)}.")
    if report["incomplete"] and report["incast"] is None:
        yield "This capture alone neither proves incast nor rules it out."
    why = units.plain(report["why"])
    if why not in answer(report) and not why.startswith(_LACKS):
        yield f"{why[:1].upper()}{why[1:]}."


def about(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield the size and the vantage point of the capture, and the tunnels of its packets."""
    place = report["vantage"] or "unknown"
    if report["vantage"]:
        place += f" ({units.percent(report['vantage_confidence'])} sure)"
    yield (
        f"{units.plural(report['packets'], 'TCP packet')} of "
        f"{units.plural(report['connections'], 'connection')} in "
        f"{units.time(report['length_s'])}; vantage point: {place}."
    )
    for tunnel in report["tunnels"]:
        count = units.plural(tunnel["packets"], "packet")
        verb = "was" if tunnel["packets"] == 1 else "were"
        yield f"{count} {verb} inside {units.plain(tunnel['kind'])}."


def notes(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield problems of the files, and the number of entries that the lists leave out."""
    if report.get("interrupted"):
        yield "The reading was interrupted; the report covers the part that was read."
    kinds = tuple(f" inside {tunnel['kind']}" for tunnel in report["tunnels"])
    for file in report["files"]:
        for note in file["notes"]:
            if not note.endswith(kinds or "\n"):  # the sentences on tunnels say this already
                yield units.plain(f"{file['path']}: {note}")
    if report["unlisted"]:
        yield f"{report['unlisted']} more stalls and episodes are not listed."


def episodes(report: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return a row per episode, the costliest first, below a row of headings."""
    rows: list[tuple[str, ...]] = [
        ("start", "length", "fan-in", "waited", "bytes", "idle", "receiver")
    ]
    worst = sorted(report["episodes"], key=lambda one: -one["lost_s"])[:_MOST]
    rows += [
        (
            f"{one['start_s']:.6f} s",
            units.time(one["end_s"] - one["start_s"]),
            str(one["fan_in"]),
            str(len(one["stalled"])),
            units.size(one["bytes"]),
            units.time(one["lost_s"]),
            units.plain(one["receiver"]),
        )
        for one in worst
    ]
    return rows


def causes(report: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return a row per cause of stalls, the most frequent first, below a row of headings."""
    rows: list[tuple[str, ...]] = [("cause", "stalls", "time", "ended by a probe")]
    counts = Counter(one["cause"] for one in report["stalls"])
    for cause, count in counts.most_common():
        own = [one for one in report["stalls"] if one["cause"] == cause]
        probes = sum(one["ended_by"] == "probe" for one in own)
        time = sum(one["duration_s"] for one in own)
        rows.append((CAUSES[cause], str(count), units.time(time), str(probes)))
    return rows


def stalls(report: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return a row per stall, the longest first, below a row of headings."""
    rows: list[tuple[str, ...]] = [("start", "length", "flow", "cause", "sure", "Wireshark filter")]
    longest = sorted(report["stalls"], key=lambda one: -one["duration_s"])[:_MOST]
    rows += [
        (
            f"{one['start_s']:.6f} s",
            units.time(one["duration_s"]),
            units.plain(one["flow"]),
            CAUSES[one["cause"]],
            units.percent(one["confidence"]),
            units.plain(one["filter"]),
        )
        for one in longest
    ]
    return rows


def look_alikes(report: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return a row per look-alike, beginning with the look-alikes that were found."""
    order = {True: 0, None: 1, False: 2}
    listed = sorted(report["look_alikes"], key=lambda one: order[one["found"]])
    rows: list[tuple[str, ...]] = []
    for one in listed:
        place = f" ({one['where']})" if one["where"] and one["found"] else ""
        rows.append((one["name"], _FOUND[one["found"]], units.plain(f"{one['why']}{place}")))
    return rows


def files(report: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return a row per file."""
    return [
        (units.plain(one["path"]), str(one["frames"]), str(one["packets"]))
        for one in report["files"]
    ]


def cannot_tell(report: Mapping[str, Any]) -> list[str]:
    """Return a sentence per open question, except for a question that the first lines mention."""
    told = [
        units.plain(f"Cannot tell {one['what']}, because {one['why']}.")
        for one in report["cannot_tell"]
        if one["what"] != _MISSING
    ]
    if len(told) > _MOST:
        return [*told[:_MOST], f"{len(told) - _MOST} more like these."]
    return told


def left_out(report: Mapping[str, Any], what: str) -> str:
    """Return a note on the rows of a list that are not shown; empty if all rows are shown."""
    count = len(report[what]) - _MOST
    return f"{count} more; --format json lists all." if count > 0 else ""
