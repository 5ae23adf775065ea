"""Short ways through the sources: of a packet, and of the key `rto_min` to its timer."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CRATES = ROOT / "crates"

MOST_FILES_OF_KEY = 8
NAMES = (
    r"\brto_min\b",
    r"\brto\.policy\(",
    r"\bRtoPolicy\b",
    r"\bRttEstimator\b",
    r"\brtt\.timeout\(",
)
"""The names of the value on its way: the key, its conversion, the type of the policy, the type of
the estimator that applies the minimum, and the timeout."""
WAY = {
    "scenario/src/profile.rs": "the default",
    "scenario/src/transport/rto.rs": "the key: its type, its check and its conversion, both ways",
    "scenario/src/transport.rs": "puts the policy into the configuration",
    "tcp/src/config.rs": "the configuration of a connection",
    "tcp/src/connection/mod.rs": "builds the estimator of a connection",
    "tcp/src/send/rtt.rs": "the policy, and the estimator, which applies the minimum",
    "tcp/src/connection/timer.rs": "sets the timer",
    "tcp/src/connection/predict.rs": "sets the timer after a predicted ACK",
}
BESIDE = {
    "scenario/src/profile/linux.rs": "the default of another profile, in the place of profile.rs",
    "scenario/src/profile/ns3.rs": "the default of another profile, in the place of profile.rs",
    "scenario/src/profile/rfc.rs": "the default of another profile, in the place of profile.rs",
    "scenario/src/transport/meet.rs": "a remedy that requires another value sets the key",
    "scenario/src/void/rules.rs": "another key has no effect together with this one",
    "scenario/src/document.rs": "an example in a message",
    "tcp/src/send/mod.rs": "exports the estimator",
    "tcp/src/connection/getters.rs": "shows the estimator to probes",
}


@pytest.mark.skipif(
    not shutil.which("valgrind") or not (Path(sys.prefix) / "release").exists(),
    reason="needs valgrind, and a build with optimisation (`make .venv/release`)",
)
def test_a_packet_enters_few_files() -> None:
    command = [sys.executable, str(ROOT / "benches" / "walk.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def code(file: Path) -> str:
    """Return a file's code without comments and without the tests at its end."""
    text = re.split(r"^#\[cfg\(test\)\]\n(?=mod|#\[path)", file.read_text("utf-8"), flags=re.M)[0]
    return re.sub(r"(^|\s)//.*", "", text)


def test_the_way_of_a_key_to_its_timer_is_short() -> None:
    """Count the files that name `rto_min`, or what it becomes, from the document to the timer.

    Files that handle whole documents or configurations are not on the way, because they name no
    key: the reader of TOML, the merge with the defaults, flat tables and the blueprint of
    connections. Neither are other crates, which read the policy for remedies, theory and scripts.
    """
    tests = re.compile(r"/tests/|tests\.rs$|predict_configs\.rs$")
    found = {
        name
        for crate in ("scenario", "host", "tcp", "lab")
        for file in (CRATES / crate / "src").rglob("*.rs")
        if not tests.search(name := file.relative_to(CRATES).as_posix())
        and any(re.search(it, code(file)) for it in NAMES)
    }
    assert found == WAY.keys() | BESIDE.keys(), "the file is either on the way or beside it"
    assert len(WAY) <= MOST_FILES_OF_KEY
