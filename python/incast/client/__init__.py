"""A client that avoids incast on real networks.

    from incast.client import Governor, Plan

    governor = Governor(Plan.fixed(4))
    async with governor.slot():
        ...  # ask one server, read its answer

At most `slots` answers are in flight, and the sum of their receive windows is limited. The data
that servers send at once therefore fit into the buffer of the switch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from incast.client.governor import Governor, Slot
from incast.client.learner import Learner
from incast.client.piece import Outcome, ReadError
from incast.client.plan import SAFE_BUDGET, SLOTS, WINDOW, Plan, PlanError
from incast.client.read import Progress, read
from incast.client.sample import Sample
from incast.client.summary import Summary
from incast.client.tcp import TcpPiece, TcpReader

if TYPE_CHECKING:
    from incast.client.http import HttpReader
    from incast.client.request import HttpPiece

__all__ = [
    "SAFE_BUDGET",
    "SLOTS",
    "WINDOW",
    "Governor",
    "HttpPiece",
    "HttpReader",
    "Learner",
    "Outcome",
    "Plan",
    "PlanError",
    "Progress",
    "ReadError",
    "Sample",
    "Slot",
    "Summary",
    "TcpPiece",
    "TcpReader",
    "read",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 (the module's attributes have no common type)
    if name not in {"HttpPiece", "HttpReader"}:
        raise AttributeError(f"module 'incast.client' has no attribute {name!r}")
    try:
        return getattr(import_module("incast.client.http"), name)
    except ModuleNotFoundError as error:
        if error.name != "aiohttp":
            raise
        raise ModuleNotFoundError(
            f"{name} needs a package that is not installed; pip install 'incast[client]'",
            name="aiohttp",
        ) from None
