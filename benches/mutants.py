"""Mutation tests of one crate on a fixed sample; exits with 1 if less than 80 % are caught.

Needs cargo-mutants (`cargo install cargo-mutants --locked`).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SAMPLE = 200
BAR = 0.8
PACKAGE = "incast-tcp"
TESTED_BY = ("incast-tcp", "incast-script")


def main() -> int:
    """Run the sample and print its rate."""
    if shutil.which("cargo-mutants") is None:
        print("mutants: cargo-mutants is missing; cargo install cargo-mutants --locked")
        return 2
    command = ["cargo", "mutants", "-p", PACKAGE]
    listed = subprocess.run([*command, "--list"], check=True, capture_output=True, text=True)
    shards = max(1, round(len(listed.stdout.splitlines()) / SAMPLE))
    with tempfile.TemporaryDirectory() as folder:
        # Its exit code is non-zero whenever one mutant is missed; the rate decides here.
        subprocess.run(
            [
                *command,
                "--test-workspace=false",
                *(f"--test-package={package}" for package in TESTED_BY),
                f"--shard=0/{shards}",
                "--sharding=round-robin",
                "--minimum-test-timeout=10",
                f"--output={folder}",
            ],
            check=False,
        )
        out = Path(folder) / "mutants.out"
        counts = {
            name: len((out / f"{name}.txt").read_text().splitlines())
            for name in ("caught", "timeout", "missed")
        }
        missed = (out / "missed.txt").read_text()
    caught = counts["caught"] + counts["timeout"]
    rate = caught / (caught + counts["missed"])
    print(f"mutants of {PACKAGE}: {caught} of {caught + counts['missed']} caught, {rate:.0%}")
    print(missed, end="")
    return int(rate < BAR)


if __name__ == "__main__":
    sys.exit(main())
