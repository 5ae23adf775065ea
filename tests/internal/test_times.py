"""The times of runs, beside the rows."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from incast.results.times import Times


def test_times_that_threads_put_at_once_come_after_the_head(tmp_path: Path) -> None:
    threads, together = 8, threading.Barrier(8)
    for attempt in range(20):
        times = Times(tmp_path / str(attempt))

        def put(key: int, times: Times = times) -> None:
            together.wait()
            times.put(f"{key:032x}", 1.0)

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(put, range(threads)))
        (file,) = times.folder.iterdir()
        assert file.read_text().startswith("run,wall_s,host,check\n")
        assert times.read().height == threads
