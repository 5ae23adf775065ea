"""Spark: a reduce task fetches blocks of map outputs from many executors.

Source: Spark's configuration page, "Shuffle Behavior", and `ShuffleBlockFetcherIterator`:
`maxReqsInFlight` (unlimited by default) bounds a reduce task's remote requests in flight.
`maxSizeInFlight` (48m by default) bounds the bytes that a task requests at a time. One request
asks for at most a fifth of these bytes, so that at least five executors answer.
`maxBlocksInFlightPerAddress` (unlimited by default) bounds the blocks that a task requests from one
executor at a time.
"""

from incast.advise.apps.app import App, Bound, Throttle, at_once, nothing
from incast.advise.words import Words
from incast.scenario.resolved import Resolved

_REQUESTS = 5
"""Minimum number of requests into which `maxSizeInFlight` is divided."""


def _limit(count: int) -> Words:
    return Words(
        "# spark-defaults.conf; the bound is per reduce task: divide it by the number of\n"
        "# reduce tasks that run on a host at a time\n"
        f"spark.reducer.maxReqsInFlight {count}",
        "Remove the line; then there is no bound.",
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
            "requests that one reduce task has in flight, each to one executor", at_once
        ),
        "spark.reducer.maxSizeInFlight": Throttle(
            "bytes that one reduce task has in flight, at most a fifth of them from one executor",
            _in_all,
        ),
        "spark.reducer.maxBlocksInFlightPerAddress": Throttle(
            "blocks of any size that are requested from one executor at a time; set workload.sru "
            "to at most the bytes of these blocks",
            nothing,
        ),
    },
)
