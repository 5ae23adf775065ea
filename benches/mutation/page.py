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
not compile are left out. At least {bar:.0%} have to be caught.
"""


def write(judged: Sequence[Verdict], bar: float) -> float:
    """Write the page; return the share that is caught."""
    lines = [OPENING.format(seed=SEED, bar=bar)]
    lines += ["| crate | compile | caught | by a time limit | share |", "|---|--:|--:|--:|--:|"]
    for package in sorted({it.package for it in judged}):
        lines.append(_row(package, (it for it in judged if it.package == package)))
    lines += [_row("all", judged), "", "## Missed", ""]
    lines += sorted(f"- `{it.mutant}`" for it in judged if it.outcome == "missed")
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return share(judged)


def share(verdicts: Iterable[Verdict]) -> float:
    """Return the share of those that compile that is caught."""
    viable = [it for it in verdicts if it.outcome != "unviable"]
    return sum(it.outcome in CAUGHT for it in viable) / max(1, len(viable))


def _row(name: str, verdicts: Iterable[Verdict]) -> str:
    viable = [it for it in verdicts if it.outcome != "unviable"]
    caught = sum(it.outcome in CAUGHT for it in viable)
    late = sum(it.outcome == "timeout" for it in viable)
    return f"| {name} | {len(viable)} | {caught} | {late} | {share(viable):.1%} |"
