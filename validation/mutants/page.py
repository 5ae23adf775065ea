"""The page of rates and of what is missed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from validation.common.places import PAGES
from validation.mutants.draw import SEED
from validation.mutants.table import CAUGHT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from validation.mutants.table import Verdict


@dataclass(frozen=True)
class Page:
    """Where it is, its beginning, and what its rows are."""

    path: Path
    opening: str
    kind: str


RUST = Page(
    PAGES / "mutants.md",
    """# What the tests notice

Written by `make mutants`; do not edit. cargo-mutants changes one function at a time, and the tests
have to fail.
The sample is random, of all crates but the binding (word of the draw: {seed}); a
mutant that its own crate's tests let pass is given to the tests of the crates above. Those that do
not compile are left out, and those that change nothing, with the reason below. At least {bar:.0%}
have to be caught.

[Python's mutants](mutants-python.md) have a page of their own.

{run}
""",
    "crate",
)
PYTHON = Page(
    PAGES / "mutants-python.md",
    """# What the tests notice of Python

Written by `make mutants`; do not edit. Operators of Cosmic Ray change one line at a time of the
packages `results`, `scenario` and `sweep`, and the tests that
`validation/mutants/python_tree.py` lists have to fail.
The sample is random, one operator for each line that is drawn (word of the draw:
{seed}). At least {bar:.0%} have to be caught.

{run}
""",
    "package",
)


def write(drawn: Sequence[Verdict | None], bar: float, page: Page) -> float:
    """Write the page of what was drawn, run or not; return the share that is caught."""
    judged = [it for it in drawn if it]
    run = f"All {len(drawn)} that were drawn have been run."
    if len(judged) < len(drawn):
        run = (
            f"**Of {len(drawn)} that were drawn, {len(judged)} have been run so far**, in the "
            "order of the draw: they are a random sample, too. `make mutants` goes on from there."
        )
    lines = [page.opening.format(seed=SEED, bar=bar, run=run)]
    lines += [
        f"| {page.kind} | count | caught | by a time limit | share |",
        "|---|--:|--:|--:|--:|",
    ]
    for package in sorted({it.package for it in judged}):
        lines.append(_row(package, (it for it in judged if it.package == package)))
    lines += [_row("all", judged), "", "## Missed", ""]
    lines += sorted(f"- `{it.mutant}`" for it in judged if it.outcome == "missed")
    if equivalent := [it for it in judged if it.outcome == "equivalent"]:
        lines += ["", "## Equivalent", ""]
        lines += sorted(f"- `{it.mutant}`: {it.by}" for it in equivalent)
    page.path.write_text("\n".join(lines) + "\n", encoding="utf-8")
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
