"""Applications: how their settings limit a read, and which settings advice prints."""

import ast
import asyncio
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import incast
from conftest import Command
from incast.advise.apps import APPS, throttled
from incast.advise.case import case_of
from incast.advise.fixes import catalogue
from incast.errors import AdviceError

READ: dict[str, Any] = {
    "profile": "linux",
    "network": {"rate": "10Gbps", "delay": "10us", "buffer": "512KiB"},
    "workload": {"servers": 40, "sru": "20MiB", "blocks": 2, "connections": "persistent"},
}
SPARK = "spark.reducer."
FIFTH = 48 * 2**20 // 5


def bounded(app: str, *settings: str, **workload: object) -> tuple[int | None, int, str, list[str]]:
    """Return the number of answers at a time, the bytes per answer, the receive window, notes."""
    document = READ | {"workload": READ["workload"] | workload}
    scenario, notes = throttled(incast.load(document), APPS[app], settings)
    tree = scenario.plan.points[0].here.tree
    batches = [one["n"] for one in tree["transport"]["remedies"] if one["name"] == "batching"]
    here = scenario.plan.points[0].here
    assert len(batches) <= 1
    return batches[0] if batches else None, here.sru, tree["transport"]["receive_window"], notes


@pytest.mark.parametrize(
    ("setting", "sru", "at_once", "answer"),
    [
        ("maxSizeInFlight=48m", "20MiB", 5, FIFTH),
        ("maxSizeInFlight=48m", "9MiB", 5, 9 << 20),
        ("maxSizeInFlight=48m", "4MiB", 12, 4 << 20),
        ("maxSizeInFlight=48m", "1MiB", None, 1 << 20),  # 48 could answer, but there are only 40
        ("maxSizeInFlight=48m", "256KiB", None, 256 << 10),
        ("maxSizeInFlight=1g", "20MiB", None, 20 << 20),
        ("maxSizeInFlight=4", "20MiB", 4, 1),
        ("maxReqsInFlight=7", "20MiB", 7, 20 << 20),
        ("maxReqsInFlight=40", "20MiB", None, 20 << 20),
        ("maxBlocksInFlightPerAddress=3", "20MiB", None, 20 << 20),
    ],
)
def test_spark(setting: str, sru: str, at_once: int | None, answer: int) -> None:
    found = bounded("spark", SPARK + setting, sru=sru)
    assert found[:2] == (at_once, answer)
    (note,) = found[3]
    assert note.startswith(f"{SPARK}{setting.replace('=', ' = ')}: ")
    changed = at_once is not None or answer != incast.units.quantity(sru, "size")
    assert note.endswith("; nothing in the scenario changes.") != changed
    if at_once == 5 and answer == FIFTH:
        assert note.endswith("at most 5 answers in flight, answers of 10\u202f066\u202f329 B.")


def test_the_smaller_bound_of_several_counts() -> None:
    both = (f"{SPARK}maxSizeInFlight=48m", f"{SPARK}maxReqsInFlight=2")
    for settings in (both, both[::-1]):
        assert bounded("spark", *settings)[:2] == (2, FIFTH)
    assert bounded("spark", f"{SPARK}maxReqsInFlight=2", f"{SPARK}maxReqsInFlight=9")[0] == 2


def test_a_bound_replaces_the_size_of_a_block() -> None:
    workload = {"servers": 40, "block": "800MiB", "blocks": 2, "connections": "persistent"}
    scenario = incast.load(READ | {"workload": workload})
    changed, _ = throttled(scenario, APPS["spark"], [f"{SPARK}maxSizeInFlight=48m"])
    assert changed.plan.points[0].here.sru == FIFTH
    assert scenario.document["workload"]["block"] == "800MiB", "the given one stays as it was"


def test_other_remedies_stay() -> None:
    scenario = incast.load(READ).override("transport.remedies", ["ictcp"])
    changed, _ = throttled(scenario, APPS["ceph"], ["objecter_inflight_ops=3"])
    remedies = changed.plan.points[0].here.tree["transport"]["remedies"]
    assert [one["name"] for one in remedies] == ["ictcp", "batching"]


