"""The causes of timeouts: the columns that sum to `timeouts`, and their names for the eye."""

CAUSES = {
    "timeouts_full_window": "full-window",
    "timeouts_lack_of_dupacks": "lack of dup-ACKs",
    "timeouts_lost_retransmission": "lost retransmission",
    "timeouts_ack_loss": "ACK loss",
    "timeouts_handshake": "handshake",
    "timeouts_spurious": "spurious",
}


def column(cause: str) -> str:
    """Return the column that counts a cause as events name it: tails lack dup-ACKs too."""
    return "timeouts_lack_of_dupacks" if cause == "tail" else f"timeouts_{cause}"
