"""Files that another program has changed lead to a one-line error, never to a wrong row."""

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incast
from conftest import SMALL, Command, said
from incast.results import archive, seal
from incast.scenario.plan import Plan

Place = tuple[str | int, ...]
Tree = dict[str, Any] | list[Any]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with results and traces of two runs."""
    place = tmp_path_factory.mktemp("kept")
    (place / "small.toml").write_text(SMALL)
    incast.run(place / "small.toml", out=place / "out", traces=["events", "queue", "cwnd"])
    return place / "out"


def everything(out: Path) -> list[pl.DataFrame]:
    """Read all rows, blocks and traces of a directory."""
    results = incast.open_results(out)
    traces = [
        results.traces.of(name, job)
        for job in results.plan.jobs()
        for name in ("events", "queue", "cwnd")
    ]
    return [results.frame(group=None), results.blocks(), *traces]


def same(one: list[pl.DataFrame], other: list[pl.DataFrame]) -> bool:
    return all(a.equals(b) for a, b in zip(one, other, strict=True))


def test_a_flipped_bit_anywhere_is_found(kept: Path, tmp_path: Path) -> None:
    whole, chance = everything(kept), random.Random(11)
    found = 0
    for file in sorted(kept.rglob("*.parquet")):
        content = file.read_bytes()
        copy = tmp_path / "copy"
        shutil.copytree(kept, copy)
        damaged = copy / file.relative_to(kept)
        for bit in chance.sample(range(8 * len(content)), 60):
            flipped = bytearray(content)
            flipped[bit // 8] ^= 1 << bit % 8
            damaged.write_bytes(flipped)
            try:
                # Without an error, the bit is in the checksum's label, and the content is right.
                assert same(everything(copy), whole)
            except incast.ResultsError as error:
                found += str(error).startswith(f"{damaged}: damaged")
        shutil.rmtree(copy)
    assert found > 0.98 * 60 * 7


def test_a_flipped_bit_in_a_pack_is_found(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "PACK", 2)
    out = tmp_path / "out"
    incast.run(small, out=out)
    (pack,) = out.glob("runs/*.parquet")
    content = bytearray(pack.read_bytes())
    content[len(content) // 3] ^= 1
    pack.write_bytes(content)
    with pytest.raises(incast.ResultsError, match=f"{pack}: damaged"):
        incast.open_results(out).frame()
    with pytest.raises(incast.ResultsError, match=f"{pack}: damaged"):
        incast.run(small, out=out)
    pack.unlink()
    assert incast.run(small, out=out).frame().height == 2


def test_a_damaged_pack_is_named_before_anything_runs(
    command: Command, kept: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    shutil.copytree(kept, out)
    (part,) = out.glob("runs/*.parquet")
    part.write_bytes(part.read_bytes()[:-9])
    more = command("run", kept.parent / "small.toml", "--out", out, "--seeds", "40")
    line = said(more)
    assert line == f"incast: {part}: damaged, or from another run; remove it and run again\n"
    assert len(list(out.glob("runs/*.parquet"))) == 1


def test_a_trace_of_another_run_does_not_count(kept: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(kept, out)
    one, other = sorted(out.glob("events/*.parquet"))
    other.write_bytes(one.read_bytes())
    with pytest.raises(incast.ResultsError, match=f"{other}: damaged, or from another run"):
        everything(out)


def test_rows_under_another_name_do_not_count(kept: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(kept, out)
    (pack,) = out.glob("runs/*.parquet")
    other = pack.rename(pack.with_name("pack-0.parquet"))
    with pytest.raises(incast.ResultsError, match=f"{other}: damaged, or from another run"):
        everything(out)


def parts(out: Path) -> list[Path]:
    """Store the rows as an earlier version did: one file per run, without a checksum."""
    (pack,) = out.glob("runs/*.parquet")
    rows = pl.read_parquet(pack)
    pack.unlink()
    found = []
    for (key,), part in rows.group_by("run", maintain_order=True):
        found.append(out / "runs" / f"{key}.parquet")
        part.write_parquet(found[-1])
    return found


def test_a_part_of_an_earlier_version_is_held_to_its_name(kept: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(kept, out)
    one, other = parts(out)
    assert same(everything(out), everything(kept))
    other.write_bytes(one.read_bytes())
    with pytest.raises(incast.ResultsError, match=f"{other}: damaged, or from another run"):
        everything(out)


def test_directories_of_the_earlier_format_still_open(kept: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(kept, out)
    manifest = json.loads((out / "manifest.json").read_text())
    (out / "manifest.json").write_text(json.dumps({**manifest, "format": 2}))
    shutil.rmtree(out / "times")
    for part in parts(out):  # rows with a column of times, and without a checksum
        pl.read_parquet(part).with_columns(pl.lit(0.25).alias("wall_s")).write_parquet(part)
    rows = incast.open_results(out).frame()
    assert rows["wall_s"].to_list() == [0.25, 0.25]
    assert rows.drop("wall_s").equals(incast.open_results(kept).frame().drop("wall_s"))
    more = incast.run(kept.parent / "small.toml", out=out, traces=["events", "queue", "cwnd"])
    assert more.frame().equals(rows)
    assert json.loads((out / "manifest.json").read_text())["format"] == 2


def test_the_checksum_is_of_name_and_content(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    frame, file = pl.DataFrame({"a": [1, 2]}), tmp_path / "runs" / "a.parquet"
    file.write_bytes(seal.parquet(frame, file))
    assert seal.read(file).equals(frame)
    assert pl.read_parquet(file).equals(frame)  # other programs can read the file
    file.rename(file.with_name("b.parquet"))
    with pytest.raises(incast.ResultsError, match="another run"):
        seal.read(file.with_name("b.parquet"))


def places(tree: Tree, here: Place = ()) -> Iterator[Place]:
    """Yield every position in a tree, except inside the user's document and the host's data."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in items:
        place = (*here, key)
        yield place
        if isinstance(value, dict | list) and place[0] not in ("scenario", "host"):
            yield from places(value, place)


