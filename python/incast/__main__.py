"""The command `incast`, and `python -m incast`."""

import os
import signal
from types import FrameType

_INTERRUPTED = 130  # 128 + SIGINT, as shells report it


def main() -> None:
    """Run the command line and leave with its exit code.

    A module that is being imported may hide an interrupt, or raise another error instead. No work
    has started at that time, so the process can end at once.
    """
    before = signal.signal(signal.SIGINT, _leave)
    from incast.cli import main as command

    signal.signal(signal.SIGINT, before)
    command()


def _leave(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 (a handler's arguments)
    os.write(2, b"incast: interrupted\n")
    os._exit(_INTERRUPTED)


if __name__ == "__main__":
    main()
