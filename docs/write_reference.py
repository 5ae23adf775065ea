"""Write the generated parts of README and of the documentation, as `make reference` does."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

from reference import pages


def main() -> None:
    """Write the pages that are out of date, and print their names."""
    for file, text in pages().items():
        if file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
            print(f"wrote {file.relative_to(Path.cwd())}")


if __name__ == "__main__":
    main()
