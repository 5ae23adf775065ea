//! Defaults, profiles, and values that depend on other keys.

use incast_engine::{Limit, Rate, Span};
use incast_net::queue::QueueConfig;
use incast_tcp::config::{DelayedAck, EcnPackets, Handshake, IdleRestart, RttSampling, UndoKind};
use incast_tcp::send::rtt::{BackoffEnd, IdleTimer, RtoFloor, RttClock};
use serde_json::{Value, json};

use incast_traffic::barrier_read::Connections;

use super::super::{Opener, Table};
use super::OfTcp;
use super::load;
use super::read_of;

fn profile(name: &str) -> super::Scenario {
    load(&[("profile", json!(name))])
}

#[test]
fn the_lab_is_the_default() {
    let scenario = load(&[]);
    let (network, tcp) = (&scenario.network, &scenario.transport.of_tcp());
    assert_eq!(
        (network.server_rate, network.client_rate),
        (Rate(1_000_000_000), Rate(1_000_000_000))
    );
    assert_eq!(
        (network.server_delay, network.client_delay),
        (Span::from_micros(25), Span::from_micros(25))
    );
    assert_eq!((network.buffer, network.buffer_counts_in_service), (Limit::Bytes(102_400), false));
    assert_eq!((tcp.mss, tcp.header, tcp.ack_size, tcp.initial_window), (1460, 40, 40, 2920));
    assert_eq!((tcp.initial_ssthresh, tcp.receive_window), (4 << 20, 4 << 20));
    assert_eq!((tcp.rto.min, tcp.rto.max), (Span::from_millis(200), Span::from_secs(60)));
    assert!(tcp.limited_transmit && tcp.delayed_ack.is_none() && tcp.timestamps.is_none());
    assert_eq!((tcp.idle_restart, tcp.recovery_burst), (IdleRestart::None, None));
    let read = read_of(&scenario);
    assert_eq!((read.blocks, read.duration, read.connections), (Some(1), None, Connections::Fresh));
    assert_eq!(scenario.run.seeds, [1, 2, 3, 4, 5]);
}

#[test]
fn a_transport_that_counts_marks_gets_a_switch_that_marks() {
    let marks = |keys: &[(&str, Value)]| {
        let scenario = load(keys);
        (scenario.network.queue.marks(), scenario.transport.of_tcp().ecn)
    };
    assert_eq!(marks(&[]), (false, None));
    assert_eq!(marks(&[("transport.name", json!("dctcp"))]), (true, Some(EcnPackets::Data)));
    let part = ("transport.congestion_control", json!("l2dct"));
    assert_eq!(marks(&[part]), (true, Some(EcnPackets::Data)));
    let beside = json!([{ "name": "long-flow", "transport": "dctcp" }]);
    assert_eq!(marks(&[("background", beside)]), (true, None));
    let classic = [("transport.ecn", json!("on")), ("network.queue", json!("ecn-threshold"))];
    assert_eq!(marks(&classic), (true, Some(EcnPackets::NewData)));
    let all = [("transport.name", json!("dctcp")), ("transport.ecn_packets", json!("all"))];
    assert_eq!(marks(&all), (true, Some(EcnPackets::All)));
}

#[test]
fn the_ns2_profile_is_the_reference_data_s_configuration() {
    let scenario = profile("ns2");
    let (network, tcp) = (&scenario.network, &scenario.transport.of_tcp());
    assert_eq!((network.buffer, network.buffer_counts_in_service), (Limit::Packets(32), true));
    assert_eq!(network.server_delay, Span::from_micros(50));
    assert_eq!((tcp.mss, tcp.receive_window, tcp.initial_ssthresh), (1024, 1_024_000, 1_024_000));
    assert_eq!(
        (scenario.transport.tcp().map(|tcp| tcp.opener), tcp.handshake),
        (Some(Opener::Server), Handshake::SynOnly)
    );
    assert_eq!((tcp.rto.clock, tcp.rto.granularity), (RttClock::Ticks, Span::from_micros(10)));
    assert_eq!(tcp.rto.idle, IdleTimer::Runs);
    assert_eq!((tcp.rto.initial, tcp.syn_rto), (Span::from_secs(3), Span::from_secs(3)));
    assert_eq!((tcp.rtt_sampling, tcp.recovery_burst), (RttSampling::PerWindow, Some(2)));
    assert_eq!(json!(tcp.recovery)["exit"], "keep");
    assert_eq!(json!(tcp.congestion_control)["reduce_from"], "cwnd");
}

