"""Measures how long a results directory takes to store and read runs, and to continue a sweep.

python benches/store.py [--runs 100000] [--dir DIR]
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import incast
from incast import _core
from incast.results.frames import Run
from incast.results.store import Directory

BATCH = 500  # runs that are stored together; this number of tiny runs takes 0.1 s

T = TypeVar("T")

SCENARIO = {
    "title": "Many runs",
    "network": {"rate": "1Gbps", "delay": "25us", "buffer": "32KiB"},
    "workload": {"name": "barrier-read", "servers": 2, "sru": "4KiB", "blocks": 1},
    "transport": {"name": "newreno", "rto_min": "10ms"},
    "sweep": {"workload.servers": list(range(1, 101)), "network.buffer": ["32KiB", "64KiB"]},
}


def timed(what: str, runs: int, do: Callable[[], T]) -> T:
    start = time.perf_counter()
    value = do()
    seconds = time.perf_counter() - start
    print(f"{what:34} {seconds:8.2f} s  {1e6 * seconds / runs:8.1f} us per run", flush=True)
    return value


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--dir", type=Path, help="keep the directory here")
    options = parser.parse_args()
    points = 200
    scenario = incast.load({**SCENARIO, "run": {"seeds": max(options.runs // points, 1)}})
    runs = points * max(options.runs // points, 1)
    with tempfile.TemporaryDirectory() as folder:
        out = options.dir or Path(folder) / "out"
        timed("lay out the plan", runs, lambda: scenario.plan)
        jobs = list(scenario.plan.jobs())
        store = timed("make the directory", runs, lambda: Directory.create(out, scenario, []))
        point = jobs[0].point
        output = _core.run(point.scenario, 1)

        def keep() -> None:
            store.expect(jobs)
            for start in range(0, len(jobs), BATCH):
                store.put([Run(job, output) for job in jobs[start : start + BATCH]])

        timed("keep the runs", runs, keep)
        store.close("complete")
        size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
        count = sum(1 for file in out.rglob("*") if file.is_file())
        print(f"{'':34} {count} files, {size / 1e6:.0f} MB")
        again = timed("open the directory", runs, lambda: incast.open_results(out))
        timed("read the rows", runs, again.frame)
        timed("summarise the rows", runs, again.summary)
        timed("run again, with nothing to do", runs, lambda: incast.run(scenario, out=out))
    return 0


if __name__ == "__main__":
    sys.exit(main())
