"""gRPC: a client calls methods of many servers at a time.

Sources: gRPC's core (`grpc.max_concurrent_streams`: calls on one connection), grpc-go
(`WithInitialConnWindowSize`: bytes of a connection; values below 64 KiB are ignored) and grpc-java
(`flowControlWindow`). These settings bound one connection. No setting bounds the number of servers
that answer at a time, so the program must bound it.
"""

from incast.advise.apps.app import App, Bound, Throttle, nothing, window
from incast.advise.words import Words, python
from incast.scenario.resolved import Resolved

_LEAST_OF_GO = 65_535


def _limit(count: int) -> Words:
    return python(
        "import asyncio\n\n"
        f"limit = asyncio.Semaphore({count})  # one for all channels\n\n\n"
        "async def asked(method, request):  # e.g. asked(stub.Get, request)\n"
        "    async with limit:\n"
        "        return await method(request)"
    )


def _window_of_go(size: int, _: Resolved) -> Bound:
    return Bound(window=size) if size >= _LEAST_OF_GO else Bound()


APP = App(
    "grpc",
    _limit,
    {
        "WithInitialConnWindowSize": Throttle(
            "bytes in flight on one connection (Go)", _window_of_go
        ),
        "flowControlWindow": Throttle("bytes in flight for one call (Java)", window),
        "grpc.max_concurrent_streams": Throttle(
            "calls on one connection, not the number of servers that answer", nothing
        ),
    },
)
