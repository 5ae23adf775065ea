"""A star topology whose hosts and switch execute the commands that advice prints."""

from __future__ import annotations

import json
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import incast
from incast.advise.fixes import Who
from incast.advise.readers import sonic
from incast.live.backend import Kernel
from incast.live.star import Ends, Star, address
from validation.advised import config
from validation.advised.apps import Application
from validation.advised.hosts import STATE, Plain, Shell, database
from validation.advised.kinds import APPLICATION

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from incast.live.traffic import Reader
    from incast.scenario.plan import Point
    from incast.scenario.resolved import Resolved
    from validation.advised.predict import Prediction

_CONFIG = f'sudo() {{ "$@"; }}\nconfig() {{ {sys.executable} {Path(config.__file__)} "$@"; }}'
_PLACES = {Who.SERVERS: "servers", Who.CLIENT: "clients", Who.SWITCH: "switch"}
_EXAMPLES = {"CLIENT=192.0.2.1": f"CLIENT={address(0)}", "SERVER=192.0.2.1": f"SERVER={address(1)}"}


class Hosts(Kernel):
    """The kernel as a backend, which uses existing hosts.

    Parameters
    ----------
    star
        The hosts.
    code
        Code of the client; None for the client of `incast live`.
    """

    def __init__(self, star: Star, code: str | None) -> None:
        super().__init__()
        self.star, self.code = star, code

    def star_for(self, here: Resolved, pairs: Sequence[tuple[int, int]]) -> Star:  # noqa: ARG002
        """Return the hosts."""
        return self.star

    def client_for(
        self,
        here: Resolved,
        star: Star,
        pairs: Sequence[tuple[int, int]],
        seed: int,
        cancelled: Callable[[], bool],
    ) -> Reader:
        """Return the client."""
        if self.code is None:
            return super().client_for(here, star, pairs, seed, cancelled)
        return Application(here, star, seed, self.code)


class Testbed:
    """The hosts and the switch of a prediction.

    Parameters
    ----------
    one
        The prediction.
    """

    def __init__(self, one: Prediction) -> None:
        self.one = one
        self.is_code = one.kind in APPLICATION
        here = incast.load(one.document).plan.points[0].here
        self._stack = ExitStack()
        folder = self._stack.enter_context(tempfile.TemporaryDirectory())
        self.database = Path(folder) / config.DATABASE
        self.database.write_text(json.dumps(database(here), indent=4) + "\n")
        count = 1 + here.servers
        self.star = self._stack.enter_context(Star(count, Plain.of(here), Ends(0, range(1, count))))
        shells = [self._stack.enter_context(Shell(host)) for host in self.star.hosts]
        switch = self._stack.enter_context(Shell(prelude=_CONFIG, folder=Path(folder)))
        self.shells = {"clients": shells[:1], "servers": shells[1:], "switch": [switch]}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def apply(self) -> None:
        """Run the commands of the fix, each on its hosts or on the switch."""
        self._give(self.one.text)

    def roll_back(self) -> None:
        """Run the commands of the rollback."""
        self._give(self.one.rollback)

    def _give(self, words: str) -> None:
        if self.is_code:
            return
        for example, own in _EXAMPLES.items():
            words = words.replace(example, own)
        for places, part in _parts(words, _PLACES[Who(self.one.who)]):
            for place, shells in self.shells.items():
                if place in places:
                    for shell in shells:
                        shell.tell(part)

    def state(self) -> str:
        """Return the whole state that a fix may change."""
        told = [shell.tell(STATE) for shell in self.shells["clients"] + self.shells["servers"]]
        return "\n".join([*told, self.database.read_text()])

    def run(self, seed: int, *, applied: bool, blocks: int | None = None) -> dict[str, Any]:
        """Run the read with the present state of the switch; return the row."""
        code = self.one.text if self.is_code and applied else None
        kernel = Hosts(self.star, code)
        row: dict[str, Any] = kernel.run(
            self.point(blocks), seed, (), kernel.control(), lambda *_: None
        )["rows"][0]
        return row

    def point(self, blocks: int | None = None) -> Point:
        """Return the scenario with the buffer and the marking of the switch's configuration."""
        scenario = incast.load(self.one.document)
        if blocks is not None:
            scenario = scenario.override("workload.blocks", blocks)
        for key, value in sonic.read(self.database.read_text(), "config_db.json").changes.items():
            scenario = scenario.override(key, value)
        return scenario.plan.points[0]


def _parts(words: str, usual: str) -> list[tuple[str, str]]:
    """Split printed commands at lines `# on …`; return each place with its commands."""
    parts: list[tuple[str, list[str]]] = [(usual, [])]
    for line in words.splitlines():
        if line.startswith("# on "):
            parts.append((line, []))
        parts[-1][1].append(line)
    return [(places, "\n".join(lines)) for places, lines in parts if lines]
