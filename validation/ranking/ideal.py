"""The ideal time of a read: the client's link is always busy, and nothing is lost."""

from validation.ranking.draw import Drawn

SEGMENT, HEADERS = 1460, 40  # bytes, as in scenarios/remedies.toml and its profile


def completion_s(drawn: Drawn) -> float:
    """Return the ideal completion of a block over new connections, seconds.

    The SYN and the SYN-ACK take one round trip, and the request and the first packet take another.
    Then the client's link carries all segments with their headers, at its rate minus the mean rate
    of the background traffic.
    """
    segments = -(-drawn.sru // SEGMENT)
    wire = drawn.servers * (drawn.sru + segments * HEADERS)
    first = min(drawn.sru, SEGMENT) + HEADERS  # on the server's link
    round_trips = 2 * drawn.round_trip_ns / 1e9
    return round_trips + 8 * first / drawn.rate + 8 * wire / (drawn.rate - drawn.background)
