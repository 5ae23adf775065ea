"""Pieces as files: whole, under names from their addresses, and nothing is overwritten unasked."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from urllib.parse import unquote, urlsplit

from incast.client.http import HttpPiece
from incast.client.piece import Piece, Target, Write
from incast.errors import FetchError

UNNAMED = "index"  # of an address without a path


def places(pieces: Sequence[HttpPiece], folder: Path, *, overwrite: bool) -> dict[str, Path]:
    """Return where pieces go, by their names.

    A file has the last part of its address as its name; if several addresses share it, their host
    and port before it.

    Raises
    ------
    FetchError
        Two addresses lead to the same file, or a file exists already and may not be overwritten.
    """
    last = [_last(piece.url) for piece in pieces]
    shared = Counter(last)
    found: dict[str, Path] = {}
    for piece, name in zip(pieces, last, strict=True):
        host = urlsplit(piece.url).netloc.rpartition("@")[2].replace(":", "-")
        path = folder / (f"{host}_{name}" if shared[name] > 1 else name)
        if path in found.values():
            raise FetchError(f"{piece.url}: another address has the same file, {path}")
        if path.exists() and not overwrite:
            raise FetchError(f"{path}: exists already; give another --out, or --overwrite")
        found[piece.name] = path
    return found


def into(there: dict[str, Path]) -> Target:
    """Return a target that writes each piece to its file, once it is whole."""

    @contextmanager
    def target(piece: Piece) -> Iterator[Write]:
        path = there[piece.name]
        path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as part:
            try:
                yield part.write
                part.flush()
                Path(part.name).chmod(0o666 & ~_mask())
                Path(part.name).replace(path)
            except BaseException:
                Path(part.name).unlink(missing_ok=True)
                raise

    return target


def _last(url: str) -> str:
    name = unquote(urlsplit(url).path.rpartition("/")[2]).replace("/", "_").replace("\0", "_")
    return UNNAMED if name in {"", ".", ".."} else name


def _mask() -> int:
    """Return the bits that new files lack; only setting it tells it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
