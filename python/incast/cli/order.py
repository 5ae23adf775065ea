"""The options of a command that runs a scenario: checked before the run, used after the run."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import typer

from incast.cli import output
from incast.cli.output import Format, Layout
from incast.cli.watch import Watch

if TYPE_CHECKING:
    from incast.plots import Kind
    from incast.results import Results
    from incast.scenario import Scenario
    from incast.scenario.plan import Plan


@dataclass(frozen=True)
class Shape:
    """The options for writing results.

    Parameters
    ----------
    form, out
        The format, and the directory of the results, if any.
    group, groups
        The group whose rows are written, and whether the rows of all groups are written.
    columns, wide
        The columns of the table, and whether the table may be wider than the terminal.
    picture
        The file of the picture, if any.
    with_model
        Whether runs are compared with the models.
    fail_if, junit
        The conditions under which the command fails, and the file of the report on them.
    with_live
        Whether simulations are compared with runs on real hosts.
    """

    form: Format
    out: Path | None
    group: str
    groups: bool
    columns: str
    wide: bool
    picture: Path | None
    with_model: bool
    fail_if: list[str] | None
    junit: Path | None
    with_live: bool = False


@dataclass(frozen=True)
class Order:
    """The options after they have been checked.

    Parameters
    ----------
    shape
        The options.
    layout, watch
        The layout of the table, and the conditions under which the command fails.
    wanted
        The groups whose rows are written.
    kind
        The kind of the picture.
    traces
        The traces to record, including the traces that the picture needs.
    """

    shape: Shape
    layout: Layout
    watch: Watch
    wanted: list[str]
    kind: "Kind"
    traces: list[str]

    @classmethod
    def of(cls, plan: "Plan", shape: Shape, traces: list[str]) -> Self:
        """Check the options before the run, so that none of them can fail after the run.

        Raises
        ------
        typer.BadParameter
            An option is not valid.
        """
        from incast.plots import choice, save
        from incast.results.columns import known as columns_of_rows

        output.check(shape.form, shape.out)
        layout = Layout.of(shape.columns, shape.form, columns_of_rows, wide=shape.wide)
        watch = Watch.of(shape.fail_if or [], shape.junit)
        wanted = output.groups_of(plan, shape.group, every=shape.groups)
        kind = choice.for_plan(plan, traces)
        if shape.picture is not None:
            given = {name.removesuffix(":full") for name in traces}
            traces = traces + [name for name in kind.traces if name not in given]
            save.check(shape.picture)
        for option, asked in (("--with-model", shape.with_model), ("--with-live", shape.with_live)):
            if asked and shape.picture is not None and kind.name != "goodput":
                raise typer.BadParameter(
                    "with --plot, the sweep must have at most eight curves", param_hint=option
                )
        return cls(shape, layout, watch, wanted, kind, traces)

    def write(self, results: "Results") -> None:
        """Write the rows."""
        output.write(results, self.shape.form, self.shape.out, self.wanted, self.layout)

    def show(self, results: "Results", scenario: "Scenario", real: "Results | None" = None) -> None:
        """Write the rows, compare them, draw the picture, and check the conditions.

        `real` holds the results of the same points on real hosts, if they were requested.
        """
        from incast.plots import Moment, save

        self.write(results)
        theory = None
        if self.shape.with_model:
            from incast.models.theory import ask

            theory = ask(scenario.plan)
            output.compare(theory, results, self.shape.form, self.layout)
        if real is not None:
            output.beside(results, real, theory, self.shape.form, self.layout)
        if self.shape.picture is not None:
            moment = Moment(theory=theory, real=None if real is None else real.summary())
            save.figure(self.kind.draw(results, moment), self.shape.picture)
        self.watch.look(results, self.wanted)
