"""Numbers and sentences of the command line, by value."""

from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
import typer

from conftest import Command
from incast import units
from incast.cli import advised, fetched, mistakes, names
from incast.cli.complete import columns as offered
from incast.cli.console import Paper
from incast.cli.watch import Watch
from incast.client import Outcome, Plan, Summary
from incast.client.sample import Sample
from incast.errors import FetchError
from incast.results.compare import Compared, Finding
from incast.scenario.plain import as_json
from incast.sweep.status import PointStatus, Status

# The package has the commands by the names of their modules.
compare, describe, explaining, fetching, status = (
    import_module(f"incast.cli.{name}")
    for name in ("compare", "describe", "explain", "fetch", "status")
)

# `incast fetch`.


@pytest.mark.parametrize(
    ("options", "limits"),
    [
        ([], (60.0, None, None, 2)),
        (["--timeout", "500ms"], (0.5, None, None, 2)),
        (["--total", "10s"], (60.0, 10.0, None, 2)),
        (["--most", "2KiB"], (60.0, None, 2048, 2)),
        (["--most", "1B"], (60.0, None, 1, 2)),
        (["--retries", "0"], (60.0, None, None, 0)),
    ],
)
def test_limits_of_a_read_are_those_of_the_options(
    command: Command, monkeypatch: pytest.MonkeyPatch, options: list[str], limits: tuple[Any, ...]
) -> None:
    pytest.importorskip("aiohttp")
    seen: list[Any] = []

    def run(pieces: list[Any], plan: Plan, limit: object, target: object) -> None:
        seen.append(limit)
        raise FetchError(f"{len(pieces)} pieces; {plan.slots} slots")

    monkeypatch.setattr(fetching, "_run", run)
    told = command("fetch", "http://h/a", "http://h/b", *options)
    assert told.err == "incast: 2 pieces; 4 slots\n"
    assert seen == [fetching._Limits(*limits)]


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        (None, (0, None)), ("0-0", (0, 1)), ("5-", (5, None)), ("100-299", (100, 300)),
        ("7-7", (7, 8)), ("7-6", None), ("-5", None), ("1-2-3", None), ("9" * 19 + "-", None),
        ("9" * 18 + "-", (10**18 - 1, None)),
    ],
)  # fmt: skip
def test_a_range_ends_with_its_last_byte(
    text: str | None, bounds: tuple[int, int | None] | None
) -> None:
    if bounds is None:
        with pytest.raises(typer.BadParameter, match="is not a range"):
            fetching._bounds(text)
    else:
        assert fetching._bounds(text) == bounds


@pytest.mark.parametrize(
    ("slots", "window", "budget", "plan"),
    [
        (None, None, None, Plan.fixed(4, 5792)),
        (3, None, None, Plan.fixed(3, 5792)),
        (3, None, "100KB", Plan.fixed(3, 33_333, 100_000)),
        (None, None, "64KiB", Plan.fixed(4, 16_384, 65_536)),
        (None, "8KiB", "64KiB", Plan.fixed(4, 8192, 65_536)),
        (2, "none", None, Plan.fixed(2, None)),
    ],
)
def test_a_plan_is_that_of_the_options(
    slots: int | None, window: str | None, budget: str | None, plan: Plan
) -> None:
    assert fetching._plan(slots, window, budget) == plan


def outcome(name: str, error: str | None, sample: Sample | None) -> Outcome:
    return Outcome(name, error, 2, 0.25, sample, 5000, None)


READ = outcome("http://h/a", None, Sample(4000, 0.5, 0.3, 7))
CUT = outcome("http://h/b", "the answer ended early", Sample(1000, 0.125, 0.01))
NONE = outcome("http://h/c", "no answer", None)


def test_a_piece_is_a_row_in_si_units() -> None:
    assert fetched._row(READ) == {
        "url": "http://h/a", "error": None, "bytes": 4000, "seconds": 0.5, "goodput_bps": 64_000,
        "waited_s": 0.25, "longest_gap_s": 0.3, "out_of_order_packets": 7, "attempts": 2,
        "window_bytes": 5000,
    }  # fmt: skip
    assert (fetched._row(CUT)["goodput_bps"], fetched._row(CUT)["bytes"]) == (None, 1000)
    none = fetched._row(NONE)
    assert (none["bytes"], none["seconds"], none["longest_gap_s"]) == (0, None, None)


def test_a_read_is_one_sentence() -> None:
    whole = fetched._sentence(Summary((READ, CUT, NONE), 2.0), Plan.fixed(4, 5792))
    assert whole.replace(units.NONE, "-") == (
        "1 of 3 pieces, 4 KB in 2 s: 16 kbps; slowest http://h/a, 500 ms; 1 stall; at most 4 "
        "answers at a time with windows of 5\N{NARROW NO-BREAK SPACE}792 B."
    )
    none = fetched._sentence(Summary((NONE,), 2.0), Plan.fixed(1, None))
    assert none == "0 of 1 piece, 0 B in 2 s: 0 bps; no stalls; at most 1 answer at a time."
    assert fetched._total(Summary((READ, CUT, NONE), 2.0), Plan.fixed(4, 5792)) == {
        "pieces": 3, "failed": 2, "bytes": 4000, "seconds": 2.0, "goodput_bps": 16_000,
        "stalls": 1, "slowest": "http://h/a", "slots": 4, "window_bytes": 5792,
        "budget_bytes": 23_168,
    }  # fmt: skip