@pytest.mark.parametrize(
    ("app", "setting", "at_once", "answer"),
    [
        ("ceph", "objecter_inflight_ops=16", 16, 20 << 20),
        ("hdfs", "dfs.client.read.striped.threadpool.size=18", 18, 20 << 20),
        ("memcached", "proxy-max-inflight-requests=8", 8, 20 << 20),
        ("nfs", "nfs.max_session_slots=4", None, 4 << 20),
        ("nfs", "sunrpc.tcp_max_slot_table_entries=2", None, 2 << 20),
        ("nfs", "nfs.max_session_slots=64", None, 20 << 20),
        ("ray", "RAY_object_manager_max_bytes_in_flight=8m", None, 8 << 20),
        ("ray", "object_manager_max_bytes_in_flight=2147483648", None, 20 << 20),
        ("minio", "max_concurrent_requests=10", 10, 20 << 20),
        ("minio", "max_concurrency=10", 10, 20 << 20),
        ("minio", "multipart_chunksize=8MB", None, 8 << 20),
        ("grpc", "grpc.max_concurrent_streams=1", None, 20 << 20),
    ],
)
def test_settings_of_the_others(app: str, setting: str, at_once: int | None, answer: int) -> None:
    assert bounded(app, setting)[:2] == (at_once, answer)


@pytest.mark.parametrize(
    ("setting", "window"),
    [
        ("WithInitialConnWindowSize=128k", "131072B"),
        ("WithInitialConnWindowSize=65535", "65535B"),
        ("WithInitialConnWindowSize=65534", "6291456B"),  # Go ignores it
        ("flowControlWindow=20000", "20000B"),
        ("flowControlWindow=100", "1448B"),
        ("flowControlWindow=1g", "6291456B"),
    ],
)
def test_windows_of_grpc(setting: str, window: str) -> None:
    assert bounded("grpc", setting)[2] == window


@pytest.mark.parametrize(
    "value", ["", "x", "0", "-3", "48mm", "4.8m", "٣", "9" * 5000, "1e9", "48 m", "0m"]
)
def test_what_is_no_number_is_refused_in_one_line(value: str) -> None:
    with pytest.raises(AdviceError, match="must be KEY=NUMBER, or a size such as 48m") as caught:
        throttled(incast.load(READ), APPS["spark"], [f"{SPARK}maxSizeInFlight={value}"])
    assert "\n" not in str(caught.value)


def test_an_unknown_setting_names_those_that_there_are() -> None:
    with pytest.raises(AdviceError, match=r"of ray: RAY_object_manager_max_bytes_in_flight, obj"):
        throttled(incast.load(READ), APPS["ray"], ["RAY_max_pulls=3"])


@pytest.mark.parametrize(
    ("app", "said"),
    [
        ("spark", "\nspark.reducer.maxReqsInFlight 4"),
        ("ceph", "\nceph config set client objecter_inflight_ops 4"),
        ("hdfs", "<value>4</value>"),
        ("memcached", "--proxy-max-inflight-requests=4"),
        ("ray", "under_way, waiting = refs[:4], refs[4:]"),
        ("minio", "\n[default]\ns3 =\n    max_concurrent_requests = 4"),
        ("grpc", "limit = asyncio.Semaphore(4)"),
    ],
)
def test_an_application_is_told_in_its_own_words(app: str, said: str) -> None:
    found = {fix.name: fix for fix in catalogue(case_of(incast.load(READ), APPS[app]))}
    assert said in found["at most 4 at once"].text
    assert "incast.client" not in "".join(fix.text for fix in found.values())


def words(app: str, count: int) -> str:
    limit = APPS[app].limit
    assert limit is not None
    return limit(count).text


def test_the_code_for_ray_fetches_so_many_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int] = []
    used: list[int] = []

    def wait(refs: list[int]) -> tuple[list[int], list[int]]:
        given.append(len(refs))
        return refs[-1:], refs[:-1]  # the last reference is ready first

    ray: Any = ModuleType("ray")
    ray.wait, ray.get = wait, lambda ref: ref
    monkeypatch.setitem(sys.modules, "ray", ray)
    exec(words("ray", 3), {"refs": list(range(8)), "use": used.append})
    assert sorted(used) == list(range(8))
    assert max(given) == 3
    assert given == [3] * 6 + [2, 1]


def test_the_code_for_grpc_has_so_many_calls_under_way() -> None:
    under_way, most = 0, 0

    async def method(request: int) -> int:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1
        return request

    async def all_calls() -> list[int]:
        names: dict[str, Any] = {}
        exec(words("grpc", 3), names)
        return await asyncio.gather(*(names["asked"](method, n) for n in range(9)))

    assert asyncio.run(all_calls()) == list(range(9))
    assert most == 3


def test_all_code_that_is_printed_can_be_read() -> None:
    for text in (words("ray", 2), words("grpc", 2)):
        ast.parse(text)
    for fix in catalogue(case_of(incast.load(READ))):
        if "import " in fix.text:
            compile(fix.text, fix.name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def test_apps_are_named_in_the_help_and_on_the_page(command: Command) -> None:
    page = Path(__file__).parents[2] / "docs" / "how-to" / "advise.md"
    text, said = page.read_text(), command("advise", "--help").out
    for name, app in APPS.items():
        assert f"| `{name}` |" in text
        assert name in said
        for setting in app.throttles:
            assert setting in text, setting
