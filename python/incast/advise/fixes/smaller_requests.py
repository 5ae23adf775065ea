"""Read the answers in consecutive ranges: from all servers at once, or from one at a time."""

from collections.abc import Iterator
from math import ceil

from incast import units
from incast.advise.case import Case
from incast.advise.fixes.fix import Fix, Who
from incast.advise.words import python

_PIECES = (4, 16)
_LEAST, _MOST = 4, 64
"""The minimum number of segments in a range, and the maximum number of ranges in an answer."""


def fixes(case: Case) -> Iterator[Fix]:
    """Yield 4 and 16 ranges per answer, and ranges that fit into path and buffer together."""
    here = case.here
    if not case.reads or case.app is not None or here.facts["interval_s"]:
        return
    fair = case.room // here.flows * here.mss
    fitting = ceil(here.sru / fair) if fair else 0
    for pieces in sorted({*_PIECES, fitting}):
        if 1 < pieces <= _MOST and here.sru >= pieces * _LEAST * here.mss:
            for at_once in sorted({1, case.at_once}):
                yield _fix(case, pieces, at_once)


def _fix(case: Case, pieces: int, at_once: int) -> Fix:
    size = ceil(case.here.sru / pieces)
    words = python(
        "from incast.client import Governor, HttpPiece, HttpReader, Plan, read\n\n"
        f"governor = Governor(Plan.fixed({at_once}, window=None))\n"
        "async with HttpReader(governor) as reader:\n"
        f"    for start in range(0, size, {size}):  # size: bytes of an answer\n"
        f"        ranges = [HttpPiece(url, start, min(start + {size}, size)) for url in urls]\n"
        "        await read(ranges, reader, governor)"
    )
    changes: dict[str, object] = {"workload.block": None, "workload.sru": size}
    if case.here.workload.get("blocks") is not None:
        changes["workload.blocks"] = int(case.here.workload["blocks"]) * pieces
    if case.here.fresh:
        changes["workload.connections"] = "persistent"
    one_by_one = at_once < case.at_once
    if one_by_one:
        remedy = {"name": "batching", "n": at_once, "refill": "each"}
        changes["transport.remedies"] = [*case.others, remedy]
    in_step = "ask for the next range when all servers have sent the current range"
    order = "ask one server at a time" if one_by_one else in_step
    return Fix(
        name=f"ranges of {units.size(size)}{', one by one' if one_by_one else ''}",
        who=Who.APPLICATION,
        what=f"Read the answers in ranges of {units.size(size)}, over persistent connections: "
        f"{order}.",
        changes=changes,
        text=words.text,
        rollback=words.rollback,
        price=f"There are {pieces} requests instead of one, and each takes a round trip.",
        risk="One slow server delays all others. Servers must be able to read ranges cheaply.",
        effort=2,
        pieces=pieces,
    )
