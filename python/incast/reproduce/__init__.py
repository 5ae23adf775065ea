"""Figures of the literature: data in `papers/`, run, drawn and judged by the code here."""
