"""Directories of results on the command line: paths, or addresses such as s3://bucket/results."""

from pathlib import Path

import typer


def directory(text: str) -> Path:
    """Read a path or an address.

    Raises
    ------
    typer.BadParameter
        The protocol is unknown, or a package for it is missing.
    """
    if "://" not in text:
        return Path(text)
    from incast.errors import ResultsError
    from incast.results.remote import located

    try:
        return located(text)
    except ResultsError as error:
        # The error of the command line already contains the address.
        raise typer.BadParameter(str(error).removeprefix(f"{text}: ")) from None
