"""The generated pages of the reference are up to date."""

import re
import sys
from pathlib import Path

import pytest

EXTENSIONS = Path(__file__).resolve().parents[2] / "docs" / "_ext"


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> dict[Path, str]:
    """Return every page as the present code generates it."""
    monkeypatch.syspath_prepend(str(EXTENSIONS))
    for name in ("reference", "figures"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    from reference import pages

    return pages()


def test_the_reference_is_up_to_date(written: dict[Path, str]) -> None:
    stale = [file.name for file, text in written.items() if file.read_text("utf-8") != text]
    assert stale == [], "run make reference"


def test_the_pages_can_be_read_where_they_lie(written: dict[Path, str]) -> None:
    texts = {file.stem: text for file, text in written.items()}
    reference = {"scenario", "names", "columns", "profiles", "models", "figures"}
    assert set(texts) == {"README", "first-collapse", *reference}
    for words in ("- **`rto_min`** (time; default `200ms`): Lower", "  - **`segments`** (number"):
        assert words in texts["scenario"]
    assert "### `plato`" in texts["names"]
    assert "| `goodput_bps` | bit/s | " in texts["columns"]
    assert "| `collapsed` |" in texts["columns"]


def test_the_first_page_shows_its_picture_wherever_it_is_shown() -> None:
    text = (EXTENSIONS.parents[1] / "README.md").read_text("utf-8")
    images = re.findall(r"!\[[^]]*\]\(([^)]*)\)|<img[^>]*src=\"([^\"]*)\"", text)
    assert not [image for image in images if not "".join(image).startswith("https://")]
    assert text.count("█") > 100


def test_each_rule_of_linux_is_pinned_by_a_script_or_a_test() -> None:
    root = EXTENSIONS.parents[1]
    page = (root / "docs" / "reference" / "profiles.md").read_text("utf-8")
    rows = page.split("| Pinned by |", 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    assert len(rows) > 30
    tests = {
        name
        for file in (root / "crates").glob("*/src/**/*.rs")
        for name in re.findall(r"^ *fn (\w+)\(\)", file.read_text("utf-8"), re.MULTILINE)
    }
    for row in rows:
        pins = re.findall(r"`([^`]+)`", row.split(" | ")[-1])
        assert pins, row
        for pin in pins:
            script = root / "crates" / "script" / "scripts" / f"{pin}.pkt"
            assert script.is_file() if "/" in pin else pin in tests, pin
