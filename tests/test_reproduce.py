"""`incast reproduce`: its output, its lists and its errors."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Command
from small_text import CLAIM, SWEEP


@pytest.mark.parametrize(
    ("change", "fragments"),
    [
        (
            lambda text: text.replace("kind =", "knid =", 1),
            ["1.toml", "knid", "did you mean kind?"],
        ),
        (lambda text: text.replace('"sweep"', '"swep"', 1), ["kind", "swep", "sweep"]),
        (lambda text: text.replace('label = "fine"', 'label = "plain"'), ["the same label"]),
        (lambda text: text.replace('series = "plain", at', 'series = "plian", at'), ["A", "plian"]),
        (lambda text: text.replace("goodput_mbps", "godput_mbps"), ["godput_mbps", "goodput_mbps"]),
        (lambda text: text.replace(", at = 32", ""), ["A", "left", "exactly one of at and reduce"]),
        (lambda text: text.replace("at = 32", 'at = 32, formula = "2"'), ["A", "one of series"]),
        (lambda text: text.replace('op = "<"', 'op = "!"'), ["A", "op", "'!'"]),
        (lambda text: text.replace('"200us"', '"200 furlongs"'), ["fine", "transport.rto_min"]),
        (
            lambda text: text.replace('"transport.rto_min"', '"transport.rto"'),
            ["fine", "transport.rto"],
        ),
        (lambda text: text.replace('[plot]\ny = "goodput_mbps"\n', ""), ["plot is missing"]),
        (lambda text: text.replace('cfg = "a"', 'cfg = "b"'), ["them.csv", "no row that meets"]),
        (lambda text: text + "[plot\n", ["not valid TOML"]),
        (
            lambda text: text.replace("set =", 'group = "set 1"\nset ='),
            ["fine: there is no group", "all"],
        ),
        (
            lambda text: text.replace("reference", 'measured = "plan"\nreference'),
            ["plain: measured", "did you mean plain?"],
        ),
        (lambda text: 'extends = "9"\n' + text, ["extends"]),
    ],
)
def test_a_wrong_figure_is_one_line(
    change: Callable[[str], str],
    fragments: list[str],
    papers: Path,
    tmp_path: Path,
    command: Command,
) -> None:
    (papers / "text" / "1.toml").write_text(change(SWEEP + CLAIM))
    outcome = command("reproduce", "--quick", "--papers", papers, "--out", tmp_path / "out")
    assert outcome.code == 2
    assert outcome.err.startswith("incast: ")
    assert outcome.err.count("\n") == 1
    assert [fragment for fragment in fragments if fragment not in outcome.err] == []


def test_the_command_leaves_a_gallery_and_the_verdicts(
    papers: Path, tmp_path: Path, command: Command
) -> None:
    (papers / "text" / "1.toml").write_text(SWEEP + CLAIM)
    out = tmp_path / "out"
    options = ("--quick", "--papers", papers, "--out", out)
    told = command("reproduce", *options, "--dry-run")
    assert told.out.startswith("1 figure, 12 runs: 12 to do, about ")
    assert not out.exists()
    told = command("reproduce", "text/1", *options)
    assert told.code == 0
    sentence = "1 claim: 1 hold, 0 fail, 0 impossible by arithmetic, 0 not judged"
    assert told.out.splitlines()[-1] == f"{sentence}; wrote {out / 'index.html'}"
    page = (out / "index.html").read_text()
    assert page.index(sentence) < page.index("<nav>")
    for part in (
        "data:image/png;base64,",
        "data:text/csv;base64,",
        "KB is 1024 bytes.",
        "It collapses.",
    ):
        assert part in page
    tree = json.loads((out / "claims.json").read_text())
    assert tree["counts"]["holds"] == 1
    assert tree["claims"][0]["id"] == "A"
    assert tree["claims"][0]["verdict"] == "holds"
    assert command("reproduce", *options, "--dry-run").out == "1 figure, 12 runs: 0 to do\n"
    (about,) = json.loads((out / "claims.json").read_text())["figures"]
    assert about == {"text": "text", "figure": "1", "runs": 12, "unfinished": 0, "picture": True}


def test_the_list_and_unknown_names(papers: Path, command: Command) -> None:
    (papers / "text" / "1.toml").write_text(SWEEP + CLAIM)
    listed = command("reproduce", "--list", "--papers", papers).out
    assert listed.splitlines()[0].split() == ["text/1", "Goodput"]
    assert "It collapses." in listed
    for name, fragment in (("txet", "did you mean text?"), ("text/2", "choose from 1")):
        outcome = command("reproduce", name, "--papers", papers)
        assert outcome.code == 2
        assert fragment in outcome.err
    outcome = command("reproduce", "--papers", papers / "text")
    assert outcome.code == 2
    assert "contains no texts" in outcome.err
