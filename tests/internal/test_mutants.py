"""The records that `make mutants` keeps of mutants of the Rust code."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from validation.mutants import age, draw, page, table, tree
from validation.mutants.draw import Mutant
from validation.mutants.python_tests import TESTS
from validation.mutants.table import Verdict

ROOT = Path(__file__).resolve().parents[2]
DIFF = """--- crates/net/src/port.rs
+++ replace < with <= in Port::fits
@@ -{line},3 +{line},3 @@
 fn fits(&self) -> bool {{
-    self.waiting < self.most
+    self.waiting <= /* ~ changed by cargo-mutants ~ */ self.most
 }}
"""


def mutant(line: int, file: str = "crates/net/src/port.rs") -> Mutant:
    return Mutant(f"{file}:{line}: replace < with <=", "incast-net", file, DIFF.format(line=line))


def verdict(outcome: str, package: str = "incast-net") -> Verdict:
    return Verdict(f"it was {outcome}", package, outcome, "")


def test_a_mutant_is_known_wherever_its_lines_have_moved() -> None:
    assert mutant(7).key == mutant(70).key
    assert mutant(7).key != mutant(7, "crates/net/src/buffer.rs").key


def test_a_smaller_sample_is_the_beginning_of_a_larger_one(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"crates/net/src/{number}.rs" for number in range(50)]
    listed = [
        {"name": name, "package": "incast-net", "file": name, "diff": DIFF.format(line=1)}
        for name in names
    ]

    def listing(listed: list[dict[str, str]]) -> None:
        done = subprocess.CompletedProcess([], 0, json.dumps(listed))
        monkeypatch.setattr(draw.subprocess, "run", lambda *_, **__: done)

    listing(listed)
    whole = draw.sample(50)
    assert {it.file for it in whole} == set(names)
    assert [it.file for it in whole] != names
    assert draw.sample(20) == whole[:20]
    listing(listed[::-1])
    assert draw.sample(20) == whole[:20]


def test_each_part_has_mutants_in_a_small_sample() -> None:
    many = [mutant(1, f"crates/net/src/{number}.rs") for number in range(100)]
    few = [mutant(1, f"crates/web/src/{number}.rs") for number in range(20)]
    drawn = draw.stratified(many + few, lambda it: it.file.split("/")[1])
    assert len(drawn) == 120
    parts = [it.file.split("/")[1] for it in drawn[: 2 * draw.LEAST]]
    assert (parts.count("net"), parts.count("web")) == (draw.LEAST, draw.LEAST)
    rest = [it.key for it in drawn[2 * draw.LEAST :]]
    assert rest == sorted(rest)


def test_what_was_never_seen_is_run_first() -> None:
    left = [mutant(1, f"{part}/{number}") for number in range(3) for part in ("seen", "few", "new")]
    known = ["seen", "few", "seen"]
    run = [it.file for it in draw.unseen_first(left, known, lambda it: it.file.split("/")[0])]
    parts = ("new", "few", "seen")
    assert run == [f"{part}/{number}" for part in parts for number in range(3)]


def test_neighbours_are_run_by_file_and_blocks_as_drawn() -> None:
    drawn = [mutant(line, f"crates/net/src/{line % 2}.rs") for line in range(50)]
    run = draw.in_blocks(drawn)
    assert set(run[:20]) == set(drawn[:20])
    assert set(run[20:40]) == set(drawn[20:40])
    files = "".join(it.file[-4] for it in run)
    assert files == 2 * (10 * "0" + 10 * "1") + 5 * "0" + 5 * "1"


def test_two_runs_do_not_share_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "ROOT", tmp_path)
    monkeypatch.setattr(tree, "copy_sources", lambda *_: False)
    first = tree.Tree(0)
    with pytest.raises(SystemExit, match="another run is using it"):
        tree.Tree(0)
    first.lock.close()
    with tree.Tree(0).lock:
        pass


def test_the_table_is_read_as_it_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "PATH", tmp_path / "new" / "rust.csv")
    assert table.read() == {}
    known = {"a": verdict("caught"), "b": Verdict('replace "," with x', "incast-lab", "missed", "")}
    table.write(known)
    assert table.read() == known
    assert [it.name for it in table.PATH.parent.iterdir()] == ["rust.csv"]


def test_the_page_counts_what_compiles_and_says_what_is_missing(tmp_path: Path) -> None:
    rust = replace(page.RUST, path=tmp_path / "mutants.md")
    judged = [verdict("caught"), verdict("timeout"), verdict("missed"), verdict("unviable")]
    judged.append(verdict("caught", "incast-tcp"))
    assert page.write([*judged, None, None, None], 0.92, rust) == 0.75
    text = rust.path.read_text("utf-8")
    assert "Of the 8 mutants of the sample, 5 have been run" in text
    assert "| incast-net | 3 | 2 | 1 | 66.7% |" in text
    assert "| all | 4 | 3 | 1 | 75.0% |" in text
    assert "- `it was missed`" in text
    page.write(judged, 0.92, rust)
    assert "All 5 mutants of the sample" in rust.path.read_text("utf-8")


def test_what_changes_nothing_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "REASONS", tmp_path / "equivalent.csv")
    rust = replace(page.RUST, path=tmp_path / "mutants.md")
    drawn = [mutant(1, f"crates/net/src/{number}.rs") for number in range(4)]
    keys = [it.key for it in drawn]
    table.REASONS.write_text(f"key,mutant,reason\n{keys[0]},it,a | b\n{keys[1]},it,no\n", "utf-8")
    known = dict(zip(keys, map(verdict, ("missed", "caught", "missed")), strict=False))
    judged = table.judged(drawn, known)
    assert [it and it.outcome for it in judged] == ["equivalent", "caught", "missed", None]
    assert page.write(judged, 0.92, rust) == 0.5
    assert "- `it was missed`: a | b" in rust.path.read_text("utf-8")


def test_nothing_that_is_caught_is_called_equivalent() -> None:
    known = table.read()
    for key, reason in table.reasons().items():
        assert reason.endswith(".")
        assert key not in known or known[key].outcome == "missed", known[key].mutant


def test_the_copy_follows_the_sources_and_forgets_what_was_left_in_it(tmp_path: Path) -> None:
    root, copy = tmp_path / "root", tmp_path / "copy"
    source = root / "crates" / "net" / "lib.rs"
    source.parent.mkdir(parents=True)
    source.write_text("one", "utf-8")
    subprocess.run(["git", "init", "-q", root], check=True)
    subprocess.run(["git", "-C", root, "add", "."], check=True)
    assert tree.copy_sources(root, copy)
    assert not tree.copy_sources(root, copy)
    # Simulates a mutant that an interrupted run left in the copy, and a file that tests wrote.
    (copy / "crates" / "net" / "lib.rs").write_text("mutant", "utf-8")
    (copy / "crates" / "net" / "regressions.txt").write_text("seed", "utf-8")
    assert tree.copy_sources(root, copy)
    assert [it.name for it in (copy / "crates" / "net").iterdir()] == ["lib.rs"]
    assert (copy / "crates" / "net" / "lib.rs").read_text("utf-8") == "one"


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ("exit 0", ""),
        ("exit 101", "caught"),
        ("while :; do :; done", "timeout"),
        ("sleep 1000", "timeout"),
    ],
)
def test_a_test_that_never_ends_is_stopped(
    script: str, outcome: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "SLEEP", 3)
    (tmp_path / "crates" / "net").mkdir(parents=True)
    test = tmp_path / "test"
    test.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    test.chmod(0o755)
    it = object.__new__(tree.Tree)
    it.path = tmp_path
    stage = tree.Stage("incast-net", "lib")
    assert it.run(stage, [str(test)], 1) == outcome


@pytest.mark.parametrize("package", [f"incast-{name}" for name in draw.PACKAGES])
def test_every_crate_has_its_tests(package: str) -> None:
    kinds = [stage.kind for stage in tree.stages_of(package)]
    folder = ROOT / "crates" / package.removeprefix("incast-") / "tests"
    assert kinds == (["lib", "test"] if folder.is_dir() else ["lib"])
    assert package in tree.ABOVE


def test_every_crate_but_the_binding_is_drawn_from() -> None:
    crates = {it.parent.name for it in (ROOT / "crates").glob("*/Cargo.toml")}
    assert set(draw.PACKAGES) == crates - {"py"}


def test_every_package_but_the_reproductions_is_drawn_from() -> None:
    packages = {it.parent.name for it in (ROOT / "python" / "incast").glob("*/__init__.py")}
    assert set(TESTS) == packages - {"reproduce"}
    for name in {name for names in TESTS.values() for name in names}:
        assert len(list((ROOT / "tests").rglob(f"test_{name}.py"))) == 1, name


def test_a_page_is_as_old_as_the_share_of_its_files_that_changed() -> None:
    then = {"same": "1", "changed": "1", "gone": "1"}
    assert age.changed(then, then) == 0
    assert age.changed(then, {"same": "1", "changed": "2", "new": "1"}) == 0.75
    assert age.changed({}, then) == 1


def test_files_are_kept_as_they_are_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(age, "ROOT", tmp_path)
    monkeypatch.setitem(age.PATHS, "rust", tmp_path / "rust-files.csv")
    code = tmp_path / "crates" / "net" / "src" / "port" / "fifo.rs"
    code.parent.mkdir(parents=True)
    code.write_text(f"fn fits() {{}}\n{age.OWN_TESTS}\n}}\n", "utf-8")
    age.keep("rust")
    assert list(age.kept("rust")) == ["crates/net/src/port/fifo.rs"]
    code.write_text(f"fn fits() {{}}\n{age.OWN_TESTS}\n  more }}\n", "utf-8")
    assert age.changed(age.kept("rust"), age.stamps("rust")) == 0, "only its tests"
    code.write_text(f"    /// Whether it fits.\nfn fits() {{}}\n{age.OWN_TESTS}\n}}\n", "utf-8")
    assert age.changed(age.kept("rust"), age.stamps("rust")) == 0, "only a comment"
    code.write_text("fn fit() {}\n", "utf-8")
    assert age.changed(age.kept("rust"), age.stamps("rust")) == 1


def test_a_docstring_is_no_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(age, "ROOT", tmp_path)
    monkeypatch.setitem(age.PATHS, "python", tmp_path / "python-files.csv")
    code = tmp_path / "python" / "incast" / "cli" / "run.py"
    code.parent.mkdir(parents=True)
    code.write_text(
        '"""Run."""\nMOST = 3\n"""The most."""\n\n\ndef f():\n    """Do."""\n    return 1\n'
    )
    age.keep("python")
    code.write_text(
        '"""Run it."""\nMOST = 3  # why\n\n\ndef f():\n    """Do it."""\n    return 1\n'
    )
    assert age.changed(age.kept("python"), age.stamps("python")) == 0
    code.write_text('"""Run."""\nMOST = 4\n\n\ndef f():\n    """Do."""\n    return 1\n')
    assert age.changed(age.kept("python"), age.stamps("python")) == 1


@pytest.mark.parametrize("kind", sorted(age.PATHS))
def test_a_page_says_so_when_it_is_older_than_most_of_the_code(kind: str) -> None:
    told = {"rust": page.RUST, "python": page.PYTHON}[kind].path.read_text("utf-8")
    share = age.changed(age.kept(kind), age.stamps(kind))
    assert (share > age.MOST) == (age.OLD in told), f"{share:.0%} have changed: run `make mutants`"
