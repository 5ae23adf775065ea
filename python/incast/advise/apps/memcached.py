"""memcached behind mcrouter: a web server asks many caches for the parts of a page.

Source: mcrouter's options. `proxy-max-inflight-requests` bounds the requests that each thread of
mcrouter routes in parallel; further requests wait. There is no bound by default.
"""

from incast.advise.apps.app import App, Throttle, at_once
from incast.advise.words import Words


def _limit(count: int) -> Words:
    return Words(
        "# mcrouter on the client's host; the bound is per thread, so divide it by --num-proxies\n"
        f"mcrouter --proxy-max-inflight-requests={count}  # and your other options",
        "Start mcrouter without the option; then there is no bound.",
    )


APP = App(
    "memcached",
    _limit,
    {
        "proxy-max-inflight-requests": Throttle(
            "requests that one thread has in flight, each to one cache", at_once
        )
    },
)
