"""Print, as JSON, faulty scenario files, each with the error message of the command line."""

import contextlib
import io
import json
import sys
import tempfile
from pathlib import Path

from incast.cli import main

FAULTS = {
    "no quotes": "[network]\nrate = 1Gbps\n",
    "no quotes, with a space": "[network]\nbuffer = 64 KiB\n",
    "a bare name": "[transport]\nname = dctcp  # newer\n",
    "a bare name in a list": '[transport]\nremedies = [plato, "ictcp"]\n',
    "a bare word in a table in braces": "[network]\nqueue = { name = red }\n",
    "no closing quote": '[network]\nrate = "1Gbps\ndelay = "25us"\n',
    "curly quotes": "[network]\nrate = “1Gbps”\n",
    "no equals sign": "[workload]\nservers 8\n",
    "a colon": "[workload]\nservers: 8\n",
    "two equals signs": "[workload]\nservers == 8\n",
    "no value": "[workload]\nservers =\n",
    "a key twice": "[workload]\nservers = 8\nservers = 9\n",
    "a table twice": "[workload]\nservers = 8\n[run]\n[workload]\n",
    "an unclosed table": "[workload\nservers = 8\n",
    "an unclosed list": "[run]\nseeds = [1, 2\n[workload]\n",
    "an unclosed table in braces": "workload = { servers = 8\nrun = 1\n",
    "a tab": "[workload]\n\tservers\t=\t8KiB\n",
    "a wrong date": "title = 2026-13-01\n",
    "a date": "[workload]\nservers = 2026-11-24\n",
    "a comma in a number": "[workload]\nservers = 1,000\n",
    "a leading zero": "[workload]\nservers = 08\n",
    "two keys in a line": "[workload]\nservers = 8 blocks = 2\n",
    "a comment with slashes": "// a read\n[workload]\nservers = 8\n",
    "True": "[transport]\necn = True\n",
    "a backslash": 'title = "C:\\scans"\n',
    "not a number": "[transport]\nrto_jitter = nan\n",
    "a large number": "[run]\nseeds = 99999999999999999999\n",
    "a whole number with a decimal point": "[workload]\nservers = 8.0\n",
    "too deep": "title = " + "[" * 70 + "]" * 70 + "\n",
    "an unknown key": "[workload]\nsevers = 8\n",
    "a wrong unit": '[network]\nrate = "1KiB"\n',
    "a key of another table": '[workload]\nrate = "1Gbps"\n',
}


def line(file: Path) -> str:
    """Return the error message of the command line, without the names of program and file."""
    said = io.StringIO()
    sys.argv = ["incast", "run", str(file)]
    with contextlib.redirect_stderr(said), contextlib.suppress(SystemExit):
        main()
    return said.getvalue().removeprefix(f"incast: {file}: ").rstrip("\n")


with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "wrong.toml"
    told = []
    for name, text in FAULTS.items():
        file.write_text(text, "utf-8")
        told.append({"name": name, "text": text, "line": line(file)})
print(json.dumps(told))
