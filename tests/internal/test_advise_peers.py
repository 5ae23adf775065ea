"""Connections of `ss` that belong to a read, and notes on the other connections."""

from pathlib import Path

import pytest

from incast.advise import readers
from incast.advise.readers.taken import Taken
from incast.errors import AdviceError


def line(
    peer: str, rtt: float = 0.5, *, local: str = "10.0.0.9:51000", state: str = "ESTAB", **more: str
) -> str:
    """Return a connection as `ss -tin` prints it; `more` replaces the values of fields."""
    fields = {"rto": "204", "rtt": f"{rtt}/0.1", "mss": "1448", "minrtt": str(rtt)} | more
    control = fields.pop("control", "cubic")
    timer = fields.pop("timer", "")
    details = " ".join(f"{name}:{value}" for name, value in fields.items())
    return f"{state} 0 0 {local} {peer} {timer}\n\t {control} {details}\n"


def read(tmp_path: Path, *lines: str) -> Taken:
    path = tmp_path / "ss.txt"
    path.write_text("".join(lines))
    return readers.read(path)


def told(taken: Taken) -> str:
    return " ".join(one.partition("): ")[2] for one in taken.took)


def hosts(count: int, port: int = 9000, rtt: float = 0.5) -> str:
    return "".join(line(f"10.0.0.{100 + number}:{port}", rtt) for number in range(count))


@pytest.mark.parametrize(
    ("local", "peer"),
    [
        ("127.0.0.1:40000", "127.0.0.1:9000"),
        ("127.0.0.1:40000", "127.9.9.9:9000"),
        ("[::1]:40000", "[::1]:9000"),
        ("[::ffff:127.0.0.1]:40000", "[::ffff:127.0.0.1]:9000"),
        ("192.0.2.7:40000", "192.0.2.7:9000"),
        ("172.17.0.1:40000", "10.0.0.9:9000"),
        ("localhost:40000", "localhost:9000"),
    ],
)
def test_connections_of_a_host_with_itself_have_no_network(
    tmp_path: Path, local: str, peer: str
) -> None:
    taken = read(tmp_path, hosts(3), line(peer, 0.007, local=local))
    assert taken.changes["workload.servers"] == 3
    assert taken.changes["network.base_rtt"] == "500000ns"
    assert "1 connection of this host with itself (" in told(taken)


@pytest.mark.parametrize(
    ("local", "peer"),
    [("10.0.0.9:22", "10.0.0.5:51000"), ("10.0.0.9:51000", "10.0.0.5:ssh")],
)
def test_ssh_is_no_read(tmp_path: Path, local: str, peer: str) -> None:
    taken = read(tmp_path, hosts(2), line(peer, local=local))
    assert taken.changes["workload.servers"] == 2
    assert "1 SSH connection (10.0.0.5)" in told(taken)


def test_connections_that_others_opened_are_another_service(tmp_path: Path) -> None:
    web = [line(f"10.0.1.{number}:40{number:03}", local="10.0.0.9:80") for number in range(5)]
    taken = read(tmp_path, hosts(3), *web)
    assert taken.changes["workload.servers"] == 3
    assert "5 connections that another host opened (10.0.1.0, 10.0.1.1" in told(taken)
    assert "and 1 more" in told(taken)


def test_servers_may_be_those_that_connect(tmp_path: Path) -> None:
    pushes = [line(f"10.0.1.{number}:40{number:03}", local="10.0.0.9:7000") for number in range(5)]
    other = line("10.0.1.9:41000", local="10.0.0.9:7001")
    taken = read(tmp_path, *pushes, other)
    assert taken.changes["workload.servers"] == 5
    assert "whose port is not the usual 7000 (10.0.1.9)" in told(taken)


@pytest.mark.parametrize(
    ("usual", "others", "servers"),
    [(3, 2, 3), (2, 1, 2), (2, 2, 4), (2, 3, 3), (1, 1, 2)],
)
def test_more_than_half_of_the_hosts_have_the_port(
    tmp_path: Path, usual: int, others: int, servers: int
) -> None:
    apart = "".join(line(f"10.0.2.{number}:8443") for number in range(others))
    taken = read(tmp_path, hosts(usual), apart)
    assert taken.changes["workload.servers"] == servers


def test_half_of_the_hosts_are_not_most(tmp_path: Path) -> None:
    apart = [line(f"10.0.2.{number}:{8000 + number}") for number in range(2)]
    assert read(tmp_path, hosts(2), *apart).changes["workload.servers"] == 4


@pytest.mark.parametrize(
    ("one", "same"),
    [
        ("10.0.0.1:80", "[::ffff:10.0.0.1]:80"),
        ("[fe80::1%eth0]:80", "[fe80::1]:80"),
        ("[2001:DB8::1]:80", "[2001:db8:0::1]:80"),
        ("Server-1:80", "server-1:80"),
    ],
)
def test_a_host_has_one_address_in_all_its_forms(tmp_path: Path, one: str, same: str) -> None:
    taken = read(tmp_path, line(one), line(same), line("10.0.0.2:80"))
    assert taken.changes["workload.servers"] == 2


def test_without_states_a_connection_has_a_round_trip(tmp_path: Path) -> None:
    filtered = "".join(hosts(2)).replace("ESTAB ", "")
    taken = read(tmp_path, filtered, "0 0 10.0.0.9:51000 10.0.7.7:9000\n")
    assert taken.changes["workload.servers"] == 2


def test_servers_with_ports_of_their_own_stay(tmp_path: Path) -> None:
    lines = [line(f"10.0.0.{number}:{6800 + number}") for number in range(6)]
    assert read(tmp_path, *lines).changes["workload.servers"] == 6


