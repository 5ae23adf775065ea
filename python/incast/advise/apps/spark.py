"""Spark: a reduce task fetches blocks of map outputs from many executors.

Source: Spark's configuration page, "Shuffle Behavior": `maxReqsInFlight` bounds the remote requests
of a reduce task, without a bound by default; `maxSizeInFlight` is 48m, and a request asks for a
fifth of it at most.
"""

from incast.advise.apps.app import App, Throttle, at_once
from incast.advise.words import Words


def _limit(count: int) -> Words:
    return Words(
        "# spark-defaults.conf; per reduce task: divide by the tasks that run on a host at a time\n"
        f"spark.reducer.maxReqsInFlight {count}",
        "Remove the line: without it there is no bound.",
    )


APP = App(
    "spark",
    _limit,
    {
        "spark.reducer.maxReqsInFlight": Throttle(
            "requests of a reduce task that are under way, so that many executors answer", at_once
        ),
        "spark.reducer.maxSizeInFlight": Throttle(
            "bytes of a reduce task that are requested, a fifth of it from each executor",
            lambda count: {"workload.sru": max(count // 5, 1)},
        ),
    },
)
