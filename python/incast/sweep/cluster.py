"""Runs a plan on a Dask cluster: one that is started here, or one that runs elsewhere.

This process sends batches of runs to the workers. The workers return the rows, and this process
stores them as it stores the rows of threads. So the files are the same as with threads, and the
workers need no common file system. If a worker dies, it leaves no incomplete files, and its batch
is run again.
"""

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Any
from urllib.parse import urlsplit

from incast import _core
from incast.errors import ResultsError
from incast.results.archive import PACK
from incast.results.frames import Run
from incast.results.store import Store
from incast.scenario.plan import Job
from incast.sweep.work import OVERHEAD, packets, speed_here

THREADS, LOCAL = "threads", "dask"

_WORK = 2.0  # minimum seconds of a batch, because a task costs milliseconds
_MOST = 20_000  # maximum runs of a batch
_WINDOW = 10 * PACK  # runs sorted together, longest first; this keeps few packs unfinished
_LEAST_WAITING = 8  # waiting batches: an adaptive cluster starts workers only for waiting tasks
_ATTEMPTS = 10  # maximum attempts to run a batch whose workers die
_PATIENCE = 10.0  # seconds for a scheduler to answer
_TICK = 0.1  # seconds between two checks
_PROTOCOLS = {"tcp", "tls", "ws", "wss", "ucx", "ucxx", "inproc"}

Tasks = list[tuple[str, list[int]]]  # the text of a point, and seeds
Finished = tuple[Job, float | None]  # a job and its seconds


def check(executor: str) -> None:
    """Refuse a name that is not an executor.

    Raises
    ------
    ResultsError
        `executor` is neither a known name nor an address, or Dask is missing.
    """
    if executor == THREADS:
        return
    if executor != LOCAL and not _is_address(executor):
        raise ResultsError(
            f"executor: there is no executor {executor!r}; must be threads, dask, or the address "
            "of a scheduler, e.g. tcp://host:8786"
        )
    try:
        import distributed  # noqa: F401 (only to find out whether it is installed)
    except ImportError:
        raise ResultsError(
            f"executor: {executor} needs Dask, which is not installed; pip install 'incast[dask]'"
        ) from None


def _is_address(text: str) -> bool:
    """Return whether a string is an address of Dask: a protocol, a host, and perhaps a port."""
    try:
        parts = urlsplit(text)
        return parts.scheme in _PROTOCOLS and bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets, or a port above 65535
        return False


@contextmanager
def connected(executor: str, workers: int) -> Iterator["Cluster | None"]:
    """Start a cluster, or connect to the cluster at an address; yield None for threads.

    Raises
    ------
    ResultsError
        There is no such executor, or no scheduler answers.
    """
    check(executor)
    if executor == THREADS:
        yield None
        return
    import distributed

    # Messages about a lost worker do not matter, because its batch is run again.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    local = None
    try:
        if executor == LOCAL:
            local = distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                dashboard_address=None,
                silence_logs=logging.CRITICAL,
            )
        client = _client(local or executor)
    except (OSError, ValueError, TypeError) as error:
        why = " ".join(str(error).split()) or type(error).__name__
        raise ResultsError(f"executor: {executor}: no scheduler answers: {why}") from None
    try:
        yield Cluster(client, executor)
    finally:
        with suppress(Exception):  # the scheduler may have ended
            client.close(timeout=1)
        if local is not None:
            with suppress(Exception):
                local.close(timeout=5)


def _client(scheduler: Any) -> Any:  # noqa: ANN401 (of a package without types)
    """Connect to a scheduler."""
    import distributed

    class Client(distributed.Client):  # type: ignore[misc]
        def start(self, **options: Any) -> None:
            try:
                super().start(**options)
            except BaseException:
                self.status = "closed"  # otherwise the client would wait for itself and fail again
                raise

    return Client(scheduler, timeout=_PATIENCE, set_as_default=False)


