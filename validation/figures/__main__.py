"""Run the figures of the literature with --quick, and compare their verdicts with the kept ones.

Exits with 1 if a claim that held before fails now. `--keep` keeps today's verdicts.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from incast.reproduce import papers
from incast.reproduce.execute import claims_json, reproduce
from validation.common.places import REFERENCE, ROOT

SAMPLE = ["efr/2", "hpc/3", "kulkarni/4.1", "plato/11", "serialization/9"]
KEPT = REFERENCE / "figures" / "quick-verdicts.json"


def main() -> int:
    """Run the figures, compare the verdicts, and print the differences."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", action="store_true", help="keep today's verdicts")
    parser.add_argument("--quick", action="store_true", help="a few figures of each text")
    options = parser.parse_args()
    verdicts = quick_verdicts(SAMPLE if options.quick else [])
    if options.keep:
        KEPT.parent.mkdir(parents=True, exist_ok=True)
        KEPT.write_text(json.dumps(verdicts, indent=1, sort_keys=True) + "\n")
        print(f"kept: {len(verdicts)} verdicts in {KEPT.relative_to(ROOT)}")
        return 0
    before = json.loads(KEPT.read_text())
    if options.quick:
        before = {claim: then for claim, then in before.items() if claim in verdicts}
    for claim in sorted(before.keys() | verdicts.keys()):
        then, now = before.get(claim, "no claim"), verdicts.get(claim, "no claim")
        if then != now:
            print(f"{claim}: was {then}, is {now}")
    lost = [claim for claim, then in before.items() if then == "holds" != verdicts.get(claim)]
    held = sum(verdict == "holds" for verdict in verdicts.values())
    print(f"{held} of {len(verdicts)} claims hold; {len(lost)} that held no longer do")
    return int(bool(lost))


def quick_verdicts(names: list[str]) -> dict[str, str]:
    """Return the verdict on each claim of the named figures (all if empty), by figure and claim."""
    chosen = papers.select(papers.load(ROOT / "papers"), names)
    with tempfile.TemporaryDirectory() as out:
        done = reproduce(chosen, Path(out), quick=True)
    claims = claims_json(done, quick=True)["claims"]
    return {
        f"{claim['text']}/{claim['figure']} {claim['id']}": claim["verdict"] for claim in claims
    }


if __name__ == "__main__":
    sys.exit(main())
