"""Ask fewer servers at a time, and limit the bytes that each server may have in flight."""

from collections.abc import Iterator

from incast import units
from incast.advise.case import Case
from incast.advise.fixes.fix import Fix, Who
from incast.advise.words import python

LEAST = 4  # segments: smaller windows turn each loss into a timeout
_WINDOWS = (4, 8, 16)


def fixes(case: Case) -> Iterator[Fix]:
    """Yield limits with which all windows together fill the buffer, or half of it."""
    if not case.reads or case.app is not None:  # no known application has such a setting
        return
    seen = set()
    for window in _WINDOWS:
        for share in (1, 2):
            at_once = min(case.here.buffer_packets // (window * share), case.here.servers)
            if at_once >= 1 and (at_once, window) not in seen:
                seen.add((at_once, window))
                yield _fix(case, at_once, window)


def _fix(case: Case, at_once: int, window: int) -> Fix:
    size = window * case.here.mss
    words = python(
        "from incast.client import Governor, HttpPiece, HttpReader, Plan, read\n\n"
        f"governor = Governor(Plan.fixed({at_once}, window={size}))\n"
        "async with HttpReader(governor) as reader:\n"
        "    summary = await read([HttpPiece(url) for url in urls], reader, governor)"
    )
    remedy = {"name": "batching", "n": at_once, "window": window, "refill": "each"}
    return Fix(
        name=f"at most {at_once} at once, windows of {window} segments",
        who=Who.APPLICATION,
        what=f"Allow at most {units.plural(at_once, 'answer')} in flight, each with a receive "
        f"window of {size} bytes (Linux clients).",
        changes={"transport.remedies": [*case.others, remedy]},
        text=words.text,
        rollback=words.rollback,
        price="Small windows wake the client up more often. The link idles if the sum of the "
        "windows is below rate × round trip.",
        risk="The port's buffer is shared with other clients behind the same port of the switch.",
        effort=1,
    )
