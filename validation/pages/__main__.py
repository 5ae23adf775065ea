"""Run the commands of all pages, and compare their output with the printed output.

python -m validation.pages [--quick] [PAGE ...]
"""

import argparse
import sys
import tempfile
from pathlib import Path

from validation.pages import lists, play
from validation.pages.blocks import pages


def main() -> int:
    """Run the commands; return 1 if a command fails or its output differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the pages that the tests run, too")
    parser.add_argument("pages", nargs="*", help="these pages only, e.g. README.md")
    given = parser.parse_args()
    failed = False
    for name in given.pages or (lists.GATE if given.quick else pages()):
        with tempfile.TemporaryDirectory() as folder:
            wrong = play.page(name, Path(folder))
        failed |= bool(wrong)
        print(f"{'FAILS' if wrong else 'holds'}: {name}", flush=True)
        for line in wrong:
            print(line, flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
