"""memcached behind mcrouter: a web server asks many caches for the parts of a page.

Source: mcrouter's options: `proxy-max-inflight-requests` bounds the requests that each of its
threads routes in parallel; others wait. There is no bound by default.
"""

from incast.advise.apps.app import App, Throttle, at_once
from incast.advise.words import Words


def _limit(count: int) -> Words:
    return Words(
        "# mcrouter on the client's host; per thread: divide by --num-proxies\n"
        f"mcrouter --proxy-max-inflight-requests={count}  # and your other options",
        "Start mcrouter without the option: without it there is no bound.",
    )


APP = App(
    "memcached",
    _limit,
    {
        "proxy-max-inflight-requests": Throttle(
            "requests that a thread has in flight, each at a cache", at_once
        )
    },
)
