"""More buffer for the port to the client."""

from collections.abc import Iterator

from incast import units
from incast.advise.case import Case
from incast.advise.fixes.fix import Fix, Who
from incast.advise.shell import sonic

PROFILE = "egress_lossy_profile"
"""The profile of lossy egress queues in the templates of SONiC."""
LEAST_EXPONENT, MOST_EXPONENT = -7, 3
"""Exponents of dynamic thresholds that switches commonly accept: alpha = 2^exponent."""
_TIMES = (2, 4)


def fixes(case: Case) -> Iterator[Fix]:
    """Yield a larger alpha where ports share the buffer, or twice and four times a fixed one."""
    dynamic = case.here.dynamic
    if dynamic is not None:
        yield from _alphas(case, *dynamic)
        return
    for times in _TIMES:
        yield _larger(case, times)


def _alphas(case: Case, total: int, alpha: float) -> Iterator[Fix]:
    for exponent in range(LEAST_EXPONENT, MOST_EXPONENT + 1):
        if not alpha < 2.0**exponent <= 16 * alpha:
            continue
        buffer = dict(case.here.tree["network"]["buffer"], alpha=f"2^{exponent}")
        words = sonic({"BUFFER_PROFILE": {PROFILE: {"dynamic_th": str(exponent)}}})
        yield Fix(
            name=f"alpha 2^{exponent}",
            who=Who.SWITCH,
            what=f"Let a queue take 2^{exponent} times the memory that is free, of "
            f"{units.size(total)}.",
            changes={"network.buffer": buffer},
            text=words.text,
            rollback=words.rollback,
            price="Other ports have less when this one is full; longer queues delay other traffic.",
            risk=f"The profile {PROFILE} may have another name here: `show buffer configuration`.",
            effort=0,
        )


def _larger(case: Case, times: int) -> Fix:
    size = case.here.buffer_bytes * times
    tables = {"BUFFER_PROFILE": {PROFILE: {"static_th": str(size)}}}
    words = sonic(tables)
    return Fix(
        name=f"{times} times the buffer",
        who=Who.SWITCH,
        what=f"Give the port to the client {units.size(size)} of buffer.",
        changes={"network.buffer": case.buffer_times(times)},
        text=words.text,
        rollback=words.rollback,
        price="Longer queues delay other traffic to this port; the memory is missing elsewhere.",
        risk="The switch must have the memory. Profiles of a pool whose mode is dynamic have "
        "dynamic_th instead, and the profile may have another name: `show buffer configuration`.",
        effort=times,
    )
