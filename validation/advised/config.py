"""The subcommands of a switch's `config` that advice uses: checkpoint, load and rollback.

As in SONiC, `load` merges fields into config_db.json, and `rollback` restores a checkpoint.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

DATABASE = Path("config_db.json")
_CHECKPOINT = ".cp.json"


def main(words: list[str]) -> None:
    """Execute a command line in the current folder."""
    match words:
        case ["checkpoint", name]:
            shutil.copy(DATABASE, f"{name}{_CHECKPOINT}")
        case ["list-checkpoints"]:
            print(json.dumps([one.name.removesuffix(_CHECKPOINT) for one in _checkpoints()]))
        case ["delete-checkpoint", name]:
            Path(f"{name}{_CHECKPOINT}").unlink()
        case ["rollback", name]:
            shutil.copy(f"{name}{_CHECKPOINT}", DATABASE)
        case ["load", "-y", file]:
            tables = json.loads(DATABASE.read_text())
            for table, rows in json.loads(Path(file).read_text()).items():
                for key, fields in rows.items():
                    tables.setdefault(table, {}).setdefault(key, {}).update(fields)
            DATABASE.write_text(json.dumps(tables, indent=4) + "\n")
        case _:
            raise SystemExit(f"config: {' '.join(words)}: unknown command")


def _checkpoints() -> list[Path]:
    return sorted(Path().glob(f"*{_CHECKPOINT}"))


if __name__ == "__main__":
    main(sys.argv[1:])
