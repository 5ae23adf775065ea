"""Commands with several workloads, and with kinds of traffic for which collapse is not defined."""

from pathlib import Path

import pytest

import incast
from conftest import Command

TWO = """
[network]
clients = 2
buffer = "64KiB"

[[workload]]
name = "barrier-read"
servers = 4
sru = "16KiB"

[[workload]]
name = "barrier-read"
group = "second"
servers = 4
sru = "16KiB"
client = 1
"""


def test_each_workload_has_rows_and_all_is_their_sum(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "two.toml"
    path.write_text(TWO)
    frame = incast.run(incast.load(path)).frame(group=None)
    groups = ["all", "workload.0.barrier-read", "second"]
    assert frame["group"].unique(maintain_order=True).to_list() == groups
    rows = {group: frame.filter(frame["group"] == group) for group in groups}
    assert rows["all"]["bytes"][0] == rows[groups[1]]["bytes"][0] + rows["second"]["bytes"][0]
    told = command("run", path, "--seeds", 1)
    assert (told.code, "No verdict" in told.out + told.err) == (0, True)
    one = command("run", path, "--seeds", 1, "--group", "second", "--format", "json")
    assert one.code == 0
    assert '"second"' in one.out


def test_models_say_that_they_do_not_apply(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "two.toml"
    path.write_text(TWO)
    told = command("model", path)
    assert told.code == 0
    assert "one read or long flows" in told.out + told.err


def test_sizes_come_from_a_file_beside_the_scenario(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        '[workload]\nname = "empirical-flows"\nservers = 4\nsizes = "mine.csv"\nflows = 20\n'
    )
    told = command("run", path)
    assert told.code == 2
    assert "workload.sizes:" in told.err
    assert "write one of datamining.csv, storage.csv, websearch.csv, the path" in told.err
    (tmp_path / "mine.csv").write_text("# mine\nbytes,cdf\n1000,0.5\n2000,1\n")
    resolved = incast.load(path).plan.points[0].resolved
    assert resolved["workload"]["sizes"] == [[1000.0, 0.5], [2000.0, 1.0]]
    assert command("run", path, "--seeds", 1).code == 0
    (tmp_path / "other.csv").write_text("500,1\n")
    scenario = incast.load(path)
    one = scenario.override("workload.sizes", "other.csv").plan.points
    assert one[0].resolved["workload"]["sizes"] == [[500.0, 1.0]]
    tree = scenario.document | {"sweep": {"workload.sizes": ["storage.csv", [[9, 1]]]}}
    assert len(incast.load(tree).plan.points) == 2
    swept = tmp_path / "swept.toml"
    swept.write_text(path.read_text() + '[sweep]\n"workload.sizes" = ["mine.csv", "other.csv"]\n')
    assert len(incast.load(swept).plan.points) == 2
    (tmp_path / "mine.csv").write_text("1000,0.5\n2000,half\n")
    told = command("run", path)
    assert (told.code, "'2000,half' must be two numbers" in told.err) == (2, True)
    (tmp_path / "mine.csv").write_text("-1000,0.5\n2000,1\n")
    told = command("run", path)
    assert (told.code, "line 1: '-1000,0.5' must be two numbers" in told.err) == (2, True)


@pytest.mark.parametrize(
    ("workload", "error"),
    [
        ('name = "cbr"\nrate = "1Mbps"', "never ends by itself"),
        ('name = "all-to-all"\nmessage = "1KiB"', "must be 2 to 1000 clients, not 1"),
        (
            'name = "barrier-read"\nservers = 2\nsru = 1\nshare_servers = true',
            "the first workload has no servers to share",
        ),
    ],
)
def test_what_cannot_be_a_workload_is_refused(
    command: Command, tmp_path: Path, workload: str, error: str
) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(f"[workload]\n{workload}\n")
    told = command("run", path)
    assert (told.code, told.err.count("\n")) == (2, 1)
    assert error in told.err


def test_sizes_may_be_in_per_cent_and_replace_a_wrong_file(
    command: Command, tmp_path: Path
) -> None:
    (tmp_path / "bad.txt").write_text("bytes share\n1000 many\n")
    (tmp_path / "forks.txt").write_text("0 0\n10000 15\n# a comment\n200000,60\n10000000\t100\n")
    path = tmp_path / "flows.toml"
    path.write_text(
        '[network]\nrate = "1Gbps"\n[workload]\nname = "empirical-flows"\nservers = 4\n'
        'sizes = "bad.txt"\nflows = 20\n'
    )
    told = command("run", path, "--dry-run")
    assert told.code == 2
    assert "workload.sizes: " in told.err
    assert "line 2: '1000 many' must be two numbers" in told.err
    scenario = incast.load(path).override("workload.sizes", str(tmp_path / "forks.txt"))
    sizes = scenario.plan.points[0].resolved["workload"]["sizes"]
    assert sizes == [[0.0, 0.0], [10_000.0, 0.15], [200_000.0, 0.6], [10_000_000.0, 1.0]]
