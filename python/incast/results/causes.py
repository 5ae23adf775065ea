"""Why a read waits: the columns that sum to `timeouts` and to `stalls`, and their names."""

from collections.abc import Mapping

from incast import units

CAUSES = {
    "timeouts_full_window": "full-window",
    "timeouts_lack_of_dupacks": "lack of dup-ACKs",
    "timeouts_lost_retransmission": "lost retransmission",
    "timeouts_ack_loss": "ACK loss",
    "timeouts_handshake": "handshake",
    "timeouts_spurious": "spurious",
}

# Stalls that no column of `CAUSES` counts.
OTHER_STALLS = {
    "stalls_tail_probe": "tail-loss probe",
    "stalls_pacer": "pacer",
    "stalls_persist": "closed window",
    "stalls_delayed_ack": "delayed ACK",
    "stalls_application": "application",
    "stalls_network": "network",
}
STALLS = {
    "stalls_timeout": "timeout",
    "stalls_handshake": "handshake",
    **OTHER_STALLS,
}

# Timeouts whose causes are not known, as of every family but TCP. No column counts them apart.
UNKNOWN = {"timeouts": "timeout"}


def column(cause: str) -> str:
    """Return the column for a cause in the events; `tail` counts as a lack of duplicate ACKs.

    The column of an unknown cause, which is empty in the events, is that of all timeouts.
    """
    if not cause:
        return next(iter(UNKNOWN))
    return "timeouts_lack_of_dupacks" if cause == "tail" else f"timeouts_{cause}"


def told(row: Mapping[str, float | None], block: str = "block") -> str:
    """Return the number of timeouts in words: per block, or per run if the run has no blocks."""
    timeouts, each = row["timeouts"], row.get("timeouts_per_block")
    if not timeouts:
        return "no timeout"
    if each is None:
        return f"{units.number(timeouts, 2)} timeouts"
    return f"{units.number(each, 2)} timeouts per {block}"


def most(row: Mapping[str, float | None]) -> str:
    """Return share and name of the most frequent cause; an empty string if no cause is known."""
    counts = {name: row[name] for name in CAUSES}
    timeouts = row["timeouts"]
    # The causes are not known on real hosts, nor for other families than TCP.
    if not timeouts or None in counts.values() or not any(counts.values()):
        return ""
    column = max(counts, key=lambda name: counts[name] or 0.0)
    return f"{units.percent((counts[column] or 0.0) / timeouts)} {CAUSES[column]}"