def changed(tree: Tree, place: Place, value: object) -> Tree:
    copy: Tree = json.loads(json.dumps(tree))
    at: Any = copy
    for key in place[:-1]:
        at = at[key]
    if value is ...:
        del at[place[-1]]
    else:
        at[place[-1]] = value
    return copy


def test_edited_manifests_are_named_with_their_key(
    command: Command, kept: Path, tmp_path: Path
) -> None:
    out, small = tmp_path / "out", kept.parent / "small.toml"
    shutil.copytree(kept, out)
    file = out / "manifest.json"
    manifest = json.loads(file.read_text())
    every = [
        place for place in places(manifest) if place[0] != "columns" or place[-1] in (0, "runs")
    ]
    named = 0
    for place in every:
        for value in (..., None, 7, "seven", [], {}, [[]], {"a": 1}, True):
            file.write_text(json.dumps(changed(manifest, place, value)))
            try:
                store = incast.open_results(out)
                store.summary()
            except incast.ResultsError as error:
                line = str(error)
                assert "\n" not in line
                if line.startswith(f"{file}: "):
                    named += 1
                else:  # no stored run has the changed seed or engine
                    assert line == "no run has finished"
    assert named > 4 * len(every)
    for key, value in (("plan", 7), ("traces", "queue"), ("fingerprint", ...), ("wall_s", None)):
        file.write_text(json.dumps(changed(manifest, (key,), value)))
        for arguments in (("describe", out), ("plot", out), ("run", small, "--out", out)):
            assert said(command(*arguments)).startswith(f"incast: {file}: {key}: m")


def test_changed_points_are_not_taken_for_those_that_ran(kept: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(kept, out)
    file = out / "manifest.json"
    text = file.read_text()
    assert text.count('"1000000000bps"') > 1
    file.write_text(text.replace('"1000000000bps"', '"1000000001bps"'))
    with pytest.raises(
        incast.ResultsError, match=r"manifest\.json: plan\.points: was changed after the run"
    ):
        incast.open_results(out)


def test_results_of_another_version_may_have_scenarios_that_nobody_reads(
    kept: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    shutil.copytree(kept, out)
    file = out / "manifest.json"
    manifest = json.loads(file.read_text())
    for point in manifest["plan"]["points"]:
        point["resolved"]["transport"]["of_before"] = 1
    manifest["fingerprint"] = Plan.from_tree(manifest["plan"], manifest["engine"]).fingerprint
    file.write_text(json.dumps(manifest))
    with pytest.raises(incast.ResultsError) as refused:
        incast.open_results(out)
    assert str(refused.value).startswith(
        f"{file}: plan.points.0.resolved.transport.of_before: unknown key"
    )


def test_torn_lines_of_times_are_none(kept: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(kept, out)
    (times,) = out.glob("times/*.csv")
    first, second, third = times.read_text().splitlines()
    assert first == "run,wall_s,host,check"
    times.write_text(f"{first}\n{second}\n{third[:-3]}")  # as if the writer had been killed
    assert incast.open_results(out).frame()["wall_s"].null_count() == 1
    times.write_text(f"{first}\n{second}\n{third.replace('.', '.9', 1)}\n")
    assert incast.open_results(out).frame()["wall_s"].null_count() == 1
    assert incast.open_results(kept).frame()["wall_s"].min() > 0
