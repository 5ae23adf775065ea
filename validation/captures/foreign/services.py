"""Applications with pauses that only look like waits for the network.

Each function opens connections on a network that loses nothing, and starts applications on them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from validation.captures.foreign.end import End
    from validation.captures.foreign.hosts import Hosts
    from validation.captures.foreign.network import Process


@dataclass(frozen=True)
class Exchange:
    """A request, the time of the server's work, and an answer, which may pause in the middle."""

    request: int
    work: float
    answer: int
    pause: float = 0.0
    think: float = 0.0


def _client(exchanges: list[Exchange], close: bool = False) -> Callable[[End], Process]:
    def process(end: End) -> Process:
        yield end, 0
        total = 0
        for one in exchanges:
            yield one.think
            end.send(one.request)
            total += one.answer
            yield end, total
        if close:
            end.finish()

    return process


def _server(exchanges: list[Exchange]) -> Callable[[End], Process]:
    def process(end: End) -> Process:
        total = 0
        for one in exchanges:
            total += one.request
            yield end, total
            yield one.work
            if one.pause:
                end.send(one.answer // 2)
                yield one.pause
            end.send(one.answer - (one.answer // 2 if one.pause else 0))

    return process


def _talk(hosts: Hosts, server: int, port: int, exchanges: list[Exchange]) -> None:
    hosts.connect(server, port)
    hosts.run(_client(exchanges), _server(exchanges))


def late_rpc(hosts: Hosts) -> None:
    """Answers of one segment, 50 to 600 ms late; some of them carry the ACK of the request."""
    random = hosts.network.random
    one_host, most = random.random() < 0.5, 0.6
    if random.random() < 0.3:
        hosts.servers, most = replace(hosts.servers, quick_acks=0, delayed_ack=0.19), 0.18
    for number in range(random.randint(3, 12)):
        exchanges = [
            Exchange(
                random.randint(60, 400),
                random.uniform(0.05, most),
                random.randint(80, 1400),
                think=random.uniform(0, 0.01),
            )
            for _ in range(random.randint(2, 6))
        ]
        _talk(hosts, 0 if one_host else number, 80, exchanges)


def greeting(hosts: Hosts) -> None:
    """Servers that send first, after 50 to 300 ms, as with FTP and SMTP."""
    random = hosts.network.random
    late = random.uniform(0.05, 0.3)

    def server(end: End) -> Process:
        yield end, 0
        yield late + random.uniform(0, 0.01)
        end.send(random.randint(15, 90))
        yield end, 12
        yield random.uniform(0, 0.02)
        end.send(34)

    def client(end: End) -> Process:
        yield end, 15
        yield 0.001
        end.send(12)

    for _ in range(random.randint(4, 12)):
        hosts.connect(0, random.choice((21, 25)))
        hosts.run(client, server)


def paused(hosts: Hosts) -> None:
    """Answers that pause in the middle, as from a database or a page that is built in parts."""
    random = hosts.network.random
    for number in range(random.randint(1, 8)):
        exchanges = [
            Exchange(200, 0.001, random.randint(6000, 120000), pause=random.uniform(0.05, 0.8))
            for _ in range(random.randint(2, 4))
        ]
        _talk(hosts, number, 5432, exchanges)


def keep_alives(hosts: Hosts) -> None:
    """Idle connections with keep-alives, of one old byte or none."""
    random = hosts.network.random
    every, size = random.uniform(0.5, 5.0), random.choice((0, 1))

    def client(end: End) -> Process:
        yield end, 0
        for _ in range(3):
            end.send(300)
            yield end, 1
            for _ in range(random.randint(2, 5)):
                yield every
                end.keep_alive(size)
            yield every

    exchanges = [Exchange(300, 0.002, random.randint(500, 9000)) for _ in range(3)]
    for number in range(random.randint(3, 8)):
        hosts.connect(number % 3, 443)
        hosts.run(client, _server(exchanges))


def browser(hosts: Hosts) -> None:
    """Web pages: six connections to each of several hosts, objects of many sizes, think times."""
    random = hosts.network.random
    for number in range(random.randint(2, 4)):
        for _ in range(6):
            exchanges = [
                Exchange(
                    random.randint(300, 900),
                    random.choice((0.002, 0.03, random.uniform(0.05, 0.5))),
                    int(random.lognormvariate(8.5, 1.2)),
                    think=random.choice((0.0, 0.001, random.uniform(0.1, 2.0))),
                )
                for _ in range(random.randint(1, 4))
            ]
            _talk(hosts, number, 443, exchanges)


def transfers(hosts: Hosts) -> None:
    """FTP: a control connection, and a data connection for each file."""
    random = hosts.network.random

    def data(size: int) -> Callable[[End], Process]:
        def process(end: End) -> Process:
            yield end, 0
            end.send(size)
            end.finish()

        return process

    def idle(end: End) -> Process:
        yield end, 0

    def client(end: End) -> Process:
        yield end, 50
        for number in range(1, random.randint(3, 6)):
            end.send(16)
            yield end, 50 + 100 * number
            hosts.connect(0, 40000 + number)
            hosts.run(idle, data(random.randint(2000, 200_000)))
            yield random.uniform(0.05, 0.6)

    def server(end: End) -> Process:
        yield end, 0
        yield random.uniform(0.01, 0.2)
        end.send(50)
        for number in range(1, 6):
            yield end, 16 * number
            yield random.uniform(0.001, 0.1)
            end.send(100)

    hosts.connect(0, 21)
    hosts.run(client, server)


def multichannel(hosts: Hosts) -> None:
    """SMB: four connections to one server carry requests in turn, each after some work."""
    random = hosts.network.random
    for channel in range(4):
        exchanges = [Exchange(120, 1e-5, random.choice((4380, 5840))) for _ in range(6)]
        exchanges += [
            Exchange(
                120,
                0.02 + 0.025 * ((channel + number) % 4),
                random.randint(80, 4380),
                think=random.uniform(0, 0.02),
            )
            for number in range(random.randint(6, 12))
        ]
        _talk(hosts, 0, 445, exchanges)


def fan_out(hosts: Hosts) -> None:
    """RPCs to many services at once, each with an answer of one segment; some are late."""
    random = hosts.network.random
    rounds, late = random.randint(2, 5), random.uniform(0.05, 0.4)
    tempo = [random.uniform(0.2, 0.8) for _ in range(rounds)]
    for number in range(random.randint(9, 48)):
        exchanges = [
            Exchange(
                random.randint(80, 300),
                late if random.random() < 0.15 else random.uniform(2e-4, 3e-3),
                random.randint(100, 1300),
                think=think,
            )
            for think in tempo
        ]
        _talk(hosts, number, 9090, exchanges)


def long_poll(hosts: Hosts) -> None:
    """Requests that the server answers only when it has news."""
    random = hosts.network.random
    for number in range(random.randint(3, 10)):
        exchanges = [
            Exchange(400, random.expovariate(0.5) + 0.05, random.randint(100, 3000))
            for _ in range(random.randint(2, 4))
        ]
        _talk(hosts, number % 4, 443, exchanges)


def all_late(hosts: Hosts) -> None:
    """All servers answer with the same delay, about as long as a usual retransmission timer."""
    random = hosts.network.random
    late = random.choice((0.18, 0.2, 0.21, 0.3, 1.0))
    size = random.choice((1000, 8000, 30000))
    for number in range(random.randint(4, 16)):
        exchanges = [
            Exchange(150, late + random.uniform(0, 0.002), size)
            for _ in range(random.randint(2, 4))
        ]
        _talk(hosts, number, 8500, exchanges)


def nagle(hosts: Hosts) -> None:
    """Each request is two writes; the second write waits for a delayed ACK (Nagle's algorithm)."""
    random = hosts.network.random
    client = replace(hosts.client, nagle=True)
    server = replace(hosts.servers, quick_acks=0, delayed_ack=0.04)

    def writes(end: End) -> Process:
        yield end, 0
        for number in range(1, 8):
            end.send(200)
            yield 1e-4
            end.send(100)
            yield end, 500 * number
            yield random.uniform(0, 0.05)

    def answers(end: End) -> Process:
        for number in range(1, 8):
            yield end, 300 * number
            end.send(500)

    for number in range(random.randint(3, 8)):
        hosts.connect(number, 8080, server, client)
        hosts.run(writes, answers)


def reads(hosts: Hosts) -> None:
    """Parallel reads without any trouble."""
    random = hosts.network.random
    size, pause = random.choice((4000, 20000, 60000)), random.uniform(0.01, 0.5)
    for number in range(random.choice((1, 2, 4, 8, 16, 24))):
        exchanges = [Exchange(64, 2e-5, size, think=pause) for _ in range(random.randint(2, 4))]
        _talk(hosts, number, 8500, exchanges)
