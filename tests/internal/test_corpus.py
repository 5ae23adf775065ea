"""The corpus of 2 100 scenarios, with every key, entry, profile and trace: results do not change.

If a change of a row is intended, the changelog must give the reason. This command rewrites the
hashes:
`INCAST_KEEP_CORPUS=1 python -m pytest tests/internal/test_corpus.py`.
"""

import json
import os

import pytest
from corpus import cases, hashes, outcome, write_hashes

from incast import _core

CASES = cases()
BATCH = 100


@pytest.mark.parametrize("start", range(0, len(CASES), BATCH))
def test_rows_and_traces_are_those_that_were_kept(start: int) -> None:
    if os.environ.get("INCAST_KEEP_CORPUS"):
        kept = hashes()
        kept[start : start + BATCH] = map(outcome, CASES[start : start + BATCH])
        write_hashes(kept)
    kept = hashes()[start : start + BATCH]
    found = map(outcome, CASES[start : start + BATCH])
    moved = [
        f"{start + i}: {was} -> {now}"
        for i, (was, now) in enumerate(zip(kept, found, strict=True))
        if was != now
    ]
    assert moved == []


def test_the_corpus_has_every_entry_of_every_registry() -> None:
    assert len(CASES) >= 2000
    texts = [json.dumps(case.document) for case in CASES]
    kinds = ("transports", "repairs", "rates", "paths", "credits", "nics", "queues", "remedies")
    for kind in (*kinds, "buffers", "workloads", "topologies"):
        names = [one["name"] for one in json.loads(_core.entries(kind))]
        # An entry that is the default of every profile need not be in a document.
        missing = [name for name in names if not any(f'"{name}"' in text for text in texts)]
        assert missing in ([], ["drop-tail"], ["star"]), (kind, missing)
