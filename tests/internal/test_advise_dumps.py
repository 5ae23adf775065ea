"""The values read from dumps of hosts: every form of `ss`, counters, network cards and queues.

The inputs are written by hand, in the formats that the manuals of iproute2, net-tools and ethtool
describe.
"""

import random
from pathlib import Path

import pytest

from incast.advise import readers
from incast.advise.readers.taken import Taken
from incast.errors import AdviceError

DETAILS = "cubic wscale:7,7 rto:204 rtt:{rtt}/0.1 ato:40 mss:{mss} cwnd:10 minrtt:{rtt}"


def read(tmp_path: Path, text: str) -> Taken:
    path = tmp_path / "dump"
    path.write_text(text)
    return readers.read(path)


def said(taken: Taken) -> str:
    return " ".join(one.partition("): ")[2] for one in taken.took)


def connection(server: str, *, rtt: float = 0.5, mss: int = 1448, more: str = "") -> str:
    details = DETAILS.format(rtt=rtt, mss=mss)
    return f"ESTAB 0 0 10.0.0.9:51000 {server}\n\t {details}{more}\n"


def several(*rtts: float, port: int = 80) -> str:
    return "".join(connection(f"10.0.0.{host}:{port}", rtt=rtt) for host, rtt in enumerate(rtts, 1))


FORMS = {
    "state filter": "0 0 10.0.0.9:51000 {a}\n\t {d}\n0 0 10.0.0.9:51002 {b}\n\t {d}\n",
    "Netid": "tcp ESTAB 0 0 10.0.0.9:51000 {a}\n\t {d}\ntcp ESTAB 0 0 10.0.0.9:51002 {b}\n\t {d}\n",
    "one line": "ESTAB 0 0 10.0.0.9:51000 {a} {d}\nESTAB 0 0 10.0.0.9:51002 {b} {d}\n",
    "processes and memory": (
        'ESTAB 0 0 10.0.0.9:51000 {a} users:(("a b",pid=1,fd=3)) timer:(keepalive,9min,0) uid:1 '
        "ino:5 sk:1 <->\n\t skmem:(r0,rb131072,t0,tb87040,f0,w0,o0,bl0,d0) {d}\n"
        "ESTAB 0 0 10.0.0.9:51002 {b}\n\t {d}\n"
    ),
    "scopes": "ESTAB 0 0 10.0.0.9%eth0:51000 {a}\n\t {d}\nESTAB 0 0 10.0.0.9:51002 {b}\n\t {d}\n",
    "head": (
        "State Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n"
        "ESTAB 0 0 10.0.0.9:51000 {a}\n\t {d}\nESTAB 0 0 10.0.0.9:51002 {b}\n\t {d}\n"
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("10.0.0.1:80", "10.0.0.2:80"),
        ("[::ffff:10.0.0.1]:80", "[2001:db8::2]:80"),
        ("[fe80::1%eth0]:http", "[fe80::2]:http"),
    ],
)
def test_every_form_of_ss_is_read(tmp_path: Path, form: str, a: str, b: str) -> None:
    text = FORMS[form].format(a=a, b=b, d=DETAILS.format(rtt=0.25, mss=8948))
    changes = read(tmp_path, text).changes
    assert changes["workload.servers"] == 2
    assert changes["network.base_rtt"] == "250000ns"
    assert changes["transport.mss"] == 8948


def test_hosts_are_servers_and_connections_are_not(tmp_path: Path) -> None:
    text = connection("10.0.0.1:80") + connection("10.0.0.1:80") + connection("10.0.0.2:80")
    assert read(tmp_path, text).changes["workload.servers"] == 2


def test_what_cannot_be_of_the_read_is_left_out_and_named(tmp_path: Path) -> None:
    others = (
        "ESTAB 0 0 127.0.0.1:40000 127.0.0.1:80\n\t cubic rto:201 rtt:0.007/0.1 mss:65483\n"
        + connection("203.0.113.7:22", rtt=0.4)
        + connection("10.0.0.77:9100", rtt=0.4)
        + connection("198.51.100.5:80", rtt=90.0)
    )
    taken = read(tmp_path, several(0.5, 0.6, 0.7, 0.8) + others)
    assert taken.changes["workload.servers"] == 4
    assert taken.changes["network.base_rtt"] == "500000ns"
    for left_out in ("127.0.0.1", "1 SSH connection (203.0.113.7)", "10.0.0.77", "198.51.100.5"):
        assert left_out in said(taken)