#[test]
fn the_rfc_profile_has_every_should() {
    let tcp = profile("rfc").transport.of_tcp();
    assert_eq!((tcp.rto.min, tcp.rto.initial), (Span::from_secs(1), Span::from_secs(1)));
    assert_eq!(tcp.initial_window, 3 * 1460);
    let timeout = Span::from_millis(200);
    let plain =
        DelayedAck { segments: 2, timeout, quickack: 0, pingpong: false, below_rto_min: false };
    assert_eq!(tcp.delayed_ack, Some(plain));
    assert_eq!(tcp.idle_restart, IdleRestart::Rfc5681);
    assert!(tcp.dupack_requires_same_window && tcp.fin);
    assert_eq!(json!(tcp.recovery)["restart_timer_on_entry"], false);
}

#[test]
fn the_linux_profile_is_linux_s_defaults() {
    let scenario = profile("linux");
    let tcp = &scenario.transport.of_tcp();
    assert_eq!((scenario.transport.name.as_str(), scenario.network.layer2_overhead), ("cubic", 38));
    assert_eq!((tcp.mss, tcp.header, tcp.ack_size), (1448, 52, 52));
    assert_eq!((tcp.initial_window, tcp.timestamps), (14_480, Some(Span::from_micros(1))));
    assert_eq!((tcp.rto.floor, tcp.rto.min), (RtoFloor::Variance, Span::from_millis(200)));
    let timeout = Span::from_millis(40);
    let delayed_ack =
        DelayedAck { segments: 2, timeout, quickack: 16, pingpong: true, below_rto_min: true };
    assert_eq!((tcp.delayed_ack, tcp.ecn), (Some(delayed_ack), None));
    assert_eq!((tcp.idle_restart, tcp.undo), (IdleRestart::Rfc2861, UndoKind::Linux));
    assert!(tcp.sack.is_some_and(|sack| sack.dsack && sack.takes_room));
    let (recovery, control) = (json!(tcp.recovery), json!(tcp.congestion_control));
    assert_eq!(
        (&recovery["name"], &recovery["timer_margin"]),
        (&json!("rack-tlp"), &json!("0.002s"))
    );
    assert_eq!(control["name"], "cubic");
    assert_eq!(
        (&control["hystart"]["name"], &control["reduce_from"]),
        (&json!("linux"), &json!("cwnd"))
    );
}

#[test]
fn linux_with_dctcp_is_a_profile_and_a_preset_of_the_other() {
    let dctcp = profile("linux-dctcp");
    assert!(dctcp.network.queue.marks());
    assert_eq!(dctcp.transport.of_tcp().ecn, Some(EcnPackets::All));
    assert_eq!(json!(dctcp.transport.of_tcp().congestion_control)["react_at"], "first-ece");
    assert!(dctcp.transport.of_tcp().recovery.traits().selective);
    let chosen = load(&[("profile", json!("linux")), ("transport.name", json!("dctcp"))]);
    assert_eq!(chosen.resolved()["transport"], dctcp.resolved()["transport"]);
    assert_eq!(chosen.resolved()["network"], dctcp.resolved()["network"]);
}

#[test]
fn the_ns3_profile_is_the_reference_data_s_configuration() {
    let scenario = profile("ns3");
    assert_eq!(scenario.transport.of_tcp().rto.backoff_ends, BackoffEnd::NewData);
    let (network, tcp) = (&scenario.network, &scenario.transport.of_tcp());
    assert_eq!((network.buffer, network.layer2_overhead), (Limit::Bytes(100_000), 2));
    assert_eq!((tcp.mss, tcp.header, tcp.initial_window), (1460, 40, 14_600));
    assert_eq!(
        (scenario.transport.tcp().map(|tcp| tcp.opener), tcp.handshake),
        (Some(Opener::Server), Handshake::ThreeWay)
    );
    assert!(tcp.sack.is_some_and(|sack| sack.takes_room));
    assert!(tcp.delayed_ack.is_none() && tcp.timestamps.is_none());
    let dctcp = load(&[("profile", json!("ns3")), ("transport.name", json!("dctcp"))]);
    assert_eq!(dctcp.transport.of_tcp().ecn, Some(EcnPackets::All));
    assert!(dctcp.transport.of_tcp().sack.is_some());
}

