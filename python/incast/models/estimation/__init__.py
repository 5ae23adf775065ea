"""Loss rates, round trips and timeouts for the models, estimated from a run or a capture.

    results = incast.run(scenario, traces=["events"])
    models.estimate(results)            # one row per point and seed

For a capture of a real network, `of_events` needs only a data frame of events.
"""

from incast.models.estimation.events import Estimate, of_events
from incast.models.estimation.runs import ask, estimate
from incast.models.estimation.sampled import Sampled, Sizes, of_counters, of_sample

__all__ = [
    "Estimate",
    "Sampled",
    "Sizes",
    "ask",
    "estimate",
    "of_counters",
    "of_events",
    "of_sample",
]
