"""`incast merge`: combine the results directories of several shards."""

from pathlib import Path
from typing import Annotated

import typer

from incast.cli.place import directory


def merge(
    out: Annotated[
        Path,
        typer.Argument(
            metavar="OUT", help="The directory to write. Its contents are kept.", parser=directory
        ),
    ],
    sources: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[DIR]...",
            help="Directories made by run --out, with results of the same scenario; they are not "
            "changed. Without DIR, the files of OUT are packed again.",
            show_default=False,
            parser=directory,
        ),
    ] = None,
) -> None:
    """Combine results of one scenario, from run --shard or from several machines.

    The files are the same as if one command had run the whole sweep. A run that is in several
    directories counts once.
    Examples: incast merge results/mine shards/*; incast merge results/mine
    """
    from incast import units
    from incast.results.merge import merge as put_together

    done = put_together(out, sources or [])
    missing = done.asked - done.runs
    hint = f"; {missing} are missing (incast status {out} lists them)" if missing else ""
    runs = f"{done.runs} of {units.plural(done.asked, 'run')}"
    typer.echo(f"{runs} in {units.plural(done.packs, 'file')} of {out}{hint}")
