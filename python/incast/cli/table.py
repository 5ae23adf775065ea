"""The table of results, and the verdict under the table."""

from collections.abc import Sequence

from incast.cli.console import Paper
from incast.results import Results, columns
from incast.results.verdict import sentences
from incast.scenario.facts import of_plan

_TOTAL = "all"


def render(
    results: Results, paper: Paper, groups: Sequence[str] = (_TOTAL,), names: Sequence[str] = ()
) -> None:
    """Print the main parameters, a table per group, and the verdict on the read.

    Parameters
    ----------
    results
        The results to print.
    paper
        The output.
    groups
        The groups whose rows are printed.
    names
        The requested columns, the most important first; empty for the usual columns.
    """
    swept = results.plan.swept
    paper.heading(results.plan.title or "Untitled scenario")
    paper.sentence(_scenario(results))
    for group in groups:
        if list(groups) != [_TOTAL]:
            paper.print()
            paper.heading(f"group {group}")
        summary = results.summary(group)
        shown = columns.asked(summary, names) if names else columns.usual(summary)
        paper.table(columns.keys(summary, swept), shown)
        if group == _TOTAL:
            for sentence in sentences(summary, swept, results.resolved):
                paper.sentence(sentence)
    for note in results.notes:
        paper.sentence(note)


def _scenario(results: Results) -> str:
    """Return the resolved parameters that the sweep does not change, and the number of runs."""
    return f"{of_plan(results.plan)}; {results.extent}"
