"""Check that an answer is complete and matches its request.

The module checks status, range, length, encoding, and the end of the answer.
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from incast.client import said
from incast.client.piece import ReadError
from incast.client.request import HttpPiece

if TYPE_CHECKING:
    import aiohttp

OK, PARTIAL, LEAST_ERROR, LEAST_OF_SERVER = 200, 206, 400, 500
TOO_MANY = (408, 425, 429)  # statuses below 500 for which another attempt may succeed
UNBOUNDED = 1 << 30
"""Maximum bytes of an answer if it states no length and the caller sets no limit."""
_RANGE = re.compile(r"bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18}|[*])", re.IGNORECASE)


@dataclass(frozen=True)
class Expected:
    """The number of bytes that an answer must have.

    Parameters
    ----------
    length
        The exact number; None if the answer does not state its length.
    most
        The maximum number.
    by_end
        Whether only the end of the connection ends the answer (RFC 9112 §6.3, case 8).
    version
        The entity tag of the object, and its length in bytes; None for an unknown value.
    """

    length: int | None
    most: int
    by_end: bool
    version: tuple[str | None, int | None] = (None, None)

    @classmethod
    def of(cls, answer: "aiohttp.ClientResponse", piece: HttpPiece, most: int | None) -> Self:
        """Read the expected number of bytes from the head of an answer.

        Raises
        ------
        ReadError
            The answer does not match the request, or contradicts itself.
        """
        _check_status(answer, piece)
        _check_encoding(answer)
        chunked = _is_chunked(answer)
        length, total = answer.content_length, None
        if piece.is_range:
            part, total = _part(answer, piece)
            if length is not None and length != part:
                raise ReadError(f"the answer says {length} bytes for a range of {part}")
            length = part
        if length is not None and most is not None and length > most:
            raise ReadError(f"the answer has {length} bytes; must have at most {most}", final=True)
        by_end = not chunked and answer.content_length is None
        if by_end and answer.url.scheme == "https":
            # A TLS connection that is cut off looks like a connection that was closed.
            raise ReadError(
                "the answer does not state its length, so nothing shows its end", final=True
            )
        bound = length if length is not None else most or UNBOUNDED
        return cls(length, bound, by_end, (answer.headers.get("ETag"), total))

    def check(self, received: int) -> None:
        """Refuse an answer with more bytes than expected.

        Raises
        ------
        ReadError
            More bytes than expected have arrived.
        """
        if received > self.most:
            what = "it states" if self.length is not None else "are allowed without a length"
            raise ReadError(f"the answer has more than the {self.most} bytes that {what}")

    def end(self, received: int) -> None:
        """Refuse an answer that has ended with fewer bytes than expected.

        Raises
        ------
        ReadError
            Bytes are missing.
        """
        if self.length is not None and received != self.length:
            raise ReadError(f"the answer ended early, after {received} of {self.length} bytes")


def _check_status(answer: "aiohttp.ClientResponse", piece: HttpPiece) -> None:
    status, reason = answer.status, said.reason(answer.reason or "")
    told = f"the server answers {status} {reason}".rstrip()
    if status >= LEAST_ERROR:
        final = status < LEAST_OF_SERVER and status not in TOO_MANY
        raise ReadError(told, final=final)
    if piece.is_range and status == OK:
        raise ReadError(f"the server answers {status}: it does not serve ranges", final=True)
    if status != (PARTIAL if piece.is_range else OK):
        must = "206 with the range" if piece.is_range else "200 with the whole object"
        raise ReadError(f"{told}; must be {must}", final=True)


def _check_encoding(answer: "aiohttp.ClientResponse") -> None:
    for line in answer.headers.getall("Content-Encoding", []):
        if line.strip().lower() not in {"", "identity"}:
            what = said.reason(line.strip().lower())
            raise ReadError(f"the answer is encoded ({what}); identity was asked for", final=True)


def _is_chunked(answer: "aiohttp.ClientResponse") -> bool:
    """Return whether the answer is sent in chunks; refuse any other transfer coding."""
    codings = [it.strip().lower() for it in answer.headers.getall("Transfer-Encoding", [])]
    if codings not in ([], ["chunked"]):
        what = said.reason(", ".join(codings))
        raise ReadError(f"the answer is sent as {what}; must be chunked or plain", final=True)
    return bool(codings)


def _part(answer: "aiohttp.ClientResponse", piece: HttpPiece) -> tuple[int, int | None]:
    """Return the length of the requested range, and of the whole object (RFC 9110 §14.4)."""
    told = answer.headers.getall("Content-Range", [])
    found = _RANGE.fullmatch(told[0].strip()) if len(told) == 1 else None
    if found is None:
        what = said.reason(", ".join(told)) or "no Content-Range"
        raise ReadError(f"the answer has {what}; must be one range of bytes", final=True)
    first, last = int(found[1]), int(found[2])
    if last < first:
        what = said.reason(told[0])
        raise ReadError(f"the answer has {what}; must be a range of at least a byte", final=True)
    total = None if found[3] == "*" else int(found[3])
    if total is None and piece.stop is None:
        raise ReadError("the answer does not state the length of the object", final=True)
    ends = [end for end in (piece.stop, total) if end is not None]
    if (first, last) != (piece.start, min(ends) - 1):
        raise ReadError(
            f"the answer has bytes {first}-{last} of the object; must have bytes "
            f"{piece.start}-{min(ends) - 1}"
        )
    return last - first + 1, total
