"""Queueing theory: occupancy and loss of a buffer.

    from incast.models.queues import MG1K, Deterministic, smallest_buffer

    queue = MG1K(arrival_rate=80_000, service=Deterministic(12e-6), capacity=33)
    queue.blocking, queue.mean, queue.variance, queue.tail(16)
    smallest_buffer(queue, target_loss=1e-6)

Units: rates in packets per second, times in seconds. Capacities include the packets in service, so
a switch port with B waiting places has K = B + 1.
"""

from .batch import Batch
from .closed import MM1K, md1k_blocking, smith_blocking
from .service import Deterministic, Empirical, Erlang, Exponential, HyperExponential, Service
from .several import MGn, MGnK
from .single import MG1, MG1K
from .sizing import smallest_buffer

__all__ = [
    "MG1",
    "MG1K",
    "MM1K",
    "Batch",
    "Deterministic",
    "Empirical",
    "Erlang",
    "Exponential",
    "HyperExponential",
    "MGn",
    "MGnK",
    "Service",
    "md1k_blocking",
    "smallest_buffer",
    "smith_blocking",
]
