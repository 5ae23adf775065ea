"""Read one set of servers after another, overlapping in time: the schedules of Osada et al."""

from collections.abc import Iterator
from math import ceil

from incast.advise.case import Case
from incast.advise.fixes.bounded_answers import LEAST
from incast.advise.fixes.fix import Fix, Who
from incast.advise.words import python

_SLACK = 2
"""Ratio of a window to the bandwidth-delay product of the path.

The ratio is above 1, because hosts need time to read data that has arrived. A window above
the product is safe here, because the answer of a single server does not fill a buffer.
"""
_SCHEDULES = {
    "ccs": ("one server after the other", "Plan.ccs(window={window})"),
    "ocs": ("one set of servers after the other", "Plan.ocs_for({rate:.0f}, {rtt:.3g}, {sru})"),
}


def fixes(case: Case) -> Iterator[Fix]:
    """Yield the schedules that `incast.client` supports."""
    if not case.reads or case.app is not None:
        return
    here = case.here
    path = ceil(here.line_rate * here.base_rtt / 8 / here.packet)  # segments
    for name, (what, plan) in _SCHEDULES.items():
        call = plan.format(
            rate=here.line_rate,
            rtt=here.base_rtt,
            sru=here.sru,
            window=max(_SLACK * path, LEAST) * here.mss,
        )
        words = python(
            "from incast.client import Governor, HttpPiece, HttpReader, Plan, read\n\n"
            f"governor = Governor({call})\n"
            "async with HttpReader(governor) as reader:\n"
            "    summary = await read([HttpPiece(url) for url in urls], reader, governor)"
        )
        yield Fix(
            name=name,
            who=Who.APPLICATION,
            what=f"Read {what}, with windows that fill the path.",
            changes={"transport.remedies": [*case.others, name]},
            text=words.text,
            rollback=words.rollback,
            price="A server waits for its turn. Short answers leave the link idle between turns.",
            risk="The schedule is computed for this rate and round trip, and for servers as "
            "fast as the client's link.",
            effort=2,
        )
