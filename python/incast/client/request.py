"""What a reader asks a server for over HTTP."""

from dataclasses import dataclass

from incast.client import said


@dataclass(frozen=True)
class HttpPiece:
    """An object, or a range of an object.

    Parameters
    ----------
    url
        Address of the object, `http://…` or `https://…`.
    start
        First byte of the range.
    stop
        The byte after the last byte of the range; None for the rest of the object.
    """

    url: str
    start: int = 0
    stop: int | None = None

    @property
    def name(self) -> str:
        """The address without secrets, and the range, if the piece is a range."""
        shown = said.address(self.url)
        return f"{shown} [{self.start}:{self._end}]" if self.is_range else shown

    @property
    def is_range(self) -> bool:
        """Whether the piece is a range of an object."""
        return self.start > 0 or self.stop is not None

    @property
    def _end(self) -> str:
        return "" if self.stop is None else str(self.stop)

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the request (RFC 9110 §14.2)."""
        if not self.is_range:
            return {}
        last = "" if self.stop is None else str(self.stop - 1)
        return {"Range": f"bytes={self.start}-{last}"}
