"""Text files that users give: read as a whole, and bounded."""

import signal
from pathlib import Path

MOST = 8 * 2**20
"""The largest file that is read as text, bytes. Devices such as /dev/zero have no end."""


class NotTextError(ValueError):
    """A file that is too large, or is no text; the message states what it must be."""


def text_of(path: Path) -> str:
    """Return the text of a file, with a line feed at the end of its lines.

    Raises
    ------
    OSError
        It cannot be read.
    NotTextError
        It has more than `MOST` bytes, or is not UTF-8.
    """
    _let_interrupts_end_it()
    with path.open("rb") as file:
        content = file.read(MOST + 1)
    if len(content) > MOST:
        raise NotTextError(f"too large; must be a text of at most {MOST // 2**20} MiB")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise NotTextError("not text in UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _let_interrupts_end_it() -> None:
    """Let Ctrl-C end a wait for a pipe: the handler of polars has the kernel begin it again."""
    if hasattr(signal, "siginterrupt"):
        signal.siginterrupt(signal.SIGINT, True)