# Results.


@pytest.mark.parametrize(
    ("seeds", "text"),
    [
        ([1], "1"),
        ([1, 2, 3, 4, 5], "1, 2, 3, 4, 5"),
        ([1, 2, 3, 4, 5, 6], "1 to 6"),
        ([1, 2, 3, 4, 5, 7], "1, 2, 3, 4, 5, 7"),
        ([3, 4, 5, 6, 7, 8, 9], "3 to 9"),
    ],
)
def test_many_seeds_are_a_range(seeds: list[int], text: str) -> None:
    assert describe._seeds(seeds) == text


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("", ""),
        ("1", "1"),
        ("1, 3, 5 to 6", "1, 3, 5 to 6"),
        ("1, 3, 5, 7", "1, 3, 5, …"),
        ("1, 3, 5, 7, 9", "1, 3, 5, …"),
    ],
)
def test_of_many_ranges_three_are_shown(text: str, short: str) -> None:
    assert status._short(text) == short


def state(points: int, missing: list[int], *, measured: bool = True) -> Status:
    each = [PointStatus({"n": at}, 1, missing, 30.0, measured) for at in range(points)]
    return Status("Mine", "interrupted", 3, each, 2, 90.0, 1)


def printed(told: Status, capsys: pytest.CaptureFixture[str]) -> list[str]:
    status._print(told)
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


def test_a_state_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(state(2, [2, 3]), capsys)
    done = "done      2 of 6 runs (33\xa0%): 2 points, 3 seeds; in 1 file, 1 min 30 s of processor"
    assert lines[:4] == [
        "Mine",
        f"{done} time",
        "missing   4 runs, about 1 min 00 s on 2 processors",
        "state     interrupted",
    ]
    assert not any(line.startswith(("…", "~")) for line in lines)
    assert printed(state(1, []), capsys)[-1] == "missing   nothing"
    many = printed(state(41, [2], measured=False), capsys)
    assert many[-2].startswith("… and 1 more point; --format json lists all.")
    assert many[-1].startswith("~: estimated from the expected packets")
    assert not any(line.startswith("…") for line in printed(state(40, [2]), capsys))


def compared(n: int, finding: Finding, seeds: int = 3) -> Compared:
    return Compared({"n": n}, seeds, 2.0, 3.0, 1.0, None, None, finding)


def test_points_are_named_by_what_was_found() -> None:
    better = [compared(n, Finding.BETTER) for n in range(12)]
    rest = [compared(30, Finding.UNKNOWN, 2), compared(31, Finding.UNKNOWN, 5)]
    told = compare._sentences([*rest, *better, compared(40, Finding.WORSE)])
    names_of = "; ".join(f"n = {n}" for n in range(12))
    assert told == [
        f"B is better at {names_of}.",
        "B is worse at n = 40.",
        "Cannot tell at n = 30; n = 31 (with 2 seeds; --seeds runs more).",
    ]
    more = compare._sentences([compared(n, Finding.SAME) for n in range(14)])
    assert more == [f"B is the same, seed by seed, at {names_of} and 2 more."]


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("timeouts", 12.0, "12"), ("timeouts", 0.5, "0.500"), ("timeouts", 1234.56, "1230"),
        ("completion_s", 0.25, "250 ms"), ("completion_s", None, units.NONE),
        ("timeouts", None, units.NONE),
    ],
)  # fmt: skip
def test_a_quantity_is_written_with_its_unit(name: str, value: float | None, text: str) -> None:
    assert compare._written(name, [])[1](value) == text


def test_a_key_breaks_after_its_first_table(capsys: pytest.CaptureFixture[str]) -> None:
    swept = {"background.0.rate": "1Gbps", "background.0.path.rate": "2Gbps"}
    one = replace(compared(1, Finding.SAME), swept=swept)
    compare._table(paper(None), "timeouts", [one])
    heads = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert heads[0][:2] == ["background.", "background."]
    assert heads[1][:2] == ["0.rate", "0.path.rate"]


def test_a_condition_that_holds_is_told_with_its_first_point() -> None:
    condition: Any = SimpleNamespace(text="goodput<1Mbps")
    findings: Any = [
        SimpleNamespace(condition=condition, holds=holds, where=f"n = {n}", told=f"{n} kbps")
        for n, holds in enumerate([False, True, True])
    ]
    assert (
        Watch._told(condition, findings) == "goodput<1Mbps: at 2 of 3 points, first n = 1: 1 kbps"
    )
    assert Watch._told(condition, findings[1:2]) == "goodput<1Mbps: at n = 1: 1 kbps"
    assert Watch._told(condition, findings[:1]) == ""


