"""Acknowledge every packet immediately at the client."""

from collections.abc import Iterator

from incast.advise.case import Case
from incast.advise.fixes.fix import Fix, Who
from incast.advise.shell import route


def fixes(case: Case) -> Iterator[Fix]:
    """Yield the fix if ACKs are delayed."""
    if not case.transport["delayed_ack"]:
        return
    words = route("quickack", "1", "SERVER")
    yield Fix(
        name="quick ACKs",
        who=Who.CLIENT,
        what="Acknowledge every packet immediately.",
        changes={"transport.delayed_ack": False},
        text=words.text,
        rollback=words.rollback,
        price="Twice as many ACKs, and their processor time.",
        risk="More ACKs make slow start faster, which may fill the buffer sooner.",
    )
