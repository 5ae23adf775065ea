"""The folders of the studies' data and of their pages."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "validation"
REFERENCE = ROOT / "validation" / "reference"
