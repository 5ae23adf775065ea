"""Runs a scenario several times, for a profiler, and prints the packet-hops of one run.

A small scenario runs before, so that what happens only once in a process is in every count.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from incast import _core
from timing.clock import FIRST, prepared

document, repeats = sys.argv[1:]
_core.run(prepared(FIRST), 1)
scenario = prepared(json.loads(document))
hops = [_core.run(scenario, 1)["rows"][0]["packet_hops"] for _ in range(int(repeats))]
print(hops[-1] if hops else 0)
