"""Refuses wheels whose extension is too large, or has debugging information or symbols.

python .ci/wheels.py FOLDER
"""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

MOST = 6_000_000
"""Largest size of the extension in bytes."""
UNSTRIPPED = (b"\0.symtab\0", b"\0.debug_info\0", b"\0.debug_line\0")
"""Names of sections that a stripped extension has not."""


def main() -> int:
    """Check every wheel in the folder, and print a line per problem."""
    folder = Path(sys.argv[1])
    wheels = sorted(folder.glob("*.whl"))
    found = [problem for wheel in wheels for problem in problems(wheel)]
    if not wheels:
        found = [f"{folder}: has no wheel"]
    for problem in found:
        print(problem, file=sys.stderr)
    return int(bool(found))


def problems(wheel: Path) -> Iterator[str]:
    """Return a line per problem of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        extensions = [name for name in archive.namelist() if name.endswith((".so", ".pyd"))]
        if not extensions:
            yield f"{wheel.name}: has no extension"
        for name in extensions:
            content = archive.read(name)
            if len(content) > MOST:
                size = f"{len(content) / 1e6:.1f} MB"
                yield f"{wheel.name}: {name} has {size}; at most {MOST / 1e6:g} MB are allowed"
            if any(section in content for section in UNSTRIPPED):
                yield f"{wheel.name}: {name} is not stripped"


if __name__ == "__main__":
    sys.exit(main())
