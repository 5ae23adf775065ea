"""The command-line options that all studies have."""

from __future__ import annotations

import argparse


def asked_quick(description: str) -> bool:
    """Return whether the command line asks for a sample (`--quick`), which writes no page."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a sample; writes no page")
    return bool(parser.parse_args().quick)
