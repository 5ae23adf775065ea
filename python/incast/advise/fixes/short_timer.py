"""A shorter minimum of the retransmission timeout at the servers."""

from collections.abc import Iterator

from incast import units
from incast.advise.case import Case
from incast.advise.fixes.fix import Fix, Who
from incast.advise.shell import route

MINIMA = (0.001, 0.005, 0.010, 0.020, 0.050)
_TICK = 0.008  # a kernel with 250 ticks a second has no shorter timeout


def fixes(case: Case) -> Iterator[Fix]:
    """Yield shorter minimum RTOs that are not below the base round trip.

    The `risk` of a fix depends on whether the minimum RTO is below twice the round trip over a
    full buffer.
    """
    here = case.here
    full = here.base_rtt + here.buffer_packets * here.packet * 8 / here.line_rate
    for least in MINIMA:
        if least < here.rto_min and least >= here.base_rtt:
            yield _fix(least, premature=least < 2 * full)


def _fix(least: float, *, premature: bool) -> Fix:
    text = units.time(least).replace(" ", "").replace("µ", "u")
    words = route("rto_min", text, "CLIENT")
    changes: dict[str, object] = {"transport.rto_min": text}
    if premature:
        risk = "A full buffer delays packets by about this time, so some timeouts are premature."
    else:
        risk = "On longer paths behind the same route, timeouts may be premature."
    if least < _TICK:
        risk += " A kernel with 250 ticks a second (CONFIG_HZ) has no timeout shorter than 8 ms."
    return Fix(
        name=f"rto_min {text}",
        who=Who.SERVERS,
        what=f"Set the minimum retransmission timeout to {units.time(least)} on the route to the "
        "clients.",
        changes=changes,
        text=words.text,
        rollback=words.rollback,
        price="Servers retransmit sooner, but no loss is prevented. A client that delays ACKs by "
        "up to 40 ms may cause spurious retransmissions.",
        risk=risk,
        effort=MINIMA[::-1].index(least),
    )
