"""Lists: commands that prepare a page, commands that are not run, and output that may differ."""

import re

from validation.pages.blocks import Step

PREPARED = {
    "README.md": "incast run mine.toml --seeds 2 --out results/other >/dev/null\n"
    "incast run storage-read --set workload.servers=16 --seeds 1 --pcap client.pcap >/dev/null",
    "docs/how-to/sweep.md": "incast run scenarios/storage-read.toml --out reads >/dev/null",
    "docs/how-to/diagnose.md": "incast run storage-read --set workload.servers=16 --seeds 1 "
    "--pcap client.pcap >/dev/null",
}
"""For each page, a command that makes the files that it needs: captures, or earlier results."""

MINE = {"docs/how-to/advise.md", "docs/how-to/ask-theory.md", "docs/how-to/live.md"}
"""Pages whose `mine.toml` is the scenario of the README."""

READS = {"docs/how-to/sweep.md"}
"""Pages whose `reads.toml` is the shipped storage-read."""

CANNOT = [
    (r"^make ", "builds the project, which CI does"),
    (r"^\. \.venv/", "the package is already installed"),
    (r"^incast live|--with-live", "needs namespaces of its own; the study live runs it"),
    (r"^incast explore", "needs the built page, and serves until Ctrl-C: tests/internal"),
    (r"^incast fetch", "needs servers at these addresses: tests/test_fetch.py"),
    (r"^incast reproduce(?! --list| --dry-run)", "takes minutes: tests/test_reproduce.py"),
    (r"--executor tcp:", "needs a cluster: tests of the executor"),
    (r"s3://", "needs an object store: tests/test_remote.py"),
    (r"^(sbatch|kubectl) ", "needs a cluster: tests/test_templates.py"),
    (r"^(tcpdump|tshark|ss|ip) ", "needs another program, or root"),
    (r"^pip install", "needs a network"),
    (r"^python (benches|docs|-m validation)", "takes long; studies and benchmarks run it"),
    (r"diagnose client\.pcap$", "prints the result of another capture"),
    (r"--from config_db\.json --from ss\.txt", "needs the reader's own files"),
    (r"--app \w+ --throttle \w+=\w+ *$|^incast advise mine.toml --(app|out)", "as on advise-*"),
]
"""Patterns of commands that are not run, each with the reason."""

MASKS = [
    (r"about [0-9 minsh]+ on [0-9]+ processors?", "about TIME on N processors"),
    (r"http://127\.0\.0\.1:\d+/", "http://127.0.0.1:PORT/"),
]
"""Patterns of output that depends on the machine, and the text that replaces it in both outputs."""

GATE = ("docs/how-to/watch.md", "docs/reference/scenario.md", "docs/how-to/trace-one-block.md")
"""Pages that the tests run, because their commands take only seconds; the study runs all pages."""


def cause(step: Step) -> str | None:
    """Return the reason why a command cannot run here; None if it can."""
    bare = step.command.partition("  #")[0].strip()
    return next((why for pattern, why in CANNOT if re.search(pattern, bare)), None)


def codes(step: Step) -> set[int]:
    """Return the exit codes that a command may have according to its page."""
    if "--fail-if" in step.command:
        return {0, 3}
    return {2} if step.printed and step.printed[0].startswith("incast: ") else {0}
