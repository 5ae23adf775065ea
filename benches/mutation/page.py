"""The page of rates and of what is missed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .draw import ROOT, SEED
from .table import CAUGHT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .table import Verdict

PAGE = ROOT / "docs" / "validation" / "mutants.md"

OPENING = """# What the tests notice

Written by `make mutants`; do not edit. cargo-mutants changes one function at a time, and the tests
have to fail. The sample is random, of all crates but the binding (word of the draw: {seed}); a
mutant that its own crate's tests let pass is given to the tests of the crates above. Those that do
not compile are left out, and those that change nothing, with the reason below. At least {bar:.0%}
have to be caught.

{run}
"""


def write(drawn: Sequence[Verdict | None], bar: float) -> float:
    """Write the page of what was drawn, run or not; return the share that is caught."""
    judged = [it for it in drawn if it]
    run = f"All {len(drawn)} that were drawn have been run."
    if len(judged) < len(drawn):
        run = (
            f"**Of {len(drawn)} that were drawn, {len(judged)} have been run so far**, in the "
            "order of the draw: they are a random sample, too. `make mutants` goes on from there."
        )
    lines = [OPENING.format(seed=SEED, bar=bar, run=run)]
    lines += ["| crate | count | caught | by a time limit | share |", "|---|--:|--:|--:|--:|"]
    for package in sorted({it.package for it in judged}):
        lines.append(_row(package, (it for it in judged if it.package == package)))
    lines += [_row("all", judged), "", "## Missed", ""]
    lines += sorted(f"- `{it.mutant}`" for it in judged if it.outcome == "missed")
    if equivalent := [it for it in judged if it.outcome == "equivalent"]:
        lines += ["", "## Equivalent", ""]
        lines += sorted(f"- `{it.mutant}`: {it.by}" for it in equivalent)
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return share(judged)


def share(verdicts: Iterable[Verdict]) -> float:
    """Return the share of those that compile and change something that is caught."""
    viable = _viable(verdicts)
    return sum(it.outcome in CAUGHT for it in viable) / max(1, len(viable))


def _viable(verdicts: Iterable[Verdict]) -> list[Verdict]:
    return [it for it in verdicts if it.outcome not in {"unviable", "equivalent"}]


def _row(name: str, verdicts: Iterable[Verdict]) -> str:
    viable = _viable(verdicts)
    caught = sum(it.outcome in CAUGHT for it in viable)
    late = sum(it.outcome == "timeout" for it in viable)
    return f"| {name} | {len(viable)} | {caught} | {late} | {share(viable):.1%} |"
