"""Where the studies find their data, and where they write their pages."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "validation"
REFERENCE = ROOT / "validation" / "reference"
