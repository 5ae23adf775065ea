"""Run the training runs of a build with profile-guided optimisation.

`make pgo` calls this script; the compiler then optimises the engine for these runs. Every transport
runs with ample and with scarce buffers, every remedy runs, and so do short versions of the cases of
`make bench`, with fabrics, shared buffers and many servers. Thus nothing is optimised at the cost
of the rest.
"""

from __future__ import annotations

import json
from typing import Any

from timing import cases, transports
from timing.cases import AMPLE, COLLAPSE
from timing.clock import run_here

# The size of a transfer: long enough for a profile, and short enough for a quick build.
BYTES = 2_000_000
TOTAL = 64_000_000


def documents() -> list[dict[str, Any]]:
    """Return the scenarios to run."""
    from incast import _core

    found = []
    for workload in (AMPLE, COLLAPSE):
        found += [cases.of_transport(workload, name) for name in transports.names()]
        found += [cases.of_family(workload, name) for name in transports.names(of_tcp=False)]
    for remedy in sorted(entry["name"] for entry in json.loads(_core.entries("remedies"))):
        document = cases.of_transport(COLLAPSE, "newreno")
        document["transport"]["remedies"] = [remedy]
        document["network"]["buffer"] = "48KB"
        found.append(document)
    for document in found:
        document["workload"]["sru"] = f"{BYTES}B"
    return found + [_short(case.document) for case in cases.ENGINE]


def _short(document: dict[str, Any]) -> dict[str, Any]:
    """Return a read with a smaller number of bytes, and with one block."""
    servers = document["workload"]["servers"]
    shorter = {"sru": f"{min(BYTES, TOTAL // servers)}B", "blocks": 1}
    return {**document, "workload": document["workload"] | shorter}


if __name__ == "__main__":
    for document in documents():
        run_here(document)