def test_two_connections_to_each_server_are_one_server(tmp_path: Path) -> None:
    taken = read(tmp_path, hosts(4, 9000), hosts(4, 9001))
    assert taken.changes["workload.servers"] == 4
    assert "8 connections to 4 hosts: 4 servers." in told(taken)
    assert "Left out" not in told(taken)


@pytest.mark.parametrize(
    ("rtt", "belongs"),
    [(0.5 * 49, True), (0.5 * 51, False), (0.5 / 49, True), (0.5 / 51, False), (50.0, False)],
)
def test_a_round_trip_of_another_place_is_left_out(
    tmp_path: Path, rtt: float, belongs: bool
) -> None:
    taken = read(tmp_path, hosts(4), line("10.0.3.3:9000", round(rtt, 4)))
    assert taken.changes["workload.servers"] == (5 if belongs else 4)
    assert ("10.0.3.3" in told(taken)) is not belongs


def test_the_usual_values_count_and_the_shortest_round_trip(tmp_path: Path) -> None:
    lines = [
        line("10.0.0.1:80", 0.30, mss="1448", rto="205"),
        line("10.0.0.2:80", 0.21, mss="1440", rto="230"),
        line("10.0.0.3:80", 0.44, mss="8948", rto="203", control="dctcp"),
        line("10.0.0.4:80", 0.25, mss="1400", rto="260", control="dctcp"),
        line("10.0.0.5:80", 0.26, mss="8948", rto="270", control="dctcp"),
    ]
    assert read(tmp_path, *lines).changes == {
        "workload.servers": 5,
        "network.base_rtt": "210000ns",
        "network.delay": None,
        "transport.mss": 1448,
        "transport.rto_min": "200000us",
        "transport.congestion_control": "dctcp",
    }


@pytest.mark.parametrize(
    ("rto", "taken_us"),
    [
        ("180.6", "200000us"),
        ("220.4", "200000us"),
        ("179", "178500us"),
        ("221", "220500us"),
        ("5.5", "5000us"),
        ("1e+03", "999500us"),
    ],
)
def test_what_is_nearly_the_usual_timer_is_it(tmp_path: Path, rto: str, taken_us: str) -> None:
    lines = [line(f"10.0.0.{number}:80", rto=rto) for number in (1, 2)]
    assert read(tmp_path, *lines).changes["transport.rto_min"] == taken_us


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"timer": "timer:(on,1.6sec,3)", "rto": "41"}, "is retransmitting"),
        ({"timer": "timer:(persist,200ms,1)", "rto": "41"}, "is retransmitting"),
        ({"rto": "120000", "backoff": "12"}, "is retransmitting"),
        ({"timer": "timer:(on,1.6sec,3)", "rto": "4004", "backoff": "3"}, "divided accordingly"),
    ],
)
def test_a_timer_that_was_doubled_is_divided_or_not_taken(
    tmp_path: Path, more: dict[str, str], why: str
) -> None:
    taken = read(tmp_path, line("10.0.0.1:80", rto="300.5"), line("10.0.0.2:80", **more))
    assert taken.changes["transport.rto_min"] == "300000us"
    assert why in told(taken)
    assert "10.0.0.2" in told(taken)


@pytest.mark.parametrize("timer", ["timer:(keepalive,9min,3)", "timer:(on,200ms,0)"])
def test_a_timer_that_has_not_expired_is_taken(tmp_path: Path, timer: str) -> None:
    lines = [line(f"10.0.0.{number}:80", rto="52.5", timer=timer) for number in (1, 2)]
    assert read(tmp_path, *lines).changes["transport.rto_min"] == "52000us"


def test_connections_that_are_not_open_are_left_out(tmp_path: Path) -> None:
    closing = line("10.0.7.7:9000", 0.01, state="FIN-WAIT-1", rto="3")
    listens = "LISTEN 0 128 0.0.0.0:9000 0.0.0.0:*\n\t cubic cwnd:10\n"
    taken = read(tmp_path, hosts(2), closing, listens)
    assert taken.changes["workload.servers"] == 2
    assert taken.changes["network.base_rtt"] == "500000ns"
    assert "1 connection not in the state ESTAB" in told(taken)


def test_sockets_of_other_kinds_are_passed_over(tmp_path: Path) -> None:
    others = (
        "nl UNCONN 0 0 0:0 *\nudp ESTAB 0 0 10.0.0.9:53 10.0.0.8:53\n\t skmem:(r0,rb212992,t0)\n"
        "u_str ESTAB 0 0 * 20 * 21\n"
    )
    taken = read(tmp_path, others, *(f"tcp   {one}" for one in (line("10.0.0.1:80"),)))
    assert "1 connection to 1 host." in told(taken)
    assert "workload.servers" not in taken.changes


def test_what_is_not_simulated_is_said(tmp_path: Path) -> None:
    lines = [line(f"10.0.0.{number}:80", control="htcp") for number in (1, 2)]
    taken = read(tmp_path, *lines)
    assert "transport.congestion_control" not in taken.changes
    assert "htcp, which is not simulated" in told(taken)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (line("127.0.0.1:80", local="127.0.0.1:4000"), "no connection can belong to a read"),
        ("ESTAB 0 0 10.0.0.9:51000 10.0.0.1:80\n", "use ss -tin"),
        (line("10.0.0.1"), "line 1: '10.0.0.1' is not an address and a port"),
        (
            line("10.0.0.1:80", mss="65536"),
            "line 2: 'mss:65536' must have a number from 0 to 65535",
        ),
        ("ESTAB 0 0 10.0.0.9:51000\n", "line 1: must have two queues"),
        ("\t cubic rto:200 rtt:1/1\n", "line 1: has no field"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(AdviceError) as error:
        read(tmp_path, text)
    assert said in str(error.value)
    assert "\n" not in str(error.value)
