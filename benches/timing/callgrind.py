"""Counts of instructions by callgrind, which do not depend on other work of the machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).with_name("repeat.py")


def profile(
    document: dict[str, Any],
    repeats: int = 1,
    package: Path | None = None,
    options: Sequence[str] = (),
) -> tuple[str, float]:
    """Run a scenario under callgrind in a separate process.

    Parameters
    ----------
    document
        The scenario.
    repeats
        Number of runs of the scenario.
    package
        The folder of another build's `incast`; None for the installed package.
    options
        Further options of callgrind.

    Returns
    -------
    tuple[str, float]
        The output of callgrind, and the packet-hops of one run.
    """
    paths = [str(package)] if package else []
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.NamedTemporaryFile() as out:
        tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out.name}", *options]
        result = subprocess.run(
            [*tool, sys.executable, str(SCRIPT), json.dumps(document), str(repeats)],
            env=environment,
            capture_output=True,
            check=True,
            text=True,
        )
        return Path(out.name).read_text(), float(result.stdout)


def instructions(document: dict[str, Any]) -> float:
    """Return the instructions per packet-hop of a scenario, without Python's start and set-up."""
    totals = {}
    for repeats in (1, 3):
        written, hops = profile(document, repeats)
        totals[repeats] = next(
            float(line.split()[1]) for line in written.splitlines() if line.startswith("totals:")
        )
    return (totals[3] - totals[1]) / 2 / hops
