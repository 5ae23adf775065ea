"""Keep connections for the next block, so that no handshake can be lost."""

from collections.abc import Iterator

from incast.advise.case import Case
from incast.advise.fixes.fix import Fix, Who
from incast.advise.words import python


def fixes(case: Case) -> Iterator[Fix]:
    """Yield the fix if every block opens its own connections."""
    if not case.reads or not case.here.fresh or case.app is not None:
        return
    words = python(
        "from incast.client import Governor, HttpPiece, HttpReader, Plan, read\n\n"
        f"governor = Governor(Plan.fixed({case.at_once}, window=None))\n"
        "async with HttpReader(governor) as reader:  # one reader for all blocks: keep-alive\n"
        "    for urls in blocks:\n"
        "        await read([HttpPiece(url) for url in urls], reader, governor)"
    )
    yield Fix(
        name="keep connections",
        who=Who.APPLICATION,
        what="Keep the connections open for the next block.",
        changes={"workload.connections": "persistent"},
        text=words.text,
        rollback=words.rollback,
        price="Sockets and memory at both ends.",
        risk="Windows stay large from block to block, and overflow the buffer together.",
        effort=0,
    )
