"""Compare the model of the collapse with reads with jitter, and write docs/validation/jitter.md.

Exits with 1 if a bar is missed, or if the measured factors differ from those that the model states.
`--development` judges the set with which the model was developed, and writes nothing. `--keep`
stores the measured factors for the model. Takes about five minutes on two processors.
"""

from __future__ import annotations

import json
import os
import sys

from rich.console import Console

from validation.common.command import asked_quick
from validation.common.judge import tell
from validation.common.places import PAGES, ROOT
from validation.jitter.judge import study, verdicts
from validation.jitter.page import kept, write

TRUST = ROOT / "python" / "incast" / "models" / "collapse" / "trust.json"
READS, SEEDS = 300, 10
QUICK_READS, QUICK_SEEDS, QUICK_MARGIN = 30, 4, 0.15
"""The numbers of reads and seeds of a sample, and how far its shares may be below the bars."""


def main() -> int:
    """Judge the held-out set, a sample of it, or the development set."""
    console, jobs = Console(highlight=False), os.cpu_count() or 1
    if sys.argv[1:2] == ["--development"]:
        return int(not tell(console, verdicts(study("development", READS, SEEDS, jobs)), None))
    keep = sys.argv[1:2] == ["--keep"]
    if not keep and asked_quick(__doc__ or ""):
        sample = study("development", QUICK_READS, QUICK_SEEDS, jobs)
        return int(not tell(console, verdicts(sample, QUICK_MARGIN), None))
    judged = study("held-out", READS, SEEDS, jobs)
    if keep:
        TRUST.write_text(json.dumps({"regions": judged.regions()}, indent=2) + "\n")
    found = [*verdicts(judged), kept(judged, json.loads(TRUST.read_text()))]
    write(PAGES, judged, found)
    return int(not tell(console, found, "jitter.md"))


if __name__ == "__main__":
    sys.exit(main())
