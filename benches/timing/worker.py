"""Reads scenarios as lines of JSON, runs them, and answers with their timings."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

import incast

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from timing.clock import run_here

print(json.dumps(str(Path(incast.__file__).parent)), flush=True)
for line in sys.stdin:
    print(json.dumps(asdict(run_here(json.loads(line)))), flush=True)
