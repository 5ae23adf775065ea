"""Sizes are printed as users write them, and no line break separates a number from its unit."""

import pytest

from incast import units
from incast.grid import Column, fitting, narrowed


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (32 * 10**6, "32 MB"), (16 * 10**6, "16 MB"), (16 * 2**20, "16 MiB"), (2**15, "32 KiB"),
        (64_000, "64 KB"), (128_000, "128 KB"), (100 * 1024, "100 KiB"), (1 << 30, "1 GiB"),
        (10**9, "1 GB"), (1500, "1\u202f500 B"), (0, "0 B"), (512 * 1024, "512 KiB"),
        (12 * 10**6, "12 MB"),
    ],
)  # fmt: skip
def test_a_size_comes_back_as_it_was_written(count: int, text: str) -> None:
    assert units.size(count) == text


def test_lines_do_not_end_between_a_number_and_its_unit() -> None:
    text = "the buffer holds 32 KiB for 200 ms at 1.5 Gbps, 71 % of 24 servers and 68 packets"
    for width in range(12, 60):
        lines = units.lines(text, width)
        assert " ".join(lines) == text
        assert not any(line[-1].isdigit() for line in lines), (width, lines)


def test_intervals_of_gains_have_room_before_lesser_columns() -> None:
    keys = [Column("number", "", ["1."])]
    words = Column("fix", "fix", ["a fix with a long name of many words"], 0)
    gains = [Column(name, name, ["12.0 to 12.5"], rank) for rank, name in enumerate("abcd", 1)]
    other = Column("who", "who", ["the servers"], 5)
    columns = narrowed([other, words, *gains], "fix", keys, 80)
    shown, left = fitting(keys, columns, 80)
    assert [column.name for column in shown] == ["number", "fix", *"abcd"]
    assert [column.name for column in left] == ["who"]
    assert narrowed([other, words], "fix", keys, None) == [other, words]
