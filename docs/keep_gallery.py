"""Copy the output of `incast reproduce` to the gallery of the documentation.

Takes the folder of a full run. The pictures, numbers and verdicts of its figures replace those in
docs/gallery; files of figures that no longer exist are removed. From a run with clock noise
(`incast reproduce --set network.clock_noise=1us`), only the verdicts are kept, in noise.json.
Refuses a folder that would leave the gallery without one of its figures.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from incast.reproduce import papers as texts
from incast.reproduce.judge import Verdict
from incast.reproduce.pictures import FOLDER
from incast.reproduce.tally import together

ROOT = Path(__file__).resolve().parent.parent
GALLERY = ROOT / "docs" / "gallery"
NOISE = {"network.clock_noise": "1us"}


def main() -> int:
    """Copy the folder, unless the gallery would then lack a figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="--out of incast reproduce")
    folder = parser.parse_args().folder
    new = json.loads((folder / "claims.json").read_text())
    kept = GALLERY / ("noise.json" if new["set"] else "claims.json")
    old = json.loads(kept.read_text()) if kept.exists() else {"figures": [], "claims": []}
    order = [one.name for one in texts.select(texts.load(ROOT / "papers"), [])]
    merged = {**new, **{part: _merged(old, new, part, order) for part in ("figures", "claims")}}
    merged["counts"] = _counts(merged["claims"])
    merged["set"] = NOISE if new["set"] else {}
    if wrong := _wrong(new, merged, order):
        print(f"{folder}: {wrong}", file=sys.stderr)
        return 1
    if not new["set"]:
        for one in new["figures"]:
            _copy(folder, one["text"], one["figure"])
        _sweep({_name(one) for one in merged["figures"] if one["picture"]})
    kept.write_text(json.dumps(merged, indent=1, ensure_ascii=False) + "\n")
    files = [file for file in GALLERY.rglob("*") if file.is_file()]
    print(f"kept {len(files)} files, {sum(file.stat().st_size for file in files) / 1e6:.1f} MB")
    return 0


def _wrong(new: dict[str, Any], merged: dict[str, Any], order: list[str]) -> str:
    if new["quick"]:
        return "lacks points and seeds: it was made with --quick"
    changes = {key: value for key, value in new["set"].items() if key != "run.seeds"}
    if changes != merged["set"]:
        return f"was made with --set {new['set']}; must be {NOISE}, and run.seeds at most"
    lost = sorted(set(order) - {_name(one) for one in merged["figures"]})
    return f"lacks {', '.join(lost)}" if lost else ""


def _name(one: dict[str, Any]) -> str:
    return f"{one['text']}/{one['figure']}"


def _merged(
    old: dict[str, Any], new: dict[str, Any], part: str, order: list[str]
) -> list[dict[str, Any]]:
    """Return the figures or claims of the old and the new run, in the order of the texts."""
    made = {_name(one) for one in new["figures"]}
    every = [one for one in old[part] if _name(one) not in made] + new[part]
    known = [one for one in every if _name(one) in order]
    return sorted(known, key=lambda one: order.index(_name(one)))


def _counts(claims: list[dict[str, Any]]) -> dict[str, int]:
    """Return the number of claims of each verdict; readings of one claim count as one claim."""
    verdicts = {(one["text"], one["id"]): Verdict(one["verdict"]) for one in claims}
    readings = {
        (one["text"], one["id"]): (one["text"], one["reading_of"])
        for one in claims
        if one["reading_of"]
    }
    found = Counter(together(verdicts, readings).values())
    return {str(verdict): found[verdict] for verdict in Verdict}


def _copy(folder: Path, text: str, figure: str) -> None:
    for suffix in (".png", ".csv"):
        made = folder / FOLDER / text / f"{figure}{suffix}"
        if made.is_file():
            shutil.copyfile(made, GALLERY / text / made.name)


def _sweep(drawn: set[str]) -> None:
    """Remove the pictures and numbers of figures that no longer exist."""
    for file in GALLERY.glob("*/*"):
        if file.suffix in {".png", ".csv"} and f"{file.parent.name}/{file.stem}" not in drawn:
            file.unlink()


if __name__ == "__main__":
    sys.exit(main())
