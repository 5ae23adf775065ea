"""`incast run`: simulate a scenario and print its results."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incast.cli import complete, output
from incast.cli.mistakes import INTERRUPTED
from incast.cli.output import Format
from incast.cli.place import directory

if TYPE_CHECKING:
    from incast.scenario import Scenario
    from incast.sweep import Interrupted


def run(
    scenario: Annotated[
        Path,
        typer.Argument(
            metavar="SCENARIO",
            help="A scenario file (TOML), or the name of a shipped scenario (incast list "
            "scenarios).",
            autocompletion=complete.scenarios,
        ),
    ],
    *,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Set a key, e.g. network.buffer=64KiB. This fixes a swept key. A list, e.g. "
            "workload.servers=[4,8], replaces its sweep; sweep.KEY=[…] adds a sweep.",
            autocompletion=complete.changes,
        ),
    ] = None,
    seeds: Annotated[int | None, typer.Option(help="Run seeds 1 to N.", metavar="N")] = None,
    precision: Annotated[
        float | None,
        typer.Option(
            help="Run more seeds at each point until the 95 % interval of its goodput extends at "
            "most this share of the mean to either side, e.g. 0.02 (run.precision).",
            metavar="SHARE",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(help="Number of parallel runs; default: all processors.", metavar="N", min=1),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Store the results in this directory, also one of another system, such as "
            "s3://bucket/mine. Runs that it already has are not repeated.",
            metavar="DIR",
            parser=directory,
        ),
    ] = None,
    form: Annotated[
        Format,
        typer.Option(
            "--format",
            help="table and json go to stdout; csv and parquet go to stdout or, with --out, to "
            "rows.csv or rows.parquet in that directory.",
        ),
    ] = Format.TABLE,
    group: Annotated[
        str,
        typer.Option(
            help="The group whose rows are written: all for the read, or a group of background "
            "traffic.",
            metavar="NAME",
        ),
    ] = "all",
    groups: Annotated[
        bool, typer.Option("--groups", help="Write the rows of every group.")
    ] = False,
    columns: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Columns of the table, comma-separated, the most important first, e.g. "
            "goodput,p99,drops; incast explain columns lists them.",
            autocompletion=complete.columns,
        ),
    ] = "",
    wide: Annotated[
        bool, typer.Option("--wide", help="Show all columns, even if the terminal is narrower.")
    ] = False,
    picture: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="Draw a picture (png, pdf or svg), and write its data as CSV: goodput for a sweep "
            "(a ranking for more than eight curves), one round of the read for a single point, or "
            "the queue of long flows.",
        ),
    ] = None,
    with_model: Annotated[
        bool,
        typer.Option(
            "--with-model",
            help="Compare the runs with the models: list differences under the table and, with "
            "--plot of a sweep, draw the models as dashed lines.",
        ),
    ] = False,
    trace: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="Record traces, e.g. queue,events (see: incast list traces). queue:full stores "
            "every change instead of the extremes of each bin.",
            autocompletion=complete.traces,
        ),
    ] = "",
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-if",
            metavar="CONDITION",
            help="Exit with code 3 if this condition is true at any point: collapse, unfinished, "
            "or a column compared with a value, e.g. 'p99>5ms' (may be repeated).",
            autocompletion=complete.conditions,
        ),
    ] = None,
    junit: Annotated[
        Path | None,
        typer.Option(
            "--junit",
            metavar="FILE",
            help="Write the result of every point and condition as JUnit XML, for build servers.",
        ),
    ] = None,
    executor: Annotated[
        str,
        typer.Option(
            help="What runs the simulations: threads, dask (processes of this machine), or the "
            "address of a Dask scheduler, e.g. tcp://host:8786.",
            metavar="NAME",
        ),
    ] = "threads",
    shard: Annotated[
        str | None,
        typer.Option(
            help="Run the i-th of n parts of about the same work, e.g. 2/16, and print no table; "
            "needs --out. incast merge puts the parts together.",
            metavar="I/N",
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Print the number of runs, how many --out already has, and the estimated time of "
            "the others. Run nothing.",
        ),
    ] = False,
) -> None:
    """Simulate a scenario: every point of its sweep at every seed.

    Examples: incast run mine.toml --plot mine.png;
    incast run mine.toml --set 'workload.servers=[4,8,16]' --seeds 20 --out results/mine
    """
    from incast.cli.progress import shown
    from incast.cli.watch import Watch
    from incast.plots import Moment, choice, save
    from incast.results.columns import known as columns_of_rows
    from incast.results.traces import parse
    from incast.sweep import Interrupted
    from incast.sweep import run as run_sweep

    asked = scenario_of(scenario, changes or [], seeds)
    if precision is not None:
        asked = asked.override("run.precision", precision)
    traces = parse(trace)
    output.check(form, out)
    layout = output.Layout.of(columns, form, columns_of_rows, wide=wide)
    watch = Watch.of(fail_if or [], junit)
    wanted = output.groups_of(asked.plan, group, every=groups)
    if picture is not None:
        kind = choice.for_plan(asked.plan, traces)
        given = {name.removesuffix(":full") for name in traces}
        traces += [name for name in kind.traces if name not in given]
        save.check(picture)
    if with_model and picture is not None and kind.name != "goodput":
        raise typer.BadParameter(
            "with --plot, the sweep must have at most eight curves", param_hint="--with-model"
        )
    if traces and picture is None and out is None:
        raise typer.BadParameter("needs --out DIR or --plot FILE", param_hint="--trace")
    if shard is not None:
        report_wanted = picture or with_model or fail_if or junit or form is not Format.TABLE
        _check_shard(shard, out, alone=not report_wanted)
    if dry_run:
        _forecast(asked, jobs, out, traces, shard)
        return

    try:
        with shown() as report:
            results = run_sweep(
                asked,
                jobs=jobs,
                out=out,
                traces=traces,
                progress=report,
                shard=shard,
                executor=executor,
            )
    except Interrupted as stopped:
        if form is Format.TABLE and shard is None and len(stopped.results):
            output.write(stopped.results, form, out, wanted, layout)
        raise typer.Exit(_how_to_continue(stopped, out)) from None
    if shard is not None:
        typer.echo(f"shard {shard} is done: {len(results)} of {_runs(asked)} are in {out}")
        return
    output.write(results, form, out, wanted, layout)
    theory = None
    if with_model:
        from incast.models.theory import ask

        theory = ask(asked.plan)
        output.compare(theory, results, form, layout)
    if picture is not None:
        save.figure(kind.draw(results, Moment(theory=theory)), picture)
    watch.look(results, wanted)


def scenario_of(path: Path, changes: list[str], seeds: int | None = None) -> "Scenario":
    """Read a scenario and apply the command line."""
    from incast.scenario import load
    from incast.scenario.override import parse

    scenario = load(path)
    for change in changes:
        scenario = scenario.override(*parse(change))
    return scenario if seeds is None else scenario.override("run.seeds", seeds)


def _check_shard(shard: str, out: Path | None, *, alone: bool) -> None:
    """Refuse, before the run, what is no shard, and what one shard cannot show."""
    from incast.errors import ResultsError
    from incast.sweep.shard import Shard

    try:
        Shard.parse(shard)
    except ResultsError as error:
        raise typer.BadParameter(str(error).removeprefix("shard: "), param_hint="--shard") from None
    if out is None:
        raise typer.BadParameter("needs --out DIR", param_hint="--shard")
    if not alone:
        raise typer.BadParameter(
            "cannot be combined with --format, --plot, --with-model, --fail-if or --junit, which "
            "need all results; use them without --shard when all parts are done",
            param_hint="--shard",
        )


def _runs(scenario: "Scenario") -> str:
    from incast import units

    return units.plural(len(scenario.plan.points) * len(scenario.plan.seeds), "run")


def _forecast(
    scenario: "Scenario",
    jobs: int | None,
    out: Path | None,
    traces: list[str],
    shard: str | None = None,
) -> None:
    from incast import units
    from incast.sweep.execute import processors
    from incast.sweep.forecast import forecast

    plan, told = scenario.plan, forecast(scenario, jobs=jobs, out=out, traces=traces, shard=shard)
    left = told.runs - told.kept
    points = units.plural(len(plan.points), "point")
    what = f"{points}, {units.plural(len(plan.seeds), 'seed')}"
    part = f"shard {shard} of {_runs(scenario)}: {what}" if shard is not None else what
    lines = [f"{units.plural(told.runs, 'run')}: {part}"]
    if out is not None:
        lines.append(f"{told.kept} of them in {out} already")
    at_once = units.plural(min(jobs or processors(), max(left, 1)), "processor")
    time = f", about {units.duration(told.seconds)} on {at_once}" if left else ""
    lines.append(f"{left} to do{time}")
    if plan.precision is not None:
        share, most = units.percent(plan.precision.target), plan.precision.most
        lines.append(
            f"more where the interval is wider than {share}: up to {most} seeds of a point"
        )
    typer.echo("\n".join(lines))


def _how_to_continue(stopped: "Interrupted", out: Path | None) -> int:
    done = len(stopped.results)
    kept = (
        f"kept in {out}; run the same command again to continue"
        if out is not None
        else "lost; with --out DIR, the next run can be resumed"
    )
    typer.echo(f"incast: interrupted: {done} of {stopped.total} runs are {kept}", err=True)
    return INTERRUPTED
