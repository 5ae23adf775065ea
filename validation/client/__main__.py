"""Measure the gain of the client that avoids incast, and write the tables and picture of its page.

Builds stars of network namespaces with nginx at the servers. Needs `unshare`, `ip`, `tc`, `nginx`
and the right to make user namespaces. Takes three minutes if nothing else runs on the machine.
Undisturbed measurements of stars are kept in target/validation/client; remove this folder to
measure all stars again.
"""

from __future__ import annotations

import sys

from rich.console import Console

from validation.client import servers, star
from validation.client.judge import sample, study, verdicts
from validation.client.page import PAGE, write
from validation.common.command import asked_quick
from validation.common.judge import tell
from validation.common.places import ROOT


def main() -> int:
    """Measure, judge, and write."""
    console = Console(highlight=False)
    quick = asked_quick(__doc__ or "")
    lacks = star.missing() or servers.missing()
    if lacks:
        console.print(f"skipped: {lacks}", soft_wrap=True)
        return 0
    if quick:
        return int(not tell(console, sample(), None))
    measured = study()
    write(ROOT / "docs", measured)
    holds = tell(console, verdicts(measured), None)
    console.print(f"written: docs/{PAGE}")
    return int(not holds)


if __name__ == "__main__":
    sys.exit(main())
