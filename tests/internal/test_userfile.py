"""Every reader limits the size of users' files, and its time is linear in the size."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

import incast
from incast.advise import readers
from incast.advise.readers.taken import Taken
from incast.errors import AdviceError
from incast.userfile import MOST, NotTextError, text_of

ENDLESS = Path("/dev/zero")


def test_text_has_line_feeds_and_no_mark(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"\xef\xbb\xbfa\r\nb\rc\n")
    assert text_of(path) == "a\nb\nc\n"


def test_a_file_has_a_largest_size(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"a" * MOST)
    assert len(text_of(path)) == MOST
    path.write_bytes(b"a" * (MOST + 1))
    with pytest.raises(NotTextError, match="at most 8 MiB"):
        text_of(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(NotTextError, match="UTF-8"):
        text_of(path)


@pytest.mark.skipif(not ENDLESS.exists(), reason="there is no such device")
@pytest.mark.parametrize("reads", [incast.load, readers.read])
def test_a_device_without_an_end_is_refused(reads: Callable[[Path], object]) -> None:
    with pytest.raises(ValueError, match=r"/dev/zero: too large") as error:
        reads(ENDLESS)
    assert "\n" not in str(error.value)


LONG = 1_000_000
LINES = {
    "blanks": " " * LONG,
    "blanks before a field": " " * LONG + " rto:x",
    "blanks in a connection": "ESTAB" + " " * LONG + "0",
    "names of processes": "ESTAB 0 0 10.0.0.9:1 10.0.0.1:2 " + "users:((" * (LONG // 8),
    "colons": "ESTAB 0 0 10.0.0.9:1 " + ":" * LONG,
    "digits": "net.ipv4.tcp_rto_min_us = " + "9" * LONG,
    "signs of equality": "net." + "=" * LONG,
    "routes": "default dev eth0" + " rto_min" * (LONG // 8),
    "counters": "NIC statistics:\n" + "[0]: " * (LONG // 5),
    "queues": "qdisc fq 1:" + " dev" * (LONG // 4) + "\n" + " dropped" * (LONG // 8),
    "sentences": "Tcp:\n" + " 1 " * (LONG // 3),
    "quotes": "time,flows,bytes\n" + '"' * LONG,
    "commas": "time,flows,bytes\n" + "," * LONG,
    "brackets": '{"PORT": ' + "[" * LONG,
    "ports": '{"PORT":{},"BUFFER_QUEUE":{"' + "a," * (LONG // 2) + '|0-64":{"profile":"x"}}}',
}


MANY = {
    "routes": "".join(f"10.{n >> 8}.{n & 255}.0/24 dev eth0 rto_min 5ms\n" for n in range(60_000)),
    "connections": "".join(
        f"ESTAB 0 0 10.0.0.9:51000 10.1.{n >> 8}.{n & 255}:{1024 + n}\n\t cubic rto:204 rtt:1/1\n"
        for n in range(40_000)
    ),
    "settings": "net.ipv4.tcp_sack = 1\n" * 100_000,
    "queues": "qdisc fq 1: dev e\n Sent 1 bytes 1 pkt (dropped 1, overlimits 1)\n" * 50_000,
}


@pytest.mark.parametrize("text", [*LINES.values(), *MANY.values()], ids=[*LINES, *MANY])
def test_what_is_long_takes_its_length_in_time(tmp_path: Path, text: str) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    began = time.process_time()
    said = _said(path)
    assert time.process_time() - began < 10
    assert len(said) < 20
    assert all(len(line) < 400 and "\n" not in line for line in said)


class Careless:
    """A reader that prints the input unescaped."""

    NAME = "careless"

    @staticmethod
    def recognises(_: str) -> bool:
        """Accept any file."""
        return True

    @staticmethod
    def read(_: str, __: str) -> Taken:
        """Return text with line breaks and an escape."""
        return Taken(took=["a\n\n1. b\x1b[2J"], assumed=["c\nd"])


def test_notes_are_lines_whatever_a_reader_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "my\nfile"
    path.write_text("x")
    monkeypatch.setattr(readers, "READERS", [Careless])
    assert readers.read(path).took == ['"my file" (careless): a 1. b\\x1b[2J']
    assert readers.read(path).assumed == ["Assumed: c d"]


def _said(path: Path) -> list[str]:
    """Return the notes on a file, or the reason why the file is refused."""
    try:
        taken = readers.read(path)
    except AdviceError as error:
        return [str(error)]
    return [*taken.took, *taken.assumed]