# `incast advise`.


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ("json", '{"n": 1}\n'),
        ("html", "page of 1\n"),
        ("table", "lines of 1\n"),
    ],
)
def test_advice_is_written_in_the_form_that_is_asked_for(
    command: Command, monkeypatch: pytest.MonkeyPatch, form: str, told: str
) -> None:
    advice = SimpleNamespace(to_dict=lambda: {"n": 1})
    monkeypatch.setattr("incast.advise.advise_each", lambda *_, **__: [("", advice)])
    monkeypatch.setattr("incast.advise.page.page", lambda each: f"page of {len(each)}\n")
    monkeypatch.setattr(
        advised, "render", lambda it, paper: paper.print(f"lines of {it.to_dict()['n']}")
    )
    answer = command("advise", "storage-read", "--format", form)
    assert (answer.code, answer.out) == (0, told)


# What people read.


def paper(room: int | None) -> Paper:
    made = Paper()
    made.room = room
    return made


@pytest.mark.parametrize(
    ("room", "lines"),
    [
        (None, ["  name      " + "word " * 9 + "word"]),
        # 36 columns leave 24 beside the name.
        (36, ["  name      word word word word word", "            word word word word word"]),
        (35, ["  name", "      word word word word word word", "      word word word word"]),
    ],
)  # fmt: skip
def test_a_text_stands_beside_its_name_if_there_is_room(
    room: int | None, lines: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    paper(room).entry("  name      ", "word " * 9 + "word")
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == lines


def test_columns_of_a_list_are_two_apart(capsys: pytest.CaptureFixture[str]) -> None:
    paper(None).listing([("a", "long", "text"), ("name", "b", "more")])
    assert capsys.readouterr().out.splitlines() == ["a     long  text", "name  b     more"]


@pytest.mark.parametrize("more", [0, 1])
def test_the_middle_of_a_long_message_is_left_out(more: int) -> None:
    longest = mistakes._LONGEST
    text = "a" * (longest // 2) + "b" * (longest - longest // 2 + more)
    short = mistakes._short(text)
    if not more:
        assert short == text
        return
    assert short == f"{text[: longest * 3 // 4]} … {text[-(longest // 4) :]}"


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ("transport.rto_mim", "; did you mean 'transport.rto_min'?"),
        ("nim_rto", "rto_min"),
        ("xyzzy_quux", "; incast explain lists the tables, and incast list lists the parts"),
    ],
)
def test_a_name_that_is_similar_is_suggested(asked: str, hint: str) -> None:
    assert hint in explaining._hint(asked)


def test_every_kind_of_name_is_listed() -> None:
    assert len(names.KINDS) == 18
    for kind in names.KINDS:
        assert names.entries(kind), kind
        assert {"name", "summary", "parameters"} <= set(names.entries(kind)[0])
    assert offered("goodput_bps,time")[0].startswith("goodput_bps,time")
    assert offered("goodput_b")[0] == "goodput_bps"
    assert {name[:9] for name in offered("goodput_b")} == {"goodput_b"}


def test_reasons_name_eight_fixes(capsys: pytest.CaptureFixture[str]) -> None:
    for count, end in ((8, "f7"), (9, "f7 and 1 more")):
        tried = [
            SimpleNamespace(why=why, fix=SimpleNamespace(name=f"f{n}"), ratio=None, late=None)
            for n in range(count)
            for why in ("slower", "less than “a”")
        ]
        advice: Any = SimpleNamespace(
            found=SimpleNamespace(tried=tried), goal=SimpleNamespace(label="p99")
        )
        advised._tried(advice, paper(None))
        lines = capsys.readouterr().out.splitlines()
        assert lines[1] == "Tried, but not advised"
        assert lines[2:] == [f"slower: {', '.join(f'f{n}' for n in range(7))}, {end}"]


# Documents.


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        (2**64 - 1, True), (2**64, False), (-(2**63), True), (-(2**63) - 1, False), (True, True),
        (1.5, True), (float("inf"), False), (float("nan"), False), ("\ud800", False),
    ],
)  # fmt: skip
def test_a_number_has_64_bits(value: object, fits: bool) -> None:
    if fits:
        assert as_json({"a": value}).startswith('{"a": ')
        return
    with pytest.raises(Exception, match=r"^a: ") as error:
        as_json({"a": value})
    if value == 2**64:
        assert str(error.value) == (
            "a: a number of about 20 digits is too large; write at most 18446744073709551615"
        )


@pytest.mark.parametrize("lists", [True, False])
@pytest.mark.parametrize(("depth", "fits"), [(64, True), (65, False)])
def test_tables_are_64_deep(lists: bool, depth: int, fits: bool) -> None:
    tree: Any = 1
    for _ in range(depth):
        tree = [tree] if lists else {"a": tree}
    if fits:
        assert as_json(tree)
        return
    with pytest.raises(Exception, match="tables or lists are nested too deeply"):
        as_json(tree)
