"""Text files from users. A file is read as a whole and has a maximum size."""

import signal
from pathlib import Path

MOST = 8 * 2**20
"""Maximum size in bytes of a text file. Devices such as /dev/zero have no end."""


class NotTextError(ValueError):
    """A file that is too large or is not text. The message states what kind of file is needed."""


def text_of(path: Path) -> str:
    """Return the text of a file, with line feeds as line ends.

    Raises
    ------
    OSError
        The file cannot be read.
    NotTextError
        The file has more than `MOST` bytes, or is not UTF-8.
    """
    _let_interrupts_end_it()
    with path.open("rb") as file:
        content = file.read(MOST + 1)
    if len(content) > MOST:
        raise NotTextError(f"too large; must be a text file of at most {MOST // 2**20} MiB")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise NotTextError("not text in UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _let_interrupts_end_it() -> None:
    """Let Ctrl-C end a wait for a pipe; the signal handler of polars would let the wait go on."""
    if hasattr(signal, "siginterrupt"):
        signal.siginterrupt(signal.SIGINT, True)
