"""Write complete pieces to files that are named after their addresses."""

import re
import secrets
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

from incast import unfinished
from incast.client import said
from incast.client.piece import Piece, Target, Write
from incast.client.request import HttpPiece
from incast.errors import FetchError

UNNAMED = "index"  # the name of the file if the address has no path
_OURS = re.compile(r"\.incast-[0-9a-f]{16}\.part")
"""The name of a file whose piece is not complete yet."""


def places(pieces: Sequence[HttpPiece], folder: Path, *, overwrite: bool) -> dict[Piece, Path]:
    """Return the file of each piece.

    The name of a file is the last part of the address. If several addresses have the same last
    part, their files' names begin with host and port.

    Raises
    ------
    FetchError
        Two addresses lead to the same file, or a file already exists and may not be overwritten.
    """
    last = [_last(piece.url) for piece in pieces]
    shared = Counter(last)
    found: dict[Piece, Path] = {}
    taken = set()
    for piece, name in zip(pieces, last, strict=True):
        host = urlsplit(piece.url).netloc.rpartition("@")[2].replace(":", "-")
        path = folder / (f"{host}_{name}" if shared[name] > 1 else name)
        if path in taken:
            shown = said.address(piece.url)
            raise FetchError(f"{shown}: another address would be saved in the same file, {path}")
        if path.exists() and not overwrite:
            raise FetchError(f"{path}: already exists; give another --out, or --overwrite")
        found[piece] = path
        taken.add(path)
    return found


def sweep_up(folder: Path) -> None:
    """Remove the files of incomplete pieces, which killed processes leave behind."""
    unfinished.sweep_up(it for it in folder.glob(".incast-*") if _OURS.fullmatch(it.name))


def into(there: dict[Piece, Path]) -> Target:
    """Return a target that writes each piece to its file when the piece is complete."""

    @contextmanager
    def target(piece: Piece) -> Iterator[Write]:
        path = there[piece]
        path.parent.mkdir(parents=True, exist_ok=True)
        with unfinished.begin(
            lambda: path.with_name(f".incast-{secrets.token_hex(8)}.part")
        ) as part:
            name = Path(part.name)
            try:
                yield part.write
                part.flush()
                name.replace(path)
            except BaseException:
                name.unlink(missing_ok=True)
                raise

    return target


def _last(url: str) -> str:
    raw = unquote(urlsplit(url).path.rpartition("/")[2])
    name = "".join(it if it.isprintable() and it != "/" else "_" for it in raw)
    if _OURS.fullmatch(name):
        return f"_{name}"  # otherwise, the next start removes it as an incomplete piece
    return UNNAMED if name in {"", ".", ".."} else name
