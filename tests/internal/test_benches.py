"""What `make bench` reads: the output of a program of htsim, and that of callgrind."""

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
OUTPUT = {"hops": "400", "events": "801", "goodput": "9.5e8", "timeouts": "0", "seconds": "2e-5"}


@pytest.fixture(autouse=True)
def benches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benches"))


def printed(**changes: str) -> str:
    lines = OUTPUT | changes
    return "".join(f"{name} {value}\n" for name, value in lines.items() if value != "none")


def test_the_output_of_htsim_is_read() -> None:
    from timing import htsim  # type: ignore[import-not-found]

    output = htsim.read("Setting up\n" + printed() + "hop 3\n")
    assert (output.hops, output.events, output.goodput, output.timeouts) == (400, 801, 9.5e8, 0)
    assert output.nanoseconds == pytest.approx(50)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "must have the lines hops, events, goodput, timeouts, seconds; missing: hops"),
        (printed(events="none"), "missing: events"),
        (printed(hops="many"), "hops: must be a number, not 'many'"),
        (printed(seconds=""), "seconds: must be a number, not ''"),
        (printed(seconds="0"), "seconds: must be above 0, not 0"),
        (printed(hops="nan"), "hops: must be above 0, not nan"),
        (printed(goodput="inf"), "goodput: must be at least 0, not inf"),
        (printed(timeouts="-1"), "timeouts: must be at least 0, not -1"),
        (printed() + "hops 3\n", "hops: must be printed once"),
    ],
)
def test_a_wrong_output_of_htsim_is_a_line(text: str, said: str) -> None:
    from timing import htsim

    with pytest.raises(htsim.HtsimError) as caught:
        htsim.read(text)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("exit 3", "exit code 3, with 2 100000 100 10 1"),
        ("true", "missing: hops"),
        (None, "cannot run: No such file or directory"),
    ],
)
def test_a_wrong_program_is_refused_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str | None, said: str
) -> None:
    from timing import htsim

    file = tmp_path / "program"
    if script is not None:
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)
    monkeypatch.setenv("HTSIM", str(file))
    with pytest.raises(SystemExit) as caught:
        htsim.program()
    text = str(caught.value)
    assert text.startswith(f"speed: HTSIM={file}: ")
    assert text.endswith(said)
    assert "\n" not in text


def test_without_a_program_of_htsim_nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    from timing import htsim

    monkeypatch.delenv("HTSIM", raising=False)
    assert htsim.program() is None
    made = htsim.sheet([], None)
    assert made.rows == made.missed == []
    assert "|" not in made.markdown()


