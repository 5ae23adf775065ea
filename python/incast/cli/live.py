"""`incast live`: run a scenario on the kernel of this machine."""

from typing import TYPE_CHECKING, Annotated

import typer

from incast.cli import options
from incast.cli.output import Format

if TYPE_CHECKING:
    from incast.live.machine import Machine
    from incast.results import Results


def live(
    scenario: options.OptionalDocument = None,
    *,
    changes: options.Changes = None,
    seeds: options.Seeds = None,
    seed: options.Seed = None,
    precision: options.Precision = None,
    out: options.Out = None,
    form: options.Form = Format.TABLE,
    columns: options.Columns = "",
    wide: options.Wide = False,
    picture: options.Picture = None,
    with_model: options.WithModel = False,
    fail_if: options.FailIf = None,
    junit: options.JUnit = None,
    switch: Annotated[
        str,
        typer.Option(
            help="The switch: simulated (the simulator's ports and disciplines, in real time), or "
            "kernel (a bridge with tbf and bfifo, drop-tail only).",
            metavar="NAME",
        ),
    ] = "simulated",
    pcap: options.Pcap = None,
    pcap_at: options.PcapAt = "client",
    snaplen: options.Snaplen = 96,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Say whether this machine can run scenarios, and measure at which link rates its "
            "results can be trusted. Run no scenario.",
        ),
    ] = False,
) -> None:
    """Run a scenario on real hosts: network namespaces of this machine, around a switch.

    The switch has the ports and disciplines of the simulation. Linux only; the network must be a
    star of at most 200 Mbit/s.

    Examples: incast live --check;
    incast live mine.toml --set network.rate=100Mbps --seeds 3
    """
    from incast.live.machine import Machine, reenter

    reenter()
    machine = Machine.here()
    if check:
        _check(machine)
        return
    if scenario is None:
        raise typer.BadParameter("missing; give a file, or --check", param_hint="SCENARIO")
    machine.check()
    from incast.cli.order import Order, Shape
    from incast.cli.progress import shown
    from incast.cli.run import how_to_continue, refuse_beside_pcap, scenario_of
    from incast.live import refuse
    from incast.live.backend import Kernel
    from incast.live.kernel_switch import Switches
    from incast.sweep import Interrupted
    from incast.sweep import run as run_sweep
    from incast.sweep.capture import Capture

    asked = scenario_of(scenario, changes or [], seeds, seed)
    if precision is not None:
        asked = asked.override("run.precision", precision)
    refuse.check(asked, machine)
    moving = refuse.checked_switch(switch, asked)
    capture = None
    if pcap is not None:
        other = None if moving is Switches.SIMULATED else switch
        refuse_beside_pcap(out=out, switch=other)
        capture = Capture(pcap, pcap_at, snaplen)
        capture.check(asked)
    shape = Shape(
        form, out, "all", False, columns, wide, picture, with_model, fail_if, junit
    )  # fmt: skip
    order = Order.of(asked.plan, shape, [])
    if order.traces:
        raise typer.BadParameter(
            "this picture needs traces, which the kernel does not give; sweep a key, or use "
            "incast run",
            param_hint="--plot",
        )
    try:
        with shown() as report:
            results = run_sweep(
                asked, jobs=1, out=out, progress=report, backend=Kernel(moving, capture)
            )
    except Interrupted as stopped:
        if form is Format.TABLE and len(stopped.results):
            order.write(stopped.results)
        raise typer.Exit(how_to_continue(stopped, out)) from None
    order.show(results, asked)
    _say_what_differs(results)


def _check(machine: "Machine") -> None:
    """Print whether this machine can run scenarios, and at which rates."""
    for line in machine.lines:
        typer.echo(line)
    if machine.tier > 0:
        from incast.live import kernel_switch
        from incast.live.selfcheck import lines

        lacks = kernel_switch.available()
        typer.echo(f"switch of the kernel (tbf, bfifo): {lacks or 'available'}")
        for line in lines():
            typer.echo(line)


def _say_what_differs(results: "Results") -> None:
    """Say on stderr which runs cannot be trusted, and how the kernel deviated from the scenario."""
    from incast.live.report import notes

    for note in notes(results):
        typer.echo(f"incast: {note}", err=True)
