"""The throughput of synchronised flows by their loss rates.

Kulkarni & Agrawal, Analysis of TCP Performance in Data Center Networks, Springer 2014, chapter 3.
The parameters are measured in a run (`incast.models.estimate`): these equations explain a collapse,
they do not predict one.
"""

from incast.models.kulkarni.cumulative import (
    CORRECTED,
    PRINTED,
    Kind,
    Losses,
    Reading,
    inside,
    throughput,
    timeouts_per_packet,
)

__all__ = [
    "CORRECTED",
    "PRINTED",
    "Kind",
    "Losses",
    "Reading",
    "inside",
    "throughput",
    "timeouts_per_packet",
]