#[test]
fn a_profile_has_its_own_idea_of_a_transport() {
    let parts = |profile: &str, name: &str| {
        let tcp = load(&[("profile", json!(profile)), ("transport.name", json!(name))])
            .transport
            .of_tcp();
        (json!(tcp.recovery), json!(tcp.congestion_control))
    };
    let (recovery, vegas) = parts("ns2", "vegas");
    assert_eq!((&recovery["exit"], &vegas["alpha"]), (&json!("keep"), &json!(1)));
    assert_eq!(parts("lab", "vegas").1["alpha"], 2);
    let vegas = [("profile", json!("ns2")), ("transport.name", json!("vegas"))];
    let tcp = load(&vegas).transport.of_tcp();
    assert!(tcp.rto.backs_off_in_recovery && tcp.header == 0 && !tcp.limited_transmit);
    assert_eq!(parts("linux", "westwood").1["min_interval"], "0.05s");
    assert_eq!(parts("linux", "bbr").1["burst"], 2);
    assert_eq!(parts("linux", "bbr").1["burst_time"], "0.001s");
    assert_eq!(parts("lab", "bbr").1["burst"], 1);
    assert_eq!(parts("linux", "bic").0["name"], "rack-tlp");
    assert_eq!(parts("linux", "newreno").0["name"], "newreno");
}

#[test]
fn the_profile_ns2_has_its_own_idea_of_red() {
    let red = |keys: &[(&str, Value)]| {
        let network = load(keys).network;
        (json!(network.queue), network.buffer_counts_in_service)
    };
    let ns2 = ("profile", json!("ns2"));
    for given in [json!("red"), json!({ "name": "red", "max_p": 0.2 })] {
        let (queue, in_service) = red(&[ns2.clone(), ("network.queue", given)]);
        assert_eq!((&queue["spacing"], &queue["spares"]), (&json!("wait"), &json!("short-queues")));
        assert_eq!(queue["mean_packet"], 500);
        assert!(!in_service);
    }
    let own = ("network.queue", json!({ "name": "red", "spacing": "at-once" }));
    let counts = ("network.buffer_counts_in_service", json!(true));
    let (queue, in_service) = red(&[ns2.clone(), own, counts]);
    assert_eq!((&queue["spacing"], &queue["spares"]), (&json!("at-once"), &json!("short-queues")));
    assert!(in_service);
    assert!(red(&[ns2]).1, "drop-tail's");
    assert_eq!(red(&[("network.queue", json!("red"))]).0["spacing"], "at-once");
}

/// Linux's parameters of a part apply whatever the transport's name is, because parts may be named
/// one by one.
#[test]
fn linux_has_its_own_parameters_of_every_part_by_name() {
    let chosen = |key: &str, value: Value| {
        let tcp = load(&[("profile", json!("linux")), (key, value)]).transport.of_tcp();
        (json!(tcp.recovery), json!(tcp.congestion_control))
    };
    for given in [json!("newreno"), json!({ "name": "newreno" })] {
        assert_eq!(chosen("transport.recovery", given.clone()).0["impatient"], false);
        assert_eq!(chosen("transport.name", given).0["impatient"], false);
    }
    for (key, given) in [
        ("transport.congestion_control", json!("reno")),
        ("transport.congestion_control", json!({ "name": "reno" })),
        ("transport.name", json!("newreno")),
        ("transport.name", json!("rack-tlp")),
    ] {
        let reno = chosen(key, given).1;
        assert_eq!((&reno["byte_counting"], &reno["slow_start_limit"]), (&json!(true), &json!(0)));
        assert_eq!(reno["reduce_from"], "cwnd-once");
    }
    let given = json!({ "name": "reno", "reduce_from": "flight" });
    let reno = chosen("transport.congestion_control", given).1;
    assert_eq!((&reno["byte_counting"], &reno["reduce_from"]), (&json!(true), &json!("flight")));
    let dctcp = chosen("transport.congestion_control", json!("dctcp")).1;
    assert_eq!(dctcp["react_at"], "first-ece");
}

#[test]
fn an_explicit_key_wins_over_the_profile() {
    let tcp =
        load(&[("profile", json!("ns2")), ("transport.rto_min", json!("1ms"))]).transport.of_tcp();
    assert_eq!((tcp.rto.min, tcp.mss), (Span::from_millis(1), 1024));
}

