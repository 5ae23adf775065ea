"""Measures time, memory and files of a large sweep, from the scenario to its table.

python benches/sweep.py [--runs 1000000] [--executor threads] [--shards N] [--dir DIR]

Each run is a read of four packets. The cost outside of the simulation is the processor time of all
processes, less the time of the engine.
"""

import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path

import incast
from incast.results.merge import merge
from incast.results.store import Directory

POINTS = 200
SCENARIO = {
    "title": "Tiny runs",
    "network": {"rate": "1Gbps", "delay": "25us", "buffer": "32KiB"},
    "workload": {"name": "barrier-read", "servers": 2, "sru": "1KiB", "blocks": 2},
    "transport": {"name": "newreno", "rto_min": "10ms"},
    "sweep": {"network.delay": [f"{n}us" for n in range(1, POINTS + 1)]},
}


def processor_s() -> float:
    """Return the processor time of this process and of the children that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1_000_000)
    parser.add_argument("--executor", default="threads")
    parser.add_argument("--shards", type=int, default=1, help="run it in parts, and merge them")
    parser.add_argument("--dir", type=Path, help="keep the directory here")
    options = parser.parse_args()
    seeds = max(options.runs // POINTS, 1)
    runs = POINTS * seeds
    scenario = incast.load({**SCENARIO, "run": {"seeds": seeds}})
    with tempfile.TemporaryDirectory() as folder:
        out = options.dir or Path(folder) / "out"
        begin, used = time.perf_counter(), processor_s()
        parts = [Path(folder) / str(number) for number in range(options.shards)]
        if options.shards > 1:
            for number, part in enumerate(parts, 1):
                shard = f"{number}/{options.shards}"
                incast.run(scenario, out=part, executor=options.executor, shard=shard)
        else:
            incast.run(scenario, out=out, executor=options.executor)
        done, spent = time.perf_counter() - begin, processor_s() - used
        stored = peak_mib()
        begin = time.perf_counter()
        if options.shards > 1:
            merge(out, parts)
        merged = time.perf_counter() - begin
        results = incast.open_results(out)
        begin = time.perf_counter()
        table = results.summary()
        read = time.perf_counter() - begin
        engine = sum(Directory.open(out).seconds().values())
        files = [file for file in out.rglob("*") if file.is_file()]
        size = sum(file.stat().st_size for file in files)
    print(f"{runs} runs by {options.executor}, {table.height} points")
    print(f"run        {done:9.1f} s  {1e3 * done / runs:8.3f} ms per run")
    print(f"processors {spent:9.1f} s  {1e3 * spent / runs:8.3f} ms per run")
    print(f"engine     {engine:9.1f} s  {1e3 * engine / runs:8.3f} ms per run")
    print(f"other      {spent - engine:9.1f} s  {1e3 * (spent - engine) / runs:8.3f} ms per run")
    print(f"merge      {merged:9.1f} s  {1e3 * merged / runs:8.3f} ms per run")
    print(f"table      {read:9.1f} s  {1e3 * read / runs:8.3f} ms per run")
    print(f"peak {stored:.0f} MiB after the runs, {peak_mib():.0f} MiB after the table")
    print(f"{len(files)} files, {size / runs:.0f} bytes per run")
    return 0


if __name__ == "__main__":
    sys.exit(main())
