"""Diagnosis of captures: stalls by cause, episodes of incast, and problems that resemble incast."""

from incast.diagnose.reading import Report, diagnose

__all__ = ["Report", "diagnose"]