@pytest.mark.parametrize(
    ("more", "rto_min"),
    [
        ("", "200000us"),
        (" backoff:2 rto:816", "200000us"),
        (" backoff:1 rto:52", "25500us"),
        (" rto:26", "25500us"),
    ],
)
def test_a_doubled_timer_is_divided_again(tmp_path: Path, more: str, rto_min: str) -> None:
    text = "".join(connection(f"10.0.0.{host}:80", more=more) for host in (1, 2))
    assert read(tmp_path, text).changes["transport.rto_min"] == rto_min


def test_routes_that_differ_are_not_taken(tmp_path: Path) -> None:
    default, lan = "default via 10.0.0.254 dev eth0", "10.0.0.0/24 dev eth0 scope link"
    taken = read(tmp_path, f"{default}\n{lan} rto_min lock 10ms\n")
    assert taken.changes["transport.rto_min"] == "10ms"
    assert "10.0.0.0/24 (line 2)" in said(taken)
    both = read(tmp_path, f"{default} rto_min lock 20ms\n{lan} rto_min lock 10ms\n")
    assert "transport.rto_min" not in both.changes
    assert "default" in said(both)
    more = "10.1.0.0/24 dev eth1 scope link"
    other = read(tmp_path, f"{lan} rto_min lock 10ms\n{more} rto_min lock 5ms\n")
    assert "transport.rto_min" not in other.changes
    same = read(tmp_path, f"{lan} rto_min lock 10ms\n{more} rto_min lock 10ms\n")
    assert same.changes["transport.rto_min"] == "10ms"


@pytest.mark.parametrize(
    ("text", "value"), [("1.5s", "1500ms"), ("7", "7ms"), ("250ms", "250ms"), ("2s", "2000ms")]
)
def test_times_of_routes_have_units_or_are_milliseconds(
    tmp_path: Path, text: str, value: str
) -> None:
    taken = read(tmp_path, f"default via 10.0.0.254 dev eth0 rto_min lock {text}\n")
    told = str(taken.changes["transport.rto_min"])
    seconds = float(told.removesuffix("ms")) if told.endswith("ms") else 1e3 * float(told[:-1])
    assert seconds == float(value.removesuffix("ms"))


NSTAT = "#kernel\nTcpOutSegs 2000 0.0\nTcpRetransSegs 60 0.0\nTcpExtTCPTimeouts 7 0.0\n"
NETSTAT = """\
Tcp:
    2000 segments sent out
    60 segments retransmitted
TcpExt:
    7 other TCP timeouts
    TCPSynRetrans: 3
"""
JSON = '{"kernel":{"TcpOutSegs":2000,"TcpRetransSegs":60,"TcpExtTCPTimeouts":7}}'


@pytest.mark.parametrize("text", [NSTAT, NETSTAT, JSON])
def test_counters_of_tcp_are_told_and_change_nothing(tmp_path: Path, text: str) -> None:
    taken = read(tmp_path, text)
    assert taken.changes == {}
    told = said(taken).replace("\N{NO-BREAK SPACE}", " ")
    assert "60 segments of 2000 (3 %) sent again" in told
    assert "7" in told.partition("sent again")[2]


def test_counters_of_netstat_have_the_names_of_the_kernel(tmp_path: Path) -> None:
    assert "Repeated handshakes: 3 (TcpExtTCPSynRetrans)" in said(read(tmp_path, NETSTAT))


def test_a_card_tells_where_packets_are_lost(tmp_path: Path) -> None:
    taken = read(
        tmp_path,
        "NIC statistics:\n     rx_missed_errors: 17\n     rx_crc_errors: 3\n     rx_packets: 9\n"
        "     rx_prio3_pause: 11\n     tx_errors: 0\n",
    )
    told = said(taken)
    for one in ("rx_missed_errors=17", "rx_crc_errors=3", "rx_prio3_pause=11"):
        assert one in told
    assert "rx_packets" not in told
    queues = "NIC statistics:\n     rx_queue_0_drops: 2\n     rx_queue_1_drops: 5\n"
    assert "rx_drops=7" in said(read(tmp_path, queues))
    both = queues + "     rx_drops: 9\n"
    assert "rx_drops=9" in said(read(tmp_path, both)), "the card's own count has all queues"
    none = "NIC statistics:\n     rx_packets: 9\n     rx_drops: 0\n"
    assert said(read(tmp_path, none)) == "No loss in this host's ring is counted."


