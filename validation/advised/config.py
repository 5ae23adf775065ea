"""`config` of a switch, as far as advice uses it: checkpoint, load and rollback of config_db.json.

As in SONiC, `load` merges fields into what is there, and `rollback` restores a checkpoint.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

DATABASE = Path("config_db.json")


def main(words: list[str]) -> None:
    """Do what the words say, in the current folder."""
    match words:
        case ["checkpoint", name]:
            shutil.copy(DATABASE, f"{name}.cp.json")
        case ["rollback", name]:
            shutil.copy(f"{name}.cp.json", DATABASE)
        case ["load", "-y", file]:
            tables = json.loads(DATABASE.read_text())
            for table, rows in json.loads(Path(file).read_text()).items():
                for key, fields in rows.items():
                    tables.setdefault(table, {}).setdefault(key, {}).update(fields)
            DATABASE.write_text(json.dumps(tables, indent=4) + "\n")
        case _:
            raise SystemExit(f"config: {' '.join(words)}: must be checkpoint, load -y or rollback")


if __name__ == "__main__":
    main(sys.argv[1:])
