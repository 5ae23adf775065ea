"""Send requests at different times: at random times, or at a fixed interval."""

from collections.abc import Iterator
from math import ceil, floor, log10

from incast import units
from incast.advise.case import Case
from incast.advise.fixes.fix import Fix, Who
from incast.advise.words import python

_SHARES = (0.5, 1.0, 2.0)  # as shares of the time to send the data of a block
TICK = 0.001
"""The resolution of timers in event loops, in seconds.

Event loops wait for whole milliseconds (Python's `asyncio` on Linux rounds up).
"""
_LEAST = 5 * TICK  # minimum range of random delays; over less time, requests form bursts


def fixes(case: Case) -> Iterator[Fix]:
    """Yield random delays and a fixed interval that are long enough for a program's timers."""
    if not case.reads or case.app is not None:  # no known application has such a setting
        return
    for share in _SHARES:
        most = float(f"{share * case.here.ideal:.2g}")
        if most < _LEAST:
            continue
        words = python(
            "import asyncio, random\n\n"
            f"await asyncio.sleep(random.uniform(0, {most:g}))  # seconds, before each request"
        )
        yield Fix(
            name=f"requests within {units.time(most)}",
            who=Who.APPLICATION,
            what=f"Delay each request by a random time of up to {units.time(most)}.",
            changes={"workload.start_spread": f"{most * 1e9:.0f}ns"},
            text=words.text,
            rollback=words.rollback,
            price=f"Every block waits {units.time(most)} for its last request, even on an idle "
            "path.",
            risk="With fewer servers, the delay has no benefit.",
            effort=3,
        )
    gap = _up(_on_the_link(case))
    if gap < TICK:
        return
    words = python(
        "import asyncio, time\n\n"
        "due = time.monotonic()\n"
        "for server in servers:\n"
        "    ask(server)\n"
        f"    due += {gap:g}  # seconds\n"
        "    await asyncio.sleep(max(due - time.monotonic(), 0))"
    )
    yield Fix(
        name=f"a request every {units.time(gap)}",
        who=Who.APPLICATION,
        what=f"Send one request every {units.time(gap)}, the time of an answer on the link.",
        changes={
            "transport.remedies": [
                *case.others,
                {"name": "staggering", "interval": f"{gap * 1e9:.0f}ns"},
            ]
        },
        text=words.text,
        rollback=words.rollback,
        price="Slower servers leave the link idle.",
        risk="Each wait ends up to a millisecond late. Other traffic on the link makes answers "
        "overlap again.",
        effort=3,
    )


def _on_the_link(case: Case) -> float:
    """Return the seconds that an answer takes on the client's link, headers included."""
    here = case.here
    more = int(here.tree["transport"]["header_size"]) + int(here.tree["network"]["layer2_overhead"])
    return (here.sru + ceil(here.sru / here.mss) * more) * 8 / here.line_rate


def _up(seconds: float) -> float:
    """Round up to two digits, because a gap shorter than an answer makes the queue grow."""
    digit = floor(log10(seconds)) - 1
    return float(f"{ceil(round(seconds / 10.0**digit, 9)) * 10.0**digit:.2g}")
