"""`incast explain` and shell completion: every name in the schema."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import incast
from conftest import Command
from incast.cli import aliases, complete
from incast.scenario import schema, shipped
from test_terminal import WIDTHS, on_terminal, words


def test_a_key_has_meaning_type_default_per_profile_and_source(command: Command) -> None:
    told = command("explain", "transport.rto_min")
    assert (told.code, told.err) == (0, "")
    assert told.out == (
        "transport.rto_min\n"
        "  means     Lower bound of the retransmission timeout, in seconds (RFC 6298 (2.4): 1 s).\n"
        "  takes     time\n"
        "  default   200ms (lab, linux, linux-dctcp, ns2, ns3); 1s (rfc)\n"
        "  source    RFC 6298 (2.4)\n"
    )
    assert command("explain", "rto_min").out == told.out
    assert "  range     1 to 65535\n" in command("explain", "mss").out
    assert "  range     at least 1\n" in command("explain", "dupack_threshold").out
    assert "    rfc6928 " in command("explain", "transport.initial_window").out


def test_defaults_are_those_that_the_core_lays_down(command: Command) -> None:
    for profile, value in (("lab", 2), ("linux", 10), ("rfc", 3)):
        tree = {
            "profile": profile,
            "workload": {"servers": 1, "sru": 1},
            "transport": {"initial_window": value},
        }
        given = incast.load(tree).plan.points[0].resolved
        assert given["transport"] == schema.resolved(profile)["transport"]
        assert schema.of_profiles("transport.initial_window")[profile] == f"{value}seg"


def test_tables_list_their_keys(command: Command) -> None:
    for table in ("network", "transport", "workload", "background", "run"):
        told = command("explain", table).out
        own = [key for key in schema.all_keys() if key.name.rpartition(".")[0] == table]
        assert own
        for key in own:
            assert f"    {key.name.rpartition('.')[2]} " in told
    overview = command("explain").out
    assert all(name in overview for name in schema.schema()["properties"])


def test_every_key_part_and_column_can_be_explained(command: Command) -> None:
    names = complete.explained("")
    assert {"network.core.rate", "transport.delayed_ack.timeout", "plato", "drops"} <= set(names)
    for name in names:
        told = command("explain", name)
        assert (told.code, told.err) == (0, ""), name
        assert "means" in told.out or name == "columns", name


def test_keys_of_lists_are_found_by_their_place(command: Command) -> None:
    by_place = command("explain", "background.0.rate").out
    assert by_place == command("explain", "background.rate").out
    assert "(cbr, poisson)" in by_place
    assert "(on-off)" in by_place
    beside = command("explain", "background.1.transport.rto_min").out
    assert beside == command("explain", "transport.rto_min").out


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("transport.minrto", "transport.rto_min"),
        ("minrto", "transport.rto_min"),
        ("network.bufer", "network.buffer"),
        ("goodput_bsp", "goodput_bps"),
        ("platto", "plato"),
    ],
)
def test_an_unknown_name_gets_a_suggestion(command: Command, asked: str, meant: str) -> None:
    told = command("explain", asked)
    assert (told.code, told.out, told.err.count("\n")) == (2, "", 1)
    assert f"did you mean {meant!r}?" in told.err


def test_a_name_like_no_other_gets_a_way_on(command: Command) -> None:
    assert "incast explain lists the tables" in command("explain", "xyzzyq").err


def test_a_scenario_with_the_letters_in_another_order_gets_one_too(
    command: Command, small: Path
) -> None:
    done = command("run", small, "--set", "transport.minrto=1ms")
    assert done.code == 2
    assert 'transport.minrto: unknown key; did you mean "transport.rto_min"?' in done.err


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("asked", ["network.buffer", "transport", "plato", "columns"])
def test_explanations_fit(command: Command, asked: str, width: int) -> None:
    lines = on_terminal(width, "explain", asked)
    assert max(map(len, lines)) <= width
    assert words(" ".join(lines)) == words(command("explain", asked).out)


def offered(*typed: str) -> list[str]:
    """Return the completions that bash would offer for the last word."""
    asks = {
        "_INCAST_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(["incast", *typed]),
        "COMP_CWORD": str(len(typed)),
    }
    script = Path(sys.executable).with_name("incast")
    done = subprocess.run(
        [script], env=os.environ | asks, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        (["expla"], ["explain"]),
        (["run", "storage"], ["storage-read"]),
        (["run", "x", "--set", "transport.rto_mi"], ["transport.rto_min="]),
        (["run", "x", "--format", "c"], ["csv"]),
        (["run", "x", "--trace", "queue,cw"], ["queue,cwnd"]),
        (["plot", "x", "--kind", "swim"], ["swimlane"]),
        (["model", "x", "--model", "over"], ["overflow"]),
        (["list", "rem"], ["remedies"]),
        (["explain", "stag"], ["staggering"]),
        (["reproduce", "serialization/1"], [f"serialization/{n}" for n in range(10, 19)]),
    ],
)
def test_the_shell_is_offered_names(typed: list[str], names: list[str]) -> None:
    assert offered(*typed) == names


def test_files_are_offered_beside_shipped_scenarios(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.toml").touch()
    (tmp_path / "kept").mkdir()
    monkeypatch.chdir(tmp_path)
    assert complete.scenarios("") == [*shipped.names(), "mine.toml", "kept/"]
    assert complete.scenarios(f"{tmp_path}/m") == [f"{tmp_path}/mine.toml"]
    assert complete.scenarios("none/") == []
    assert "drops,fairness" in complete.columns("drops,fair")
    assert complete.changes("transport.name=plat") == ["transport.name=plato"]


def test_help_comes_at_once() -> None:
    """The help loads no module for computing, drawing or serving, because loading one is slow."""
    code = (
        "import runpy, sys\n"
        "sys.argv = ['incast', 'run', '--help']\n"
        "try:\n"
        "    runpy.run_module('incast', run_name='__main__', alter_sys=True)\n"
        "except SystemExit:\n"
        "    print(*sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert "Usage" in done.stdout
    loaded = set(done.stderr.split())
    heavy = {"numpy", "polars", "pyarrow", "matplotlib", "rich", "asyncio"}
    assert not loaded & heavy
    assert len(loaded) < 350


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("alpha", ("network.buffer.alpha: a parameter of dynamic", "dctcp, ", "vegas")),
        ("K", ("Alizadeh et al.", "network.queue.threshold")),
        ("dynamic_th", ("alpha = 2^n", "SONiC", "network.buffer.alpha")),
        ("dsr", ("Dynamic segment resizing", "Kulkarni", "resize")),
        ("PLATO", ("plato: one of the remedies",)),
        ("Th_P", ("Shukla", "label-threshold")),
        ("ABTT", ("head of a block", "Kulkarni")),
        ("M/G/1/B", ("M/G/1/K", "edge-queue")),
        ("goodput", ("goodput_bps: a column", "incast plot DIR --kind goodput")),
        ("p99", ("completion_p99_s: a column",)),
    ],
)
def test_words_of_others_are_explained(command: Command, word: str, told: tuple[str, ...]) -> None:
    done = command("explain", word)
    assert done.code == 0
    assert [part for part in told if part not in done.out] == []


def test_aliases_lead_to_names_that_can_be_explained(command: Command) -> None:
    here = {name for alias in aliases.ALIASES for name in alias.here}
    assert [name for name in sorted(here) if command("explain", name).code] == []
    assert len({alias.name for alias in aliases.ALIASES}) == len(aliases.ALIASES)
    assert all(alias.source and alias.means.endswith(".") for alias in aliases.ALIASES)