def test_queues_of_a_host_tell_what_they_dropped_and_marked(tmp_path: Path) -> None:
    text = (
        "qdisc fq 8001: dev eth0 root refcnt 2 limit 10000p maxrate 500Mbit\n"
        " Sent 90 bytes 9 pkt (dropped 4, overlimits 6 requeues 0)\n"
        "qdisc fq_codel 0: dev eth1 root refcnt 2\n"
        " Sent 90 bytes 9 pkt (dropped 0, overlimits 0 requeues 0)\n"
        "  maxpacket 1514 drop_overlimit 0 new_flow_count 1 ecn_mark 8\n"
    )
    told = said(read(tmp_path, text))
    assert 'not in the network: "fq@eth0: 4"' in told
    assert '(overlimits): "fq@eth0: 6"' in told
    assert 'marked in this host: "fq_codel@eth1: 8"' in told
    assert "maxrate 500Mbit" in told


def test_counts_of_a_queue_are_added(tmp_path: Path) -> None:
    text = "qdisc red 1: dev eth0\n Sent 9 bytes 9 pkt (dropped 4, overlimits 0)\n  dropped 3\n"
    assert '"red@eth0: 7"' in said(read(tmp_path, text))


def test_half_of_the_largest_receive_buffer_is_window(tmp_path: Path) -> None:
    taken = read(tmp_path, "net.ipv4.tcp_rmem = 4096 131072 6291456\n")
    assert taken.changes["transport.receive_window"] == f"{6291456 // 2}B"


def test_a_burst_is_among_the_fullest_of_a_hundred_bins(tmp_path: Path) -> None:
    usual = "".join(f"{n},10,10000\n" for n in range(198))
    burst = f"198,40,{40 * 65536}\n199,40,{40 * 65536}\n200,39,{39 * 65536}\n"
    changes = read(tmp_path, f"time,flows,bytes\n{usual}{burst}").changes
    assert changes["workload.servers"] == 40
    assert changes["workload.sru"] == 65536
    uneven = "0,10,10000\n1,40,40000\n2,40,80000\n3,40,400000\n"
    changes = read(tmp_path, f"time,flows,bytes\n{uneven * 40}").changes
    assert changes["workload.sru"] == 2000


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (NSTAT + "TcpOutSegs many\n", "line 5"),
        ("Tcp:\nno table\n", "line 2"),
        ("NIC statistics:\n  rx: many\n", "line 2"),
        ("qdisc fq 1: dev eth0\nwhat\n", "line 2"),
        (several(0.5, 0.6).replace("mss:1448", "mss:" + "9" * 400, 1), "line 2"),
        (several(0.5, 0.6).replace("minrtt:0.5", "minrtt:1.2.3", 1), "line 2"),
        (several(0.5, 0.6).replace("rto:204", "rto:\N{ARABIC-INDIC DIGIT THREE}", 1), "line 2"),
    ],
)
def test_a_line_that_is_not_understood_is_named(tmp_path: Path, text: str, line: str) -> None:
    with pytest.raises(AdviceError) as error:
        read(tmp_path, text)
    assert line in str(error.value)
    assert "\n" not in str(error.value)


WHOLE = [
    *(several(0.5, 0.6, 0.7), NSTAT, NETSTAT, JSON),
    "NIC statistics:\n     rx_missed_errors: 17\n",
    "qdisc fq 8001: dev eth0\n Sent 90 bytes 9 pkt (dropped 4, overlimits 6 requeues 0)\n",
    "default via 10.0.0.254 dev eth0 rto_min lock 20ms\n",
    "net.ipv4.tcp_rmem = 4096 131072 6291456\nnet.ipv4.tcp_sack = 0\n",
    "time_s,flows,bytes\n0.000,2,4096\n0.001,40,2621440\n",
    '{"PORT": {"E": {"speed": "1000"}}, "QUEUE": {"E|0": {"wred_profile": "X"}}}',
]
PIECES = [
    *("", "\x00", "\x1b[31m", "\n", "9" * 50, "-1", "nan", "inf", "1e999", "{", "[", '"', ":"),
    *(" " * 5000, "\N{ARABIC-INDIC DIGIT THREE}", "%", ",", "rto:", "default", "ESTAB 0 0"),
]


def test_damaged_dumps_are_read_or_refused_in_one_line(tmp_path: Path) -> None:
    chance = random.Random(7)
    for _ in range(1500):
        text = chance.choice(WHOLE)
        for _ in range(chance.randint(1, 4)):
            at, length = chance.randrange(len(text) + 1), chance.choice((0, 1, 3, 20))
            text = text[:at] + chance.choice(PIECES) + text[at + length :]
        lines = _outcome(tmp_path, text)
        assert all("\n" not in one and "\x1b" not in one for one in lines)
        assert sum(map(len, lines)) < 3000


def _outcome(tmp_path: Path, text: str) -> list[str]:
    """Return the notes on a dump, or the reason why the dump is refused."""
    try:
        taken = read(tmp_path, text)
    except AdviceError as error:
        return [str(error)]
    return [*taken.took, *taken.assumed]
