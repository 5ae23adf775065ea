"""Scenarios, before any run."""

from incast.scenario.document import Scenario, load

__all__ = ["Scenario", "load"]