#[test]
fn a_name_keeps_the_profile_s_parameters_and_a_table_overrides_them_one_by_one() {
    let recovery = |value: Value| {
        let keys = [("profile", json!("ns2")), ("transport.recovery", value)];
        json!(load(&keys).transport.of_tcp().recovery)
    };
    assert_eq!(recovery(json!("newreno"))["exit"], "keep");
    let impatient = recovery(json!({ "impatient": false }));
    assert_eq!((&impatient["impatient"], &impatient["exit"]), (&json!(false), &json!("keep")));
}

#[test]
fn another_name_brings_no_foreign_parameters() {
    let mut queue = json!({ "name": "bernoulli", "p": 0.5 });
    super::super::lay(&mut queue, &json!("drop-tail"));
    assert_eq!(queue, json!({ "name": "drop-tail" }));
    let lossy = load(&[("network.queue", json!({ "name": "bernoulli", "p": 0.25 }))]).network.queue;
    let QueueConfig::Bernoulli(_) = lossy else { panic!("{lossy:?}") };
    assert_eq!(json!(lossy), json!({ "name": "bernoulli", "p": 0.25, "data_only": false }));
}

#[test]
fn null_means_not_given() {
    let tcp = load(&[("transport.rto_min", Value::Null), ("network.queue", Value::Null)])
        .transport
        .of_tcp();
    assert_eq!(tcp.rto.min, Span::from_millis(200));
}

#[test]
fn base_rtt_is_the_round_trip_of_a_full_packet_and_its_ack() {
    let delays = |rate: &str, base_rtt: &str| {
        let keys = [("network.rate", json!(rate)), ("network.base_rtt", json!(base_rtt))];
        let network = load(&keys).network;
        (network.server_delay, network.client_delay)
    };
    let nanos = Span::from_nanos;
    assert_eq!(delays("1Gbps", "100us"), (nanos(18_840), nanos(18_840)));
    assert_eq!(delays("10Gbps", "100us"), (nanos(24_384), nanos(24_384)));
    // Four links of 25 us take 124.64 us at 1 Gbps.
    assert_eq!(delays("1Gbps", "124.64us"), (nanos(25_000), nanos(25_000)));
    // The smallest accepted `base_rtt` leaves no propagation delay.
    assert_eq!(delays("1Gbps", "24.64us"), (Span::ZERO, Span::ZERO));
}

#[test]
fn base_rtt_counts_each_side_s_rate_and_layer_2() {
    let network = load(&[
        ("network.base_rtt", json!("100us")),
        ("network.client_rate", json!("10Gbps")),
        ("network.layer2_overhead", json!("ethernet")),
    ])
    .network;
    // (1538 + 78) bytes at 1 Gbps and at 10 Gbps: 12.928 + 1.2928 us.
    assert_eq!(network.layer2_overhead, 38);
    assert_eq!(network.server_delay, Span::from_picos((100_000_000 - 14_220_800) / 4));
}

#[test]
fn a_server_delay_leaves_the_rest_of_base_rtt_to_the_client() {
    let keys = [("network.base_rtt", json!("100us")), ("network.server_delay", json!("30us"))];
    let network = load(&keys).network;
    assert_eq!(network.server_delay, Span::from_micros(30));
    assert_eq!(network.client_delay, Span::from_nanos(7_680));
    let keys = [("network.base_rtt", json!("100us")), ("network.server_delay", json!("40us"))];
    assert_eq!(
        super::refusal(&keys),
        "network.base_rtt: 100us leave nothing for the links: a full packet and its ACK \
         and network.server_delay already take 104.64us"
    );
}

#[test]
fn a_base_rtt_below_serialisation_is_impossible() {
    assert_eq!(
        super::refusal(&[("network.base_rtt", json!("20us"))]),
        "network.base_rtt: 20us leave nothing for the links: \
         a full packet and its ACK already take 24.64us"
    );
}

#[test]
fn timestamps_lengthen_headers_that_are_not_given() {
    let sizes = |keys: &[(&str, Value)]| {
        let tcp = load(keys).transport.of_tcp();
        (tcp.header, tcp.ack_size, tcp.timestamps)
    };
    let on = ("transport.timestamps", json!(true));
    assert_eq!(sizes(std::slice::from_ref(&on)), (52, 52, Some(Span::from_micros(1))));
    let off = [("profile", json!("linux")), ("transport.timestamps", json!(false))];
    assert_eq!(sizes(&off), (40, 40, None));
    let given = ("transport.header_size", json!(40));
    assert_eq!(sizes(&[on, given]), (40, 52, Some(Span::from_micros(1))));
}

