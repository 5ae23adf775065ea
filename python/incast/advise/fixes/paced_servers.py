"""Pace the servers' packets: by the window, or with a limit on the rate."""

from collections.abc import Iterator

from incast import units
from incast.advise.case import Case
from incast.advise.fixes.fix import Fix, Who
from incast.advise.shell import qdisc
from incast.advise.words import Words

_SHARES = (1, 2, 4)  # rate limits, as multiples of the fair share of the client's link
_REPLACES = (
    "The command replaces a qdisc that you set by hand; save the output of `tc qdisc show` first"
)


def fixes(case: Case) -> Iterator[Fix]:
    """Yield fq without a limit, and fq with a rate limit for each factor in `_SHARES`."""
    if not case.transport["pacing"]:
        yield _fq(qdisc("fq"))
    here = case.here
    for times in _SHARES:
        rate = float(f"{times * here.line_rate / here.servers:.2g}")
        if rate < here.server_rate:
            yield _bounded(case, rate)


def _fq(words: Words) -> Fix:
    return Fix(
        name="pacing with fq",
        who=Who.SERVERS,
        what="Send packets at even intervals, with the fq queue.",
        changes={"transport.pacing": True},
        text=words.text,
        rollback=words.rollback,
        price="A timer per packet.",
        risk=f"{_REPLACES}.",
        effort=2,
    )


def _bounded(case: Case, rate: float) -> Fix:
    kbit = round(rate / 1e3)
    words = qdisc(f"fq maxrate {kbit}kbit")
    # With a slower link, the delay of the network must not change.
    delay = case.here.tree["network"]["delay"]
    changes: dict[str, object] = {"network.server_rate": f"{kbit}kbps"}
    if "base_rtt" in case.scenario.document.get("network", {}):
        changes |= {"network.base_rtt": None, "network.delay": delay}
    return Fix(
        name=f"at most {units.rate(rate)} per connection",
        who=Who.SERVERS,
        what=f"Limit every connection to {units.rate(rate)}, with the fq queue.",
        changes=changes,
        text=words.text,
        rollback=words.rollback,
        price="No connection of the host exceeds this rate, to any client, even on an idle path.",
        risk=f"With more servers, the limit must be lower. {_REPLACES}.",
        effort=5,
    )
