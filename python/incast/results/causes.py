"""Why a read waits: the columns that sum to `timeouts` and to `stalls`, and their names."""

CAUSES = {
    "timeouts_full_window": "full-window",
    "timeouts_lack_of_dupacks": "lack of dup-ACKs",
    "timeouts_lost_retransmission": "lost retransmission",
    "timeouts_ack_loss": "ACK loss",
    "timeouts_handshake": "handshake",
    "timeouts_spurious": "spurious",
}

# Those that no column of `CAUSES` counts, too.
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


def column(cause: str) -> str:
    """Return the column that counts a cause of events: a tail is also a lack of dup-ACKs."""
    return "timeouts_lack_of_dupacks" if cause == "tail" else f"timeouts_{cause}"
