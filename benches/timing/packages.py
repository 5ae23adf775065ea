"""The builds of the engine that are measured side by side, and the kept numbers of each.

`make bench` compiles them: the usual one is installed in `.venv`, the others lie in folders, as
they lie in the wheels.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
KEPT = Path(__file__).with_name("speed.json")
"""The numbers that README and `make demo` say; `make bench` writes them."""
PLAIN, GUIDED, DEMO = "release", "pgo", "demo"


@dataclass(frozen=True)
class Build:
    """A build of the engine.

    Parameters
    ----------
    name
        Name of the build, as it is kept.
    command
        The command that builds it.
    package
        The folder that holds its `incast`; None for the installed package.
    """

    name: str
    command: str
    package: Path | None = None

    def size(self) -> int:
        """Return the bytes of the extension."""
        package = self.package or ROOT / "python"
        return next((package / "incast").glob("_core*.so")).stat().st_size


def builds(folder: Path | None) -> list[Build]:
    """Return the builds to measure, the usual one first.

    Parameters
    ----------
    folder
        The folder with the other builds, one folder each. A build that is missing in this folder is
        not measured.
    """
    found = [Build(PLAIN, "make .venv/release")]
    for name, command in ((GUIDED, "make pgo"), (DEMO, "make demo")):
        if folder is not None and (folder / name / "incast").is_dir():
            found.append(Build(name, command, folder / name))
    return found


def keep(numbers: dict[str, Any]) -> None:
    """Add numbers to the kept ones."""
    KEPT.write_text(json.dumps(kept() | numbers, indent=1, sort_keys=True) + "\n")


def kept() -> dict[str, Any]:
    """Return the kept numbers."""
    found: dict[str, Any] = json.loads(KEPT.read_text())
    return found


def said(name: str) -> str:
    """Return the sentence with which `make demo` ends, about the build that has run."""
    times = kept()["time_of_builds"]
    if name == GUIDED:
        more = 100 * (times[DEMO] / times[GUIDED] - 1)
        return (
            f"The engine is that of `make pgo`; that of `make demo` takes {more:.0f} % more time."
        )
    less = 100 * (1 - times[GUIDED] / times[name])
    return (
        f"The engine is a `{name}` build; that of `make pgo`, which takes minutes to build, "
        f"needs {less:.0f} % less time."
    )


if __name__ == "__main__":
    print(said(sys.argv[1]))
