"""The results of `incast fetch`, for people or for programs."""

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import typer

from incast import units

if TYPE_CHECKING:
    from incast.client import Outcome, Plan, Summary


class Form(StrEnum):
    """How the pieces are written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


def write(summary: "Summary", plan: "Plan", form: Form, *, wide: bool) -> None:
    """Write a row per piece, and a summary."""
    if wide and form is not Form.TABLE:
        raise typer.BadParameter("needs --format table", param_hint="--wide")
    rows = [_row(it) for it in summary.outcomes]
    if form is Form.TABLE:
        _table(summary, plan, wide=wide)
    elif form is Form.JSON:
        typer.echo(json.dumps({"summary": _total(summary, plan), "pieces": rows}, allow_nan=False))
    else:
        import polars as pl

        from incast.cli.output import save

        save(pl.DataFrame(rows, infer_schema_length=None), "csv", None)


def _row(outcome: "Outcome") -> dict[str, Any]:
    seen = outcome.sample
    whole = seen is not None and outcome.error is None
    return {
        "url": outcome.name,
        "error": outcome.error,
        "bytes": seen.received if seen else 0,
        "seconds": seen.seconds if seen else None,
        "goodput_bps": 8 * seen.received / seen.seconds if seen and whole else None,
        "waited_s": outcome.waited,
        "longest_gap_s": seen.gap if seen else None,
        "out_of_order_packets": seen.lost if seen else None,
        "attempts": outcome.attempts,
        "window_bytes": outcome.window,
    }


def _total(summary: "Summary", plan: "Plan") -> dict[str, Any]:
    slowest = summary.slowest
    return {
        "pieces": len(summary.outcomes),
        "failed": len(summary.failed),
        "bytes": summary.received,
        "seconds": summary.seconds,
        "goodput_bps": summary.goodput_bps,
        "stalls": summary.stalls,
        "slowest": slowest.name if slowest else None,
        "slots": plan.slots,
        "window_bytes": plan.window,
        "budget_bytes": plan.allotted,
    }


def _table(summary: "Summary", plan: "Plan", *, wide: bool) -> None:
    from incast.cli.console import Paper
    from incast.grid import Column

    rows = [_row(it) for it in summary.outcomes]
    unit, rate = units.rates(row["goodput_bps"] for row in rows)

    def cells(name: str, text: Any) -> list[str]:  # noqa: ANN401 (any value is accepted)
        return [units.NONE if row[name] is None else text(row[name]) for row in rows]

    paper = Paper(wide=wide)
    paper.table(
        [Column("url", "piece", cells("url", units.plain))],
        [
            Column("bytes", "bytes", cells("bytes", str), 2),
            Column("time", "time", cells("seconds", lambda it: units.time(it, trim=False)), 1),
            Column("goodput", f"goodput\n{unit}", cells("goodput_bps", rate), 3),
            Column("gap", "longest\ngap", cells("longest_gap_s", units.time), 4),
            Column("waited", "waited", cells("waited_s", units.time), 7),
            Column("window", "window\nbytes", cells("window_bytes", str), 6),
            Column("attempts", "attempts", cells("attempts", str), 5),
            Column("result", "result", [_result(it) for it in summary.outcomes], 0, widest=40),
        ],
    )
    paper.sentence(_sentence(summary, plan))


def _result(outcome: "Outcome") -> str:
    return "read" if outcome.error is None else units.plain(outcome.error)


def _sentence(summary: "Summary", plan: "Plan") -> str:
    good = len(summary.outcomes) - len(summary.failed)
    what = f"{good} of {units.plural(len(summary.outcomes), 'piece')}"
    speed = f"in {units.time(summary.seconds)}: {units.rate(summary.goodput_bps)}"
    parts = [f"{what}, {units.size(summary.received)} {speed}"]
    slowest = summary.slowest
    if slowest is not None and slowest.sample is not None:
        parts.append(f"slowest {units.plain(slowest.name)}, {units.time(slowest.sample.seconds)}")
    parts.append(units.plural(summary.stalls, "stall") if summary.stalls else "no stalls")
    bound = "" if plan.window is None else f" with windows of {units.size(plan.window)}"
    parts.append(f"at most {units.plural(plan.slots, 'answer')} at a time{bound}")
    return "; ".join(parts) + "."
