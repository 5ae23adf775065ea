"""Scenarios: what is run, before anything is."""

from incast.scenario.document import Scenario, load

__all__ = ["Scenario", "load"]
