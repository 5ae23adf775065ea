"""Connection serialisation: agreement with the paper's numbers, the core and the simulator."""

import numpy as np
import pytest

import incast
from conftest import document
from incast.models import buffer_rules
from incast.models.serialisation import Path, peak_queue_bound

KIB = 1024
SLOW, FAST = Path(1e9, 1e-4), Path(10e9, 1e-4)


def test_worked_numbers_of_the_ramp() -> None:
    both = Path([1e9, 10e9], 1e-4)
    assert both.product_packets.tolist() == [9, 84]
    assert both.rounds.tolist() == [5, 8]
    assert both.ramp == pytest.approx([412e-6, 724e-6])
    assert SLOW.plateau([64 * KIB, 64_000]) == pytest.approx([372e-6, 360e-6])
    assert [min(k for k in range(1, 200) if it.ramps(k * KIB)) for it in (SLOW, FAST)] == [9, 116]
    assert np.isnan(SLOW.plateau(8 * KIB))
    figure_3 = Path(1e9, 6.5 * 12e-6)
    assert (figure_3.rounds, figure_3.product_packets) == (4, 7)
    assert figure_3.ramp == pytest.approx(3 * 6.5 * 12e-6 + 3 * 12e-6)
    assert figure_3.ramps([4 * 1460, 5 * 1460]).tolist() == [0, 1]


def test_worked_numbers_of_the_sets() -> None:
    for path, sru, connections, window, peak in ((SLOW, 32, 3, 4, 15), (FAST, 512, 4, 21, 84)):
        found = path.sets(sru * KIB)
        assert (found.connections, found.window) == (connections, window)
        assert found.peak_queue == peak
    for rate, rtt, sru, peak in ((1e9, 124.64e-6, 32, 13), (10e9, 102.464e-6, 512, 90)):
        assert Path(rate, rtt).sets(sru * KIB).peak_queue == peak


def test_worked_numbers_of_the_link() -> None:
    assert SLOW.ideal_completion(8, 32 * KIB) == pytest.approx(2.208e-3)
    assert SLOW.greatest_goodput(1e6) == pytest.approx(972.36e6)
    assert SLOW.one_after_another(32 * KIB) == pytest.approx(460e6, rel=2e-3)


@pytest.mark.parametrize("path", [SLOW, FAST])
def test_one_connection_is_enough_where_its_plateau_lasts_two_ramps(path: Path) -> None:
    packets = np.arange(12, 2000)
    lasts = path.plateau(packets * 1460) >= 2 * path.ramp * (1 - 1e-12)
    np.testing.assert_array_equal(path.sets(packets * 1460).connections == 1, lasts)


def test_the_bound_of_appendix_a() -> None:
    tenths = np.arange(3, 3000)
    path = Path(1e9, tenths[:, None] / 10 * 12e-6)
    packets = np.arange(1, 400)
    queue = path.sets(packets * 1460).peak_queue
    worst = queue.max(axis=1)
    assert np.all(worst <= peak_queue_bound(path)[:, 0])
    whole = tenths % 10 == 0
    product = tenths / 10
    assert (worst / product)[whole & (product >= 9)].max() == pytest.approx(15 / 9)
    printed = peak_queue_bound(path, form="printed")[:, 0]
    assert np.all((worst <= printed)[product >= 2])
    assert worst[tenths == 10] == 7 > printed[tenths == 10]


def test_the_simulator_serialises_as_fast_as_that() -> None:
    tree = document(
        network={"base_rtt": "100us", "buffer": "40pkt"},
        workload={"servers": 16, "sru": "32KiB", "blocks": 1},
        transport={"name": "ccs"},
        run={"seeds": 1},
    )
    del tree["network"]["delay"]
    row = incast.run(incast.load(tree)).frame().row(0, named=True)
    assert row["goodput_bps"] == pytest.approx(float(SLOW.one_after_another(32 * KIB)), rel=0.02)


def test_buffer_rules() -> None:
    assert buffer_rules.sum_of_windows([10, 100, 1000], 109).tolist() == [1090, 10900, 109000]
    assert buffer_rules.flows_that_fill(10_000, 109) == 92
    assert buffer_rules.heartbeats(256 * KIB, 0.7) == pytest.approx(26.2, abs=0.05)
