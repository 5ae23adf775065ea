"""`--fail-if` and `--junit`: results for scripts and build servers."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import typer

from incast.errors import ConditionError

if TYPE_CHECKING:
    from incast.results import Results
    from incast.results.conditions import Condition, Finding

HOLDS = 3  # the exit code if a condition holds


@dataclass(frozen=True)
class Watch:
    """Conditions, and the file of the report.

    Parameters
    ----------
    conditions
        The conditions under which the command fails.
    report
        The file for build servers, if any.
    """

    conditions: "list[Condition]"
    report: Path | None

    @classmethod
    def of(cls, fail_if: list[str], report: Path | None) -> Self:
        """Read the options; check before the run that the report can be written after the run.

        Raises
        ------
        typer.BadParameter
            A condition is not valid.
        ResultsError
            The report cannot be written.
        """
        from incast.results.conditions import parse
        from incast.results.files import check_writable

        try:
            conditions = parse(fail_if)
        except ConditionError as error:
            raise typer.BadParameter(str(error), param_hint="--fail-if") from None
        if report is not None:
            check_writable(report)
        return cls(conditions, report)

    def look(self, results: "Results", groups: list[str]) -> None:
        """Write the report; exit with code 3 if a condition is true.

        Raises
        ------
        typer.Exit
            A condition is true.
        """
        from incast.results.conditions import judge

        if not self.conditions and self.report is None:
            return
        findings = judge(self.conditions, results, groups)
        if self.report is not None:
            from incast.results import junit

            junit.write(findings, results, self.report)
        bad = [self._told(condition, findings) for condition in self.conditions]
        for line in filter(None, bad):
            typer.echo(f"incast: {line}", err=True)
        if any(bad):
            raise typer.Exit(HOLDS)

    @staticmethod
    def _told(condition: "Condition", findings: "list[Finding]") -> str:
        mine = [finding for finding in findings if finding.condition is condition]
        bad = [finding for finding in mine if finding.holds]
        if not bad:
            return ""
        where = f"at {len(bad)} of {len(mine)} points, first" if len(mine) > 1 else "at"
        return f"{condition.text}: {where} {bad[0].where}: {bad[0].told}"