def test_a_program_of_htsim_gets_the_numbers_of_our_scenario(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from timing import htsim

    file = tmp_path / "program"
    lines = "".join(f"echo {line}\n" for line in printed().splitlines())
    file.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/words\n{lines}')
    file.chmod(0o755)
    monkeypatch.setenv("HTSIM", str(file))
    assert htsim.program() == str(file)
    workload = htsim.WORKLOADS[-1]
    htsim.run(str(file), workload)
    assert (tmp_path / "words").read_text().split() == ["432", "1000000", "128", "1000", "1"]
    ours = workload.document()
    assert ours["network"]["buffer"] == "128pkt"
    assert (ours["workload"]["servers"], ours["workload"]["sru"]) == (432, "1000000B")
    assert ours["transport"]["receive_window"] == "1000pkt"


CALLGRIND = """# callgrind format
positions: instr line
events: Ir

ob=(1) /usr/bin/python3
fl=(1) /build/Python/ceval.c
fn=(1) eval
0x1000 10 500
ob=(2) /lib/incast/_core.abi3.so
fl=(2) {root}/crates/lab/src/world.rs
fn=(2) run
0x2000 12 40
+4 +1 40
fi=(3) {root}/crates/engine/src/event_queue/mod.rs
+4 {pop} 70
+4 +1 60
fi=(4) /rustc/59/library/alloc/src/collections/vec_deque/mod.rs
* 5 30
fi=(8) /rustc/59/library/core/src/cmp.rs
* 5 2
fe=(2)
+4 14 9
cob=(3) /lib/x86_64-linux-gnu/libc.so.6
cfi=(5) ???
cfn=(3) malloc
calls=7 0x3000 0
* 14 10000
* 15 1
fi=(6) /home/me/.cargo/registry/src/index-0/rand_pcg-0.10.1/src/pcg64.rs
+4 3 6

ob=(3)
fl=(5)
fn=(3)
0x3000 0 11
ob=(4) /usr/lib/python3/numpy/core.so
fl=(7) /build/numpy/crates.c
fn=(4) add
0x4000 1 13

totals: 792
"""


def profile() -> list[str]:
    source = ROOT / "crates" / "engine" / "src" / "event_queue" / "mod.rs"
    rows = source.read_text().splitlines()
    pop = next(row for row, text in enumerate(rows, 1) if text.startswith("    pub fn pop("))
    return CALLGRIND.format(root=ROOT, pop=pop).splitlines()


def test_instructions_belong_to_the_file_in_which_they_were_written() -> None:
    from timing import callgrind

    parts, events = callgrind.summed(callgrind.lines(profile()))
    assert parts == {
        "lab": 40 + 40 + 9 + 1,
        "engine": 70 + 60,
        "Rust's rings": 30,
        "Rust's other code": 2,
        "rand_pcg": 6,
        "C library": 11,
        "": 500 + 13,
    }
    assert events == 70


def test_instructions_are_counted_from_the_first_run_on(monkeypatch: pytest.MonkeyPatch) -> None:
    from timing import callgrind

    once, thrice = profile(), profile()
    for row, before, after in ((11, "40", "140"), (-1, "792", "992")):
        assert before in thrice[row]
        thrice[row] = thrice[row].replace(before, after)
    runs: Any = {1: once, 3: thrice}
    monkeypatch.setattr(
        callgrind, "profile", lambda _, repeats, **__: ("\n".join(runs[repeats]), 10.0)
    )
    spent = callgrind.spent({"a": "scenario"})
    assert (spent.hops, spent.instructions, spent.events) == (10, 100, 0)
    assert spent.parts["lab"] == 50
    assert callgrind.instructions({"a": "scenario"}) == 10


def test_a_lowered_bar_says_what_was_wanted_and_why(monkeypatch: pytest.MonkeyPatch) -> None:
    from timing import bars, page

    monkeypatch.setattr(bars, "CASES", {"a": bars.Pair(bars.Bar(0.65, 0.6, "a, b and c."))})
    assert bars.CASES["a"].of(guided=True).now == 0.6
    line = "case a: 0.65 was wanted, and 0.6 is the floor: a, b and c."
    assert [it for it in bars.lowered() if it.startswith("case")] == [line]
    text = page.page([])
    assert f"- {line}\n" in text
    assert "{" not in text


def test_the_demo_says_which_build_ran_and_how_much_faster_the_other_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from timing import packages

    times = {"release": 1.0, "pgo": 0.75, "demo": 1.5}
    monkeypatch.setattr(packages, "kept", lambda: {"time_of_builds": times})
    assert "`demo` build" in packages.said("demo")
    assert "50 % less time" in packages.said("demo")
    assert "25 % less time" in packages.said("release")
    assert "takes 100 % more time" in packages.said("pgo")


@pytest.mark.parametrize(
    ("size", "content", "said"),
    [
        (6_000_000, b"", ""),
        (6_100_000, b"", "a.whl: incast/_core.so has 6.1 MB; at most 6 MB are allowed\n"),
        (1_000, b"\0.symtab\0.strtab\0", "a.whl: incast/_core.so is not stripped\n"),
        (0, b"", "a.whl: has no extension\n"),
    ],
)
def test_a_wheel_is_small_and_stripped(
    tmp_path: Path, size: int, content: bytes, said: str
) -> None:
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as archive:
        archive.writestr("incast/__init__.py", "")
        if size:
            archive.writestr("incast/_core.so", content + bytes(size - len(content)))
    command = [sys.executable, str(ROOT / ".ci" / "wheels.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (int(bool(said)), "", said)


def test_make_wheel_checks_what_it_made() -> None:
    text = (ROOT / "Makefile").read_text()
    recipe = text.split("\nwheel:", 1)[1].split("\n\n", 1)[0]
    assert "--profile wheel --pgo" in recipe
    assert ".ci/wheels.py dist" in recipe
