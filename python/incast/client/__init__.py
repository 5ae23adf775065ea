"""A client that avoids incast on real networks.

    from incast.client import Governor, Plan

    governor = Governor(Plan.fixed(4))
    async with governor.slot():
        ...  # ask one server, read its answer

At most `slots` answers are under way, and their receive windows stay below a budget in sum, so
that what servers send at once fits into the buffer of the switch.
"""

from incast.client.governor import Governor, Slot
from incast.client.plan import SAFE_BUDGET, SLOTS, WINDOW, Plan, PlanError

__all__ = ["SAFE_BUDGET", "SLOTS", "WINDOW", "Governor", "Plan", "PlanError", "Slot"]