def simulate(
    tasks: Tasks, traces: Sequence[str], engine: str
) -> list[tuple[dict[str, Any], float]]:
    """Run a batch on a worker; return the output and the seconds of each run.

    Raises
    ------
    ResultsError
        The worker has another engine.
    """
    if _core.version() != engine:
        raise ResultsError(
            f"executor: a worker has engine {_core.version()}, but this machine has {engine}; "
            "install the same version of incast on the worker"
        )
    done = []
    for text, seeds in tasks:
        scenario = _scenario(text)
        for seed in seeds:
            start = time.monotonic()
            output = _core.run(scenario, seed, traces)
            done.append((output, time.monotonic() - start))
    return done


@lru_cache(maxsize=1000)
def _scenario(text: str) -> _core.Scenario:
    return _core.Scenario(text)


class Cluster:
    """A connection to a scheduler.

    Parameters
    ----------
    client
        The client of `distributed`.
    name
        The executor, for messages.
    """

    def __init__(self, client: Any, name: str) -> None:  # noqa: ANN401 (of a package without types)
        self._client = client
        self._name = name

    @property
    def threads(self) -> int:
        """Number of runs that are possible in parallel at present, at least 1."""
        return max(int(sum(self._client.nthreads().values())), 1)

    def run(
        self,
        todo: Sequence[Job],
        store: Store,
        traces: Sequence[str],
        report: Callable[[Iterable[Finished]], None],
    ) -> None:
        """Run and store jobs, calling `report` regularly, until all have ended.

        Raises
        ------
        ResultsError
            The scheduler has ended, or its workers died in every attempt to run the same runs.
        ScenarioError
            The core refused a job.
        """
        from distributed.comm import CommClosedError

        try:
            _Round(self._client, self._name, store, traces).run(todo, report)
        except (CommClosedError, OSError, TimeoutError) as error:
            raise gone(self._name) from error


def gone(name: str) -> ResultsError:
    """Return the error for a scheduler that no longer answers."""
    return ResultsError(
        f"executor: {name}: the scheduler is gone; finished runs are stored, and the same command "
        "continues with the rest"
    )


