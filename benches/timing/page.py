"""The page of results, `docs/performance.md`."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from pathlib import Path

from timing import bars
from timing.sheet import Sheet

TEXT = Path(__file__).with_name("performance.md")
"""The prose of the page, with placeholders for machine, tables and floors."""


def page(sheets: Sequence[Sheet]) -> str:
    """Return the page with its tables."""
    machine = f"{os.cpu_count()} processors ({_processor()}), Python {platform.python_version()}"
    tables = "\n".join(sheet.markdown() for sheet in sheets)
    floors = "".join(f"- {line}\n" for line in bars.lowered()) or "No bar has been lowered.\n"
    text = TEXT.read_text().replace("{machine}", machine).replace("{floors}\n", floors)
    return text.replace("{tables}\n", tables)


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
