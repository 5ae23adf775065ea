"""`incast reproduce`: run, draw and judge the figures of the literature."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incast.cli import complete
from incast.cli.mistakes import INTERRUPTED

if TYPE_CHECKING:
    from incast.reproduce.execute import Done
    from incast.reproduce.papers import Chosen


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PAPER[/FIGURE]",
            help="Papers or single figures, e.g. kulkarni or kulkarni/4.3; default: all.",
            show_default=False,
            autocompletion=complete.figures,
        ),
    ] = None,
    listed: Annotated[
        bool, typer.Option("--list", help="List the figures and their claims; run nothing.")
    ] = False,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Use fewer points and seeds, which takes minutes instead of an hour.",
        ),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Print the number of runs left and their estimated time."),
    ] = False,
    out: Annotated[
        Path,
        typer.Option(
            help="Directory of the runs and the gallery. Runs that it already has are not "
            "repeated.",
            metavar="DIR",
        ),
    ] = Path("reproduction"),
    jobs: Annotated[
        int | None,
        typer.Option(help="Number of parallel runs; default: all processors.", metavar="N", min=1),
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(
            help="Run the i-th of n parts of about the same work, e.g. 2/16, and judge nothing. "
            "The parts may share DIR; at the end, the same command without --shard judges.",
            metavar="I/N",
        ),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Set a key in every run, e.g. network.clock_noise=1us to see which claims depend "
            "on ties.",
            autocompletion=complete.changes,
        ),
    ] = None,
    papers: Annotated[
        Path | None,
        typer.Option(help="Folder of the papers; default: ./papers, or the package's own."),
    ] = None,
) -> None:
    """Reproduce the figures of the literature, and judge its claims.

    Writes DIR/index.html (a gallery in one file), DIR/claims.json, and DIR/pictures.
    """
    from incast.reproduce import papers as texts
    from incast.scenario.override import parse

    chosen = texts.select(texts.load(texts.folder(papers)), names or [])
    changed = dict(parse(change) for change in changes or [])
    if changed:
        chosen = [texts.changed(one, changed) for one in chosen]
    if listed:
        _list(chosen)
    elif dry_run:
        _forecast(chosen, out, quick)
    elif shard is not None:
        _run_shard(chosen, out, quick, jobs, shard)
    else:
        _run(chosen, out, quick, jobs, changed)


def _list(chosen: list["Chosen"]) -> None:
    from incast.cli.console import Paper

    paper = Paper()
    for one in chosen:
        paper.entry(f"{one.name:22} ", one.figure.title)
        for claim in one.figure.claims:
            paper.entry(f"{'':6}{claim.id:8} ", claim.says)


def _forecast(chosen: list["Chosen"], out: Path, quick: bool) -> None:
    from incast import units
    from incast.reproduce.execute import forecast
    from incast.reproduce.runs import lay_out
    from incast.results.archive import Archive

    total, left, seconds = forecast([lay_out(one, quick=quick) for one in chosen], Archive(out))
    figures = units.plural(len(chosen), "figure")
    time = f", about {units.duration(seconds)}" if left else ""
    typer.echo(f"{figures}, {units.plural(total, 'run')}: {left} to do{time}")


def _run(
    chosen: list["Chosen"],
    out: Path,
    quick: bool,
    jobs: int | None,
    changes: Mapping[str, object],
) -> None:
    from incast.cli.console import Paper
    from incast.cli.progress import shown
    from incast.reproduce import gallery, pictures
    from incast.reproduce.execute import counts, write_json
    from incast.reproduce.execute import reproduce as run

    with _told_how_to_continue(out), shown() as report:
        done = run(chosen, out, quick=quick, workers=jobs, progress=report)
    drawn = pictures.rendered(done)
    gallery.write(done, drawn, out, quick=quick)
    pictures.write(drawn, out)
    write_json(done, out, quick=quick, changes=changes)
    _tell(done)
    Paper().sentence(f"{gallery.sentence(counts(done))}; wrote {out / 'index.html'}")


def _run_shard(chosen: list["Chosen"], out: Path, quick: bool, jobs: int | None, text: str) -> None:
    from incast import units
    from incast.cli.progress import shown
    from incast.reproduce.execute import run_shard
    from incast.sweep.shard import Shard

    shard = Shard.parse(text)
    with _told_how_to_continue(out), shown() as report:
        count = run_shard(chosen, out, shard, quick=quick, workers=jobs, progress=report)
    typer.echo(f"shard {shard} is done: {units.plural(count, 'run')} in {out}")


@contextmanager
def _told_how_to_continue(out: Path) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(
            f"incast: interrupted: finished runs are in {out}; run the same command again to "
            "continue",
            err=True,
        )
        raise typer.Exit(INTERRUPTED) from None


def _tell(done: list["Done"]) -> None:
    """Print each claim with its verdict and the reason."""
    from incast import units
    from incast.cli.console import Paper

    paper = Paper()
    for one in done:
        paper.sentence(f"{one.work.chosen.name}: {one.work.figure.title}", "  ")
        if one.curves.unfinished:
            runs = units.plural(one.curves.unfinished, "run")
            paper.sentence(f"  {runs} did not finish and are not counted", "  ")
        for judgement in one.judgements:
            why = judgement.measured or judgement.note
            before = f"  {judgement.verdict:14} {judgement.claim.id:8} "
            paper.entry(before, judgement.claim.says)
            paper.entry(" " * len(before), why)
