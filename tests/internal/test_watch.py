"""Options for scripts and build servers: `--fail-if` with its exit code, and `--junit`."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

import incast
from conftest import Command, document
from incast import units
from incast.cli.console import Paper
from incast.cli.table import render
from incast.results import Results
from incast.results.conditions import judge, parse
from incast.results.verdict import sentences

# The answers of two servers fit into the buffer, those of thirty-two do not.
READ = ("--set", "workload.blocks=5", "--set", "workload.servers=[2,32]")


def test_a_condition_that_holds_is_exit_code_3(command: Command, sweep: Path) -> None:
    done = command("run", sweep, *READ, "--fail-if", "collapse")
    assert done.code == 3
    assert done.err == "incast: collapse: at 1 of 2 points, first servers = 32: collapsed\n"
    assert "servers" in done.out  # the table is printed nevertheless
    done = command("run", sweep, *READ, "--fail-if", "p99>100s", "--fail-if", "unfinished")
    assert (done.code, done.err) == (0, "")


def test_several_conditions_count_each(command: Command, sweep: Path) -> None:
    done = command(
        "run", sweep, *READ, "--fail-if", "p99>1us|goodput<1kbps", "--fail-if", "drops>=1"
    )
    assert done.code == 3
    told = done.err.splitlines()
    assert len(told) == 2
    assert told[0].startswith("incast: p99>1us: at 2 of 2 points, first servers = 2: ")
    assert told[0].endswith("s")
    assert told[1].startswith("incast: drops>=1: at 1 of 2 points, first servers = 32: drops is ")


def test_collapse_is_what_the_sentence_calls_so() -> None:
    results = incast.run(document(workload={"servers": 32, "blocks": 5}), jobs=1)
    (found,) = judge(parse(["collapse"]), results)
    (said,) = sentences(results.summary(), results.plan.swept, results.resolved)
    assert found.holds
    assert said.startswith("Collapsed at 32 servers")
    results = incast.run(document(workload={"servers": 2, "blocks": 5}), jobs=1)
    (found,) = judge(parse(["collapse"]), results)
    (said,) = sentences(results.summary(), results.plan.swept, results.resolved)
    assert not found.holds
    assert said.startswith("No collapse")


def test_a_point_without_a_finished_run_cannot_pass(command: Command, small: Path) -> None:
    ends = ("--set", "run.time_limit=100us")
    for condition in ("p99>5s", "collapse", "unfinished"):
        done = command("run", small, *ends, "--fail-if", condition)
        assert done.code == 3
        assert "2 of 2 time-limit" in done.err


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("p99", "must be collapse, unfinished, or a column"),
        ("p99=5ms", "must be collapse, unfinished, or a column"),
        ("", "must be collapse"),
        ("collapse|", "must be collapse"),
        ("p99>5", "5 is not a time; must be a number with a unit: ps, ns, us"),
        ("p99>5Mbps", "5Mbps is not a time"),
        ("goodput<50%", "50% is not a rate; must be a number with a unit: bps"),
        ("drops>5ms", "5ms is not a number; must be a number, with or without %"),
        ("colapse>1", "there is no column 'colapse'"),
        ("queue_max>5", "queue_max_packets or queue_max_bytes"),
    ],
)
def test_a_wrong_condition_is_one_line_before_the_run(
    command: Command, sweep: Path, condition: str, words: str
) -> None:
    done = command("run", sweep, "--out", sweep.parent / "out", "--fail-if", condition)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert words in done.err
    assert not (sweep.parent / "out").exists()


def test_units_of_conditions() -> None:
    assert units.quantity("5ms", "time") == pytest.approx(5e-3)
    assert units.quantity("1.5 Gbps", "rate") == 1.5e9
    assert units.quantity("64KiB", "size") == 65536
    assert units.quantity("50%", "number") == 0.5
    assert units.quantity("1e3", "number") == 1000


def test_a_report_has_a_case_per_point_and_condition(
    command: Command, sweep: Path, tmp_path: Path
) -> None:
    file = tmp_path / "report.xml"
    asked = ("--fail-if", "collapse", "--fail-if", "p99>100s", "--junit", file)
    done = command("run", sweep, *READ, *asked, "--set", 'title="<&\\u001b> ]]>"')
    assert done.code == 3
    suites = ElementTree.parse(file).getroot()
    (suite,) = suites
    for element in (suites, suite):
        counts = [element.get(name) for name in ("tests", "failures", "errors", "skipped")]
        assert counts == ["4", "1", "0", "0"]
    assert suite.get("name") == "<&\\x1b> ]]>"
    cases = suite.findall("testcase")
    assert [case.get("name") for case in cases] == [
        "servers = 2: not collapse",
        "servers = 2: not p99>100s",
        "servers = 32: not collapse",
        "servers = 32: not p99>100s",
    ]
    failed = [case.get("name") for case in cases if case.find("failure") is not None]
    assert failed == ["servers = 32: not collapse"]


def test_a_report_without_conditions_tells_which_points_ended(
    command: Command, small: Path, tmp_path: Path
) -> None:
    file = tmp_path / "report.xml"
    assert command("run", small, "--junit", file).code == 0
    (case,) = ElementTree.parse(file).getroot().iter("testcase")
    assert case.get("name") == "the only point"
    assert len(case) == 0
    assert command("run", small, "--junit", file, "--set", "run.time_limit=100us").code == 0
    (error,) = ElementTree.parse(file).getroot().iter("error")
    assert error.get("message") == "2 of 2 time-limit"


def test_a_report_that_cannot_be_written_is_found_before_the_run(
    command: Command, sweep: Path
) -> None:
    done = command("run", sweep, "--junit", sweep / "report.xml")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)


def test_groups_are_judged_by_what_they_have(command: Command, small: Path) -> None:
    small.write_text(small.read_text() + '[[background]]\nname = "cbr"\nrate = "10Mbps"\n')
    done = command("run", small, "--groups", "--fail-if", "collapse|goodput<11Mbps")
    assert done.code == 3
    assert "goodput<11Mbps: at 1 of 2 points, first background.0.cbr, the only point: " in done.err


def test_the_heading_after_an_interruption_says_what_was_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    done = incast.run(document(), jobs=1)
    more = incast.load(document(run={"seeds": 200})).plan
    render(Results(more, done.store), Paper())
    assert "; 2 of 200 runs (1 point × 200 seeds)\n" in capsys.readouterr().out
    render(done, Paper())
    assert "; 1 point × 2 seeds\n" in capsys.readouterr().out


def test_the_command_alone_prints_its_help(command: Command) -> None:
    done = command()
    assert (done.code, done.err) == (0, "")
    assert done.out == command("--help").out
