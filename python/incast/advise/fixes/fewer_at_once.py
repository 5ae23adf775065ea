"""Ask fewer servers at a time: when a server has answered, the next server is asked."""

from collections.abc import Iterator

from incast import units
from incast.advise.case import Case
from incast.advise.fixes.fix import Fix, Who
from incast.advise.words import python


def fixes(case: Case) -> Iterator[Fix]:
    """Yield limits on the answers at a time: all powers of two below the present number."""
    if not case.reads or (case.app is not None and case.app.limit is None):
        return
    at_once = 1
    while at_once < case.at_once:
        yield _fix(case, at_once)
        at_once *= 2


def _fix(case: Case, at_once: int) -> Fix:
    own = python(
        "from incast.client import Governor, Plan\n\n"
        f"governor = Governor(Plan.fixed({at_once}, window=None))\n"
        "async with governor.slot():\n"
        "    ...  # ask one server, read its answer"
    )
    words = case.app.limit(at_once) if case.app is not None and case.app.limit else own
    remedy = {"name": "batching", "n": at_once, "refill": "each"}
    return Fix(
        name=f"at most {at_once} at once",
        who=Who.APPLICATION,
        what=f"Allow at most {units.plural(at_once, 'answer')} in flight at a time.",
        changes={"transport.remedies": [*case.others, remedy]},
        text=words.text,
        rollback=words.rollback,
        price="If the servers are slower than the client's link, the link is not full.",
        risk="The port's buffer is shared with other clients behind the same port of the switch.",
        effort=0,
    )
