"""The throughput of synchronised flows as a function of their loss rates.

Kulkarni & Agrawal, Analysis of TCP Performance in Data Center Networks, Springer 2014, chapter 3.
The parameters are measured in a run (`incast.models.estimate`), so the equations explain a
collapse, but do not predict a collapse. In this package, "the text" is this chapter.
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