class _Round:
    """The batches under way."""

    def __init__(self, client: Any, name: str, store: Store, traces: Sequence[str]) -> None:  # noqa: ANN401
        self.client = client
        self.name = name
        self.store = store
        self.traces = list(traces)
        self.costs = _Costs()
        self.ended: SimpleQueue[Any] = SimpleQueue()
        self.batches: dict[str, tuple[list[Job], int]] = {}  # by the keys of their futures
        self.futures: dict[str, Any] = {}
        self.again: deque[tuple[list[Job], int]] = deque()  # batches whose workers died

    def run(self, todo: Sequence[Job], report: Callable[[Iterable[Finished]], None]) -> None:
        """Keep the workers busy until no batch is left."""
        batches = self.costs.batches(todo)
        looked, threads = -1.0, 1
        try:
            while True:
                if time.monotonic() >= looked + 1:  # an adaptive cluster grows and shrinks
                    threads = sum(self.client.nthreads().values())
                    looked = time.monotonic()
                room = max(2 * threads + 2, _LEAST_WAITING) - len(self.futures)
                for _ in range(room):
                    jobs, attempt = self.again.popleft() if self.again else (next(batches, []), 0)
                    if not jobs:
                        break
                    self.submit(jobs, attempt)
                if not self.futures:
                    return
                report(self.finished())
        except KeyboardInterrupt:
            with suppress(Exception):  # store the batches that workers have returned, if possible
                self.finished()
            raise
        finally:
            with suppress(Exception):
                self.client.cancel(list(self.futures.values()), force=True)

    def submit(self, jobs: list[Job], attempt: int) -> None:
        """Send a batch to the workers."""
        of_points: dict[str, list[Job]] = {}
        for job in jobs:
            of_points.setdefault(job.point.identity, []).append(job)
        tasks = [(text, [job.seed for job in those]) for text, those in of_points.items()]
        ordered = [job for those in of_points.values() for job in those]
        future = self.client.submit(simulate, tasks, self.traces, jobs[0].engine, pure=False)
        self.futures[future.key] = future
        self.batches[future.key] = (ordered, attempt)
        future.add_done_callback(self.ended.put)

    def finished(self) -> list[Finished]:
        """Store the batches that have ended since the last call; return their jobs."""
        found: list[Finished] = []
        runs: list[Run] = []
        for future in self.some():
            jobs, attempt = self.batches.pop(future.key)
            del self.futures[future.key]
            for job, (output, seconds) in zip(
                jobs, self.result(future, jobs, attempt), strict=False
            ):
                self.costs.measured(job, seconds)
                run = Run(job, output)
                if self.traces:
                    self.store.put_traces(run)
                runs.append(run)
                found.append((job, seconds))
        if runs:
            self.store.put(runs)
        return found

    def some(self) -> Iterator[Any]:
        """Wait briefly for a batch to end; yield the futures of all batches that have ended."""
        with suppress(Empty):
            yield self.ended.get(timeout=_TICK)
            while True:
                yield self.ended.get_nowait()
        if self.client.status in {"closed", "closing"}:
            raise gone(self.name)

    def result(
        self,
        future: Any,  # noqa: ANN401
        jobs: list[Job],
        attempt: int,
    ) -> list[tuple[dict[str, Any], float]]:
        """Return the output of a batch, or an empty list if the batch must run again."""
        from distributed import CancelledError, KilledWorker

        try:
            done: list[tuple[dict[str, Any], float]] = future.result(timeout=60)
        except KilledWorker:
            if attempt >= _ATTEMPTS:
                raise ResultsError(
                    f"executor: {self.name}: workers ended {attempt} times at the same runs, which "
                    f"begin with seed {jobs[0].seed}; do the workers have enough memory?"
                ) from None
            half = (len(jobs) + 1) // 2  # one of these runs may have killed the workers
            self.again += [(part, attempt + 1) for part in (jobs[:half], jobs[half:]) if part]
            return []
        except (CancelledError, TimeoutError):  # the scheduler lost the batch, or was restarted
            if self.client.status != "running" or attempt >= _ATTEMPTS:
                raise gone(self.name) from None
            self.again.append((jobs, attempt + 1))
            return []
        except ModuleNotFoundError as error:
            raise ResultsError(
                f"executor: {self.name}: a worker has no module {error.name!r}; install the same "
                "version of incast on the worker"
            ) from None
        return done


class _Costs:
    """The cost of runs, measured at their points or estimated from their packets."""

    def __init__(self) -> None:
        self._speed: float | None = None  # seconds per packet on this machine
        self._points: dict[str, tuple[float, int]] = {}  # seconds and runs
        self._packets: dict[str, float] = {}
        self._spent = self._sent = 0.0

    def measured(self, job: Job, seconds: float) -> None:
        """Record how long a run took."""
        spent, runs = self._points.get(job.point.key, (0.0, 0))
        self._points[job.point.key] = (spent + seconds, runs + 1)
        self._spent += seconds
        self._sent += self._size(job)

    def of(self, job: Job) -> float:
        """Return the expected seconds of a run."""
        spent, runs = self._points.get(job.point.key, (0.0, 0))
        if runs:
            return spent / runs + OVERHEAD
        if self._sent:
            return self._size(job) * self._spent / self._sent + OVERHEAD
        if self._speed is None:
            self._speed = speed_here()
        return self._size(job) * self._speed + OVERHEAD

    def batches(self, todo: Sequence[Job]) -> Iterator[list[Job]]:
        """Yield batches, each with about `_WORK` seconds of work.

        Each `_WINDOW` runs of the plan are sorted, longest run first, and cut into batches. The
        size of a batch depends on the costs that are known when the batch is taken.
        """
        rest = iter(todo)
        while window := list(islice(rest, _WINDOW)):
            window.sort(key=self.of, reverse=True)
            batch: list[Job] = []
            work = 0.0
            for job in window:
                batch.append(job)
                work += self.of(job)
                if work >= _WORK or len(batch) >= _MOST:
                    yield batch
                    batch, work = [], 0.0
            if batch:
                yield batch

    def _size(self, job: Job) -> float:
        if job.point.key not in self._packets:
            self._packets[job.point.key] = packets(job.point.here)
        return self._packets[job.point.key]
