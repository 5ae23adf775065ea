"""`incast run`: simulate a scenario and print its results."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incast.cli import complete, options
from incast.cli.mistakes import INTERRUPTED
from incast.cli.output import Format

if TYPE_CHECKING:
    from incast.results import Results
    from incast.scenario import Scenario
    from incast.sweep import Interrupted


def run(
    scenario: options.Document,
    *,
    changes: options.Changes = None,
    seeds: options.Seeds = None,
    seed: options.Seed = None,
    precision: options.Precision = None,
    jobs: Annotated[
        int | None,
        typer.Option(help="Number of parallel runs; default: all processors.", metavar="N", min=1),
    ] = None,
    out: options.Out = None,
    form: options.Form = Format.TABLE,
    group: options.Group = "all",
    groups: options.Groups = False,
    columns: options.Columns = "",
    wide: options.Wide = False,
    picture: options.Picture = None,
    with_model: options.WithModel = False,
    trace: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="Record traces, e.g. queue,events (see: incast list traces). queue:full stores "
            "every change instead of the extremes of each bin.",
            autocompletion=complete.traces,
        ),
    ] = "",
    fail_if: options.FailIf = None,
    junit: options.JUnit = None,
    pcap: options.Pcap = None,
    pcap_at: options.PcapAt = "client",
    snaplen: options.Snaplen = 96,
    pcap_truth: options.PcapTruth = False,
    pcap_offload: options.PcapOffload = False,
    executor: Annotated[
        str,
        typer.Option(
            help="Where the simulations run: threads (of this process), dask (processes of this "
            "machine), or the address of a Dask scheduler, e.g. tcp://host:8786.",
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
    with_live: Annotated[
        bool,
        typer.Option(
            "--with-live",
            help="Run the scenario on real hosts, too (see: incast live), list their results under "
            "the table and, with --plot of a sweep, draw them as dotted lines. With --out DIR, "
            "results of real hosts are stored in DIR-live.",
        ),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Print the number of runs, how many --out already has, and the estimated time of "
            "the others. Run nothing.",
        ),
    ] = False,
) -> None:
    """Simulate a scenario: every point of its sweep with every seed.

    Examples: incast run mine.toml --plot mine.png;
    incast run mine.toml --set 'workload.servers=[4,8,16]' --seeds 20 --out results/mine
    """
    from incast.cli.order import Order, Shape
    from incast.cli.progress import shown
    from incast.results.traces import parse
    from incast.sweep import Interrupted
    from incast.sweep import run as run_sweep
    from incast.sweep.backend import SIMULATOR
    from incast.sweep.capture import Capture, Capturing

    asked = scenario_of(scenario, changes or [], seeds, seed)
    if precision is not None:
        asked = asked.override("run.precision", precision)
    shape = Shape(
        form, out, group, groups, columns, wide, picture, with_model, fail_if, junit, with_live
    )  # fmt: skip
    order = Order.of(asked.plan, shape, parse(trace))
    if order.traces and picture is None and out is None:
        raise typer.BadParameter("needs --out DIR or --plot FILE", param_hint="--trace")
    if shard is not None:
        report_wanted = picture or with_model or fail_if or junit or form is not Format.TABLE
        _check_shard(shard, out, alone=not report_wanted)
    if with_live:
        _check_live(asked, form, shard)
    backend = SIMULATOR
    if pcap is not None:
        refuse_beside_pcap(out=out, shard=shard, executor=executor, dry_run=dry_run)
        capture = Capture(pcap, pcap_at, snaplen, pcap_truth, pcap_offload)
        capture.check(asked)
        backend = Capturing(capture)
    if dry_run:
        _forecast(asked, jobs, out, order.traces, shard)
        return

    try:
        with shown() as report:
            results = run_sweep(
                asked,
                jobs=jobs,
                out=out,
                traces=order.traces,
                progress=report,
                shard=shard,
                executor=executor,
                backend=backend,
            )
    except Interrupted as stopped:
        if form is Format.TABLE and shard is None and len(stopped.results):
            order.write(stopped.results)
        raise typer.Exit(how_to_continue(stopped, out)) from None
    if shard is not None:
        typer.echo(f"shard {shard} is done: {len(results)} of {_runs(asked)} are in {out}")
        return
    order.show(results, asked, _on_real_hosts(asked, out) if with_live else None)


def refuse_beside_pcap(**others: object) -> None:
    """Refuse options that skip runs or execute them elsewhere; their packets would be missing."""
    usual = {"executor": "threads"}
    for name, value in others.items():
        if value and value != usual.get(name):
            raise typer.BadParameter(
                f"cannot be combined with --{name.replace('_', '-')}", param_hint="--pcap"
            )


def _check_live(scenario: "Scenario", form: Format, shard: str | None) -> None:
    """Refuse formats without a table, and scenarios that real hosts cannot run."""
    if form is not Format.TABLE or shard is not None:
        raise typer.BadParameter(
            "works only with --format table and without --shard; to write the rows of real hosts "
            "in another format, use incast live",
            param_hint="--with-live",
        )
    from incast.live.machine import Machine, reenter

    reenter()
    machine = Machine.here()
    machine.check()
    from incast.live import refuse

    refuse.check(scenario, machine)


def _on_real_hosts(scenario: "Scenario", out: Path | None) -> "Results":
    """Run the same points on real hosts."""
    from incast.cli.progress import shown
    from incast.live.backend import Kernel
    from incast.sweep import run as run_sweep

    place = None if out is None else out.with_name(f"{out.name}-live")
    with shown() as report:
        return run_sweep(scenario, jobs=1, out=place, progress=report, backend=Kernel())


def scenario_of(
    path: Path, changes: list[str], seeds: int | None = None, seed: int | None = None
) -> "Scenario":
    """Read a scenario and apply the command line: seeds 1 to `seeds`, or `seed` alone."""
    from incast.scenario import load
    from incast.scenario.override import parse

    if seeds is not None and seed is not None:
        raise typer.BadParameter("cannot be combined with --seeds", param_hint="--seed")
    scenario = load(path)
    for change in changes:
        scenario = scenario.override(*parse(change))
    if seed is not None:
        return scenario.override("run.seeds", [seed])
    return scenario if seeds is None else scenario.override("run.seeds", seeds)


def _check_shard(shard: str, out: Path | None, *, alone: bool) -> None:
    """Refuse invalid shards, and options that need the results of all shards."""
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
        lines.append(f"{told.kept} of them are already in {out}")
    at_once = units.plural(min(jobs or processors(), max(left, 1)), "processor")
    time = f", about {units.duration(told.seconds)} on {at_once}" if left else ""
    lines.append(f"{left} to do{time}")
    if plan.precision is not None:
        share, most = units.percent(plan.precision.target), plan.precision.most
        lines.append(
            f"more runs where the interval is wider than {share}: up to {most} seeds of a point"
        )
    typer.echo("\n".join(lines))


def how_to_continue(stopped: "Interrupted", out: Path | None) -> int:
    """Say whether the runs of an interrupted sweep are kept; return the exit code."""
    done = len(stopped.results)
    kept = (
        f"kept in {out}; run the same command again to continue"
        if out is not None
        else "lost; with --out DIR, the next run can be resumed"
    )
    finished = f"{done} of {stopped.total} runs had finished and are {kept}"
    typer.echo(f"incast: interrupted: {finished}", err=True)
    return INTERRUPTED
