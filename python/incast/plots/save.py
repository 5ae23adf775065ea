"""Pictures as files, each with its data."""

from pathlib import Path

from incast.errors import ResultsError
from incast.plots import Picture
from incast.results.files import check_writable

_FORMATS = (".png", ".pdf", ".svg")


def check(path: Path) -> None:
    """Refuse a picture that cannot be written. Call this before the work.

    Raises
    ------
    ResultsError
        The format is unknown, or the folder cannot be written to.
    """
    if path.suffix.lower() not in _FORMATS:
        raise ResultsError(f"{path}: must end in {' or '.join(_FORMATS)}")
    check_writable(path)


def figure(picture: Picture, path: Path) -> None:
    """Write the figure, and its data as CSV.

    Raises
    ------
    ResultsError
        The files cannot be written.
    """
    from matplotlib import rc_context

    from incast.plots.sheet import RC
    from incast.results.frames import harmless

    try:
        with rc_context(RC):
            picture.figure.savefig(path)
        harmless(picture.data).write_csv(path.with_suffix(".csv"))
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written: {error.strerror}") from None
