"""Draw the corpus again: `PYTHONPATH=tests/internal python tests/internal/corpus/draw.py`.

Run this when the format of scenarios changes, or a registry gets an entry. The hashes of unchanged
scenarios must not change.
"""

import gzip
import itertools
import json
import random
import sys
from collections.abc import Iterator

from knob_walk import Document, around, keys, others, put, scenarios, table

import incast
from corpus import DOCUMENTS, Case, outcome, write_hashes
from incast import _core
from incast.sweep.work import packets

COUNT = 1600
PROFILES = ["lab", "linux", "linux-dctcp", "ns2", "ns3", "rfc"]
TRACES = [
    [],
    ["events"],
    ["queue"],
    ["cwnd"],
    ["events", "cwnd:full", "queue:full"],
    [],
]
MOST_PACKETS = 20_000
OWN: Document = {
    key: given
    for name in ("network", "traffic", "transport", "parts", "remedies")
    for key, given in table(name).items()
}
BASES = scenarios()


def knobs() -> Iterator[tuple[str, Document, object]]:
    """Give every key a scenario in which it may matter, and a value."""
    for key, about in keys().items():
        if own := OWN.get(key):
            yield key, around(key, own, BASES[own.get("in", "collapse")]), own["is"]
        else:
            for value, base in itertools.product(list(others(about))[:3], ("collapse", "again")):
                yield key, around(key, {}, BASES[base]), value


def transports() -> list[str]:
    """Return the names of the transports."""
    return [one["name"] for one in json.loads(_core.entries("transports"))]


def systematic() -> Iterator[Document]:
    """Draw every key, and every entry of a registry in every profile."""
    for key, document, value in knobs():
        yield put(document, key, value)
    for profile, name in itertools.product(PROFILES, transports()):
        base = BASES[("collapse", "again", "lossy")[len(name) % 3]]
        yield put(base, "transport.name", name) | {"profile": profile}


def drawn(seed: int) -> Iterator[Document]:
    """Yield random mixtures of profiles, transports and keys without end."""
    draw = random.Random(seed)
    every, names = list(knobs()), transports()
    while True:
        document = draw.choice(every)[1]
        values = [(key, value) for key, _, value in draw.choices(every, k=draw.choice([1, 2, 4]))]
        if draw.random() < 0.5:
            values.append(("transport.name", draw.choice(names)))
        try:
            for key, value in values:
                document = put(document, key, value)
        except (AttributeError, TypeError):  # a remedy by its name, where another has a table
            continue
        yield document | ({"profile": draw.choice(PROFILES)} if draw.random() < 0.6 else {})


def usable(document: Document) -> bool:
    """Return whether a document is a valid scenario with short runs."""
    try:
        points = incast.load(document).plan.points
    except (incast.ScenarioError, KeyError, TypeError, AttributeError):
        return False
    return len(points) <= 2 and sum(packets(point.here) for point in points) < MOST_PACKETS


def main() -> int:
    """Draw, run, and write documents and hashes."""
    cases: list[Case] = []
    seen: set[str] = set()
    for document in itertools.chain(systematic(), drawn(1)):
        text = json.dumps(document)
        if len(cases) >= COUNT:
            break
        if text in seen or not usable(document):
            continue
        seen.add(text)
        cases.append(Case(document, TRACES[len(cases) % len(TRACES)]))
    lines = "".join(json.dumps(vars(case)) + "\n" for case in cases)
    DOCUMENTS.write_bytes(gzip.compress(lines.encode(), mtime=0))
    write_hashes([outcome(case) for case in cases])
    sys.stdout.write(f"{len(cases)} scenarios, {DOCUMENTS.stat().st_size} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
