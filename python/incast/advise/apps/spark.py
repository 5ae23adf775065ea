"""Spark: a reduce task fetches blocks of map outputs from many executors.

Source: Spark's configuration page, "Shuffle Behavior", and `ShuffleBlockFetcherIterator`:
`maxReqsInFlight` bounds the remote requests of a reduce task, without a bound by default.
`maxSizeInFlight`, 48m by default, bounds the bytes of all its requests together; a request is for
at most a fifth of it, so that at least five executors answer. `maxBlocksInFlightPerAddress` bounds
the blocks that are asked of one executor at a time, without a bound by default.
"""

from incast.advise.apps.app import App, Bound, Throttle, at_once, nothing
from incast.advise.words import Words
from incast.scenario.resolved import Resolved

_REQUESTS = 5
"""Requests that `maxSizeInFlight` is divided into at least."""


def _limit(count: int) -> Words:
    return Words(
        "# spark-defaults.conf; per reduce task: divide by the tasks that run on a host at a time\n"
        f"spark.reducer.maxReqsInFlight {count}",
        "Remove the line: without it there is no bound.",
    )


def _in_all(size: int, here: Resolved) -> Bound:
    """Bound the bytes of all answers together."""
    answer = min(here.sru, max(size // _REQUESTS, 1))
    return Bound(at_once=max(size // answer, 1), answer=answer)


APP = App(
    "spark",
    _limit,
    {
        "spark.reducer.maxReqsInFlight": Throttle(
            "requests of a reduce task that are in flight, so that many executors answer", at_once
        ),
        "spark.reducer.maxSizeInFlight": Throttle(
            "bytes in flight of a reduce task in total, at most a fifth of them from one executor",
            _in_all,
        ),
        "spark.reducer.maxBlocksInFlightPerAddress": Throttle(
            "blocks that are asked of one executor at a time, of any size; let workload.sru be the "
            "bytes of that many blocks at most",
            nothing,
        ),
    },
)
