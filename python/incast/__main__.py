"""The command `incast`, and `python -m incast`."""

import os
import signal
from types import FrameType

_INTERRUPTED = 130  # 128 + SIGINT, as shells report it


def main() -> None:
    """Run the command line and exit with its exit code.

    NumPy and SciPy each start a copy of OpenBLAS, whose threads spin for a tenth of a second when
    they start. The command multiplies small matrices only, so one thread is enough. The sums then
    do not depend on the number of processors either.

    During the import of the command line, an interrupt ends the process at once: a module that is
    being imported could hide the interrupt or raise another error instead, and no work has started
    yet.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    before = signal.signal(signal.SIGINT, _leave)
    from incast.cli import main as command

    signal.signal(signal.SIGINT, before)
    command()


def _leave(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 (a handler's arguments)
    os.write(2, b"incast: interrupted\n")
    os._exit(_INTERRUPTED)


if __name__ == "__main__":
    main()
