"""Copy the output of `incast reproduce` to the gallery of the documentation.

Takes the folder of a full run of all figures, and replaces the pictures, the numbers and the
verdicts in docs/gallery.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path

from incast.reproduce import papers as texts
from incast.reproduce.pictures import FOLDER

ROOT = Path(__file__).resolve().parent.parent
GALLERY = ROOT / "docs" / "gallery"


def main() -> int:
    """Copy, unless something is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="--out of incast reproduce")
    folder = parser.parse_args().folder
    verdicts = json.loads((folder / "claims.json").read_text())
    papers = texts.load(ROOT / "papers")
    wanted = {one.name for one in texts.select(papers, [])}
    there = {f"{one['text']}/{one['figure']}" for one in verdicts["figures"]}
    if verdicts["quick"] or wanted - there:
        lost = ", ".join(sorted(wanted - there)) or "points and seeds: it was made with --quick"
        print(f"{folder}: lacks {lost}", file=sys.stderr)
        return 1
    for name in papers:
        shutil.rmtree(GALLERY / name, ignore_errors=True)
        shutil.copytree(folder / FOLDER / name, GALLERY / name)
    (GALLERY / "claims.json").write_text(json.dumps(verdicts, indent=1, ensure_ascii=False) + "\n")
    files = [file for file in GALLERY.rglob("*") if file.is_file()]
    print(f"kept {len(files)} files, {sum(file.stat().st_size for file in files) / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