#[test]
fn windows_in_segments_follow_the_mss() {
    let tcp = load(&[
        ("transport.mss", json!(1000)),
        ("transport.initial_window", json!("rfc6928")),
        ("transport.receive_window", json!("20seg")),
        ("transport.initial_ssthresh", json!("64KiB")),
    ])
    .transport
    .of_tcp();
    assert_eq!(
        (tcp.initial_window, tcp.receive_window, tcp.initial_ssthresh),
        (10_000, 20_000, 65_536)
    );
}

#[test]
fn initial_windows_by_rfc() {
    let window = |name: &str, mss: u32| {
        let keys = [("transport.initial_window", json!(name)), ("transport.mss", json!(mss))];
        load(&[&keys[..], &[("network.buffer", json!("9pkt"))]].concat())
            .transport
            .of_tcp()
            .initial_window
    };
    for (mss, rfc5681, rfc6928) in [
        (536, 2_144, 5_360),
        (1_095, 4_380, 10_950),
        (1_096, 3_288, 10_960),
        (1_460, 4_380, 14_600),
        (2_190, 6_570, 14_600),
        (2_191, 4_382, 14_600),
        (9_000, 18_000, 18_000),
    ] {
        assert_eq!((window("rfc5681", mss), window("rfc6928", mss)), (rfc5681, rfc6928), "{mss}");
    }
}

#[test]
fn delayed_acks_are_switched_or_described() {
    let delayed_ack = |profile: &str, value: Value| {
        let keys = [("profile", json!(profile)), ("transport.delayed_ack", value)];
        load(&keys).transport.of_tcp().delayed_ack.map(|it| (it.segments, it.timeout))
    };
    assert_eq!(delayed_ack("lab", json!(true)), Some((2, Span::from_millis(40))));
    assert_eq!(delayed_ack("lab", json!({ "segments": 4 })), Some((4, Span::from_millis(40))));
    assert_eq!(delayed_ack("rfc", json!(true)), Some((2, Span::from_millis(200))));
    assert_eq!(delayed_ack("rfc", json!({ "segments": 4 })), Some((4, Span::from_millis(200))));
    assert_eq!(delayed_ack("rfc", json!(false)), None);
}

#[test]
fn a_block_is_divided_to_the_last_byte() {
    let scenario = load(&[("workload", json!({ "servers": 3, "block": 11 }))]);
    let read = read_of(&scenario);
    assert_eq!(read.block(), 11);
    assert_eq!((0..3).map(|server| read.sru_of(server)).collect::<Vec<_>>(), [4, 4, 3]);
}

#[test]
fn a_duration_replaces_the_number_of_blocks() {
    let scenario = load(&[("workload.duration", json!("20s"))]);
    let read = read_of(&scenario);
    assert_eq!((read.blocks, read.duration), (None, Some(Span::from_secs(20))));
}

#[test]
fn background_traffic_has_defaults_of_its_own() {
    let scenario = load(&[
        ("profile", json!("ns2")),
        ("transport.mss", json!(500)),
        (
            "background",
            json!([
                { "name": "poisson", "rate": "1Mbps" },
                { "name": "cbr", "rate": "2Mbps", "from": "servers", "packet_size": 1500, "start": "1s" },
                { "name": "long-flow", "count": 2, "transport": { "rto_min": "1ms" } },
            ]),
        ),
    ]);
    let [poisson, cbr, flow] = &scenario.traffic.background[..] else { panic!("three tables") };
    let offered = |table: &Table| table.config.workload().offered().expect("datagrams");
    let of = offered(poisson);
    assert_eq!((of.rate, of.packet, of.on_servers), (Rate(1_000_000), 540, false));
    let of = offered(cbr);
    assert_eq!((of.packet, of.on_servers, of.start), (1500, true, Span::from_secs(1)));
    // The background flow is based on the profile's transport, not on the workload's.
    let tcp = flow.transport.as_ref().expect("it has connections").of_tcp();
    assert_eq!((flow.config.workload().count(2), tcp.mss), (2, 1024));
    assert_eq!(tcp.rto.min, Span::from_millis(1));
}

#[test]
fn a_number_of_seeds_or_exactly_these() {
    assert_eq!(load(&[("run.seeds", json!(3))]).run.seeds, [1, 2, 3]);
    assert_eq!(load(&[("run.seeds", json!([7, 0, 9]))]).run.seeds, [7, 0, 9]);
}
