"""The pages on the mutation tests: rates of caught mutants, and missed mutants."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from validation.common.places import PAGES
from validation.mutants import age
from validation.mutants.draw import LEAST, SEED
from validation.mutants.table import CAUGHT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from validation.mutants.table import Verdict


@dataclass(frozen=True)
class Page:
    """A page: its name, its path, its first paragraphs, and the kind of its rows."""

    name: str
    path: Path
    opening: str
    kind: str


RUST = Page(
    "rust",
    PAGES / "mutants.md",
    """# Mutation tests

Written by `make mutants`; do not edit. cargo-mutants changes one function at a time. Each changed
program is a mutant, and a mutant is caught if a test fails. The sample is drawn with the seed
{seed} from all crates except the Python binding: first {least} mutants of each crate, then further
mutants from all crates. A mutant that the tests of its own crate do not catch is also run against
the tests of the crates that depend on it. Two kinds of mutants are left out: mutants that do not
compile, and mutants without any effect, which are listed below with the reason. At least
{bar:.0%} must be caught. Files and lines are those of commit `{commit}` ({date}).

[Python's mutants](mutants-python.md) have their own page.

{run}
""",
    "crate",
)
PYTHON = Page(
    "python",
    PAGES / "mutants-python.md",
    """# Mutation tests of the Python packages

Written by `make mutants`; do not edit. Cosmic Ray changes one line at a time in the packages that
simulate, advise, measure and plot. Each changed program is a mutant, and a mutant is caught if one
of the tests that `validation/mutants/python_tests.py` lists for its package fails. The sample is
drawn with the seed {seed} and has at most one mutant per line of code: first {least} mutants of
each package, then further mutants from all packages. At least {bar:.0%} must be caught. Lines are
those of commit `{commit}` ({date}).

{run}
""",
    "package",
)


def write(drawn: Sequence[Verdict | None], bar: float, page: Page) -> float:
    """Write the page on the drawn mutants (None: not run yet); return the share that is caught."""
    judged = [it for it in drawn if it]
    run = f"All {len(drawn)} mutants of the sample have been run."
    if len(judged) < len(drawn):
        run = (
            f"**Of the {len(drawn)} mutants of the sample, {len(judged)} have been run**. "
            "`make mutants` continues from there."
        )
    commit, date = _commit()
    told = {"seed": SEED, "least": LEAST, "bar": bar, "run": run, "commit": commit, "date": date}
    lines = [page.opening.format(**told)]
    if age.changed(age.kept(page.name), age.stamps(page.name)) > age.MOST:
        lines += [
            f"{age.OLD}: most of the measured files have changed since the last full run.",
            "",
        ]
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


def _commit() -> list[str]:
    """Return the last commit and its date."""
    command = ["git", "log", "-1", "--format=%h %cs"]
    told = subprocess.run(command, cwd=PAGES, capture_output=True, text=True, check=True)
    return told.stdout.split()


def share(verdicts: Iterable[Verdict]) -> float:
    """Return the share of caught mutants, of those that compile and are not equivalent."""
    viable = _viable(verdicts)
    return sum(it.outcome in CAUGHT for it in viable) / max(1, len(viable))


def _viable(verdicts: Iterable[Verdict]) -> list[Verdict]:
    return [it for it in verdicts if it.outcome not in {"unviable", "equivalent"}]


def _row(name: str, verdicts: Iterable[Verdict]) -> str:
    viable = _viable(verdicts)
    caught = sum(it.outcome in CAUGHT for it in viable)
    late = sum(it.outcome == "timeout" for it in viable)
    return f"| {name} | {len(viable)} | {caught} | {late} | {share(viable):.1%} |"
