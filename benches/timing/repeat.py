"""Runs a scenario several times, for a profiler, and prints the packet-hops of one run."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from incast import _core
from timing.clock import prepared

document, repeats = sys.argv[1:]
scenario = prepared(json.loads(document))
hops = [_core.run(scenario, 1)["rows"][0]["packet_hops"] for _ in range(int(repeats))]
print(hops[-1])
