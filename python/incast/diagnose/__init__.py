"""What happened in a capture: stalls by cause, episodes of incast, and what resembles incast."""

from incast.diagnose.reading import Report, diagnose

__all__ = ["Report", "diagnose"]
