//! Networks of several switches.

use incast_engine::{Limit, Rate, Span};
use incast_net::topology::SwitchId;
use serde_json::{Value, json};

use super::{load, refusal};

const CHAIN: (&str, Value) = ("network.topology", Value::Null);

fn chain(keys: &[(&str, Value)]) -> Vec<(&'static str, Value)> {
    let keys = keys.iter().map(|(key, value)| {
        let key: &'static str = Box::leak(key.to_string().into_boxed_str());
        (key, value.clone())
    });
    [(CHAIN.0, json!("chain"))].into_iter().chain(keys).collect()
}

#[test]
fn links_between_switches_are_like_the_others_unless_the_scenario_says_otherwise() {
    assert_eq!(load(&[]).network.core, None);
    let network = load(&chain(&[("network.delay", json!("7us"))])).network;
    let core = network.core.expect("a chain has trunks");
    assert_eq!((core.rate, core.delay), (Rate(1_000_000_000), Span::from_micros(7)));
    assert_eq!((core.buffer, core.queue), (Limit::Bytes(102_400), network.queue));

    let keys = [
        ("network.core.rate", json!("10Gbps")),
        ("network.core.buffer", json!("4MB")),
        ("network.core.queue", json!("codel")),
    ];
    let network = load(&chain(&keys)).network;
    let core = network.core.expect("a chain has trunks");
    assert_eq!((core.rate, core.buffer), (Rate(10_000_000_000), Limit::Bytes(4_000_000)));
    assert!(core.queue.acts_at_departure() && !network.queue.acts_at_departure());
}

#[test]
fn links_between_switches_may_have_room_for_every_window() {
    let core = |buffer: Value| {
        let network = load(&chain(&[("network.core.buffer", buffer)])).network;
        let core = network.core.expect("a chain has trunks");
        (core.buffer, network.buffer)
    };
    // Four servers send 64 KiB each, which are 44.9 segments of 1460 bytes. The other ports keep
    // their buffer size.
    assert_eq!(core(json!("auto")), (Limit::Packets(180), Limit::Bytes(102_400)));
    let own = json!({ "name": "auto", "window": 7 });
    assert_eq!(core(own), (Limit::Packets(28), Limit::Bytes(102_400)));
    let fixed = json!({ "name": "static", "limit": "50pkt" });
    assert_eq!(core(fixed).0, Limit::Packets(50));
}

#[test]
fn hosts_are_where_the_topology_has_them_or_where_the_scenario_puts_them() {
    let places = |keys: &[(&str, Value)]| {
        let scenario = load(keys);
        (scenario.network.clients_at.clone(), scenario.groups()[0].at.clone())
    };
    let at = |places: &[u32]| places.iter().copied().map(SwitchId).collect::<Vec<_>>();
    assert_eq!(places(&[]), (at(&[0]), at(&[0])));
    assert_eq!(places(&chain(&[])), (at(&[2]), at(&[0])));
    let racks = [("network.topology", json!({ "name": "two-tier", "racks": 3 }))];
    assert_eq!(places(&racks), (at(&[0, 1, 2]), at(&[1, 2, 0])));
    let given = [("network.client_at", json!(0)), ("workload.servers_at", json!([1, 2, 1]))];
    assert_eq!(places(&chain(&given)), (at(&[0]), at(&[1, 2, 1])));
}

#[test]
fn the_base_round_trip_counts_every_link() {
    let network = load(&chain(&[("network.core.rate", json!("10Gbps"))])).network;
    let transport = load(&[]).transport;
    assert_eq!(network.trunks_between(&[SwitchId(0)], &[0]), 2);
    assert_eq!(network.trunks_between(&[SwitchId(2), SwitchId(1)], &[0]), 1);
    // Each link has a delay of 25 us. A full packet takes 12 us and its ACK 0.32 us on a host's
    // link. Between switches, they take a tenth of these times.
    let expected = Span::from_nanos(8 * 25_000 + 2 * 12_320 + 2 * 1_232);
    assert_eq!(network.base_rtt(&transport, 2), expected);
}

#[test]
fn the_path_between_two_clients_has_the_links_of_both() {
    let keys = [
        ("network.delay", json!("7us")),
        ("network.server_delay", json!("5us")),
        ("network.core.delay", json!("100us")),
    ];
    let network = load(&chain(&keys)).network;
    assert_eq!(network.delay_among_clients(0), Span::from_micros(2 * 7));
    assert_eq!(network.delay_among_clients(3), Span::from_micros(2 * 7 + 3 * 100));
}

#[test]
fn what_a_topology_cannot_have_is_refused_by_name() {
    let refused = |keys: &[(&str, Value)], line: &str| assert_eq!(refusal(keys), line);
    refused(
        &[("network.topology", json!({ "name": "chain", "switches": 0 }))],
        "network.topology.switches: 0 is out of range; must be 1 to 100",
    );
    refused(
        &[("network.topology", json!({ "name": "star", "switches": 2 }))],
        "network.topology.switches: unknown key; \"star\" takes no parameters",
    );
    refused(
        &[("network.core.rate", json!("10Gbps"))],
        "network.core: \"star\" has no links between switches; leave it out, or write e.g. \
         topology = \"chain\"",
    );
    refused(
        &chain(&[("workload.servers_at", json!([0, 3]))]),
        "workload.servers_at: there is no switch 3; write 0 to 2",
    );
    refused(
        &[("network.client_at", json!(1))],
        "network.client_at: there is no switch 1; there is only switch 0",
    );
    refused(
        &chain(&[("network.client_at", json!([]))]),
        "network.client_at: an empty list names no switch; write e.g. [0]",
    );
    refused(
        &chain(&[("network.client_at", json!("last"))]),
        "network.client_at: \"last\" is not accepted; write a number, or a list of numbers",
    );
    refused(
        &[("network.clients", json!(0))],
        "network.clients: 0 is out of range; must be 1 to 1000000",
    );
}

#[test]
fn what_several_switches_cannot_have_is_refused_by_name() {
    let refused = |keys: &[(&str, Value)], line: &str| assert_eq!(refusal(keys), line);
    refused(
        &chain(&[("network.base_rtt", json!("100us"))]),
        "network.base_rtt: applies to one switch; with several switches, give network.delay, which \
         applies to each link",
    );
    refused(
        &chain(&[("network.core.buffer", json!("1KB"))]),
        "network.core.buffer: 1000B cannot hold one full packet of 1500 bytes; write at \
         least that, or \"1pkt\"",
    );
    let shared = json!({ "name": "dynamic", "total": "4MB" });
    refused(
        &chain(&[("network.buffer", shared), ("network.core.buffer", json!("1MB"))]),
        "network.core.buffer: excludes a buffer that the ports of a switch share; leave it out, \
         or write network.buffer as a size",
    );
    refused(
        &chain(&[("network.core.buffer", json!({ "name": "dynamic", "total": "4MB" }))]),
        "network.core.buffer: links between switches have no memory of their own to share; write \
         a size or \"auto\", or share network.buffer",
    );
    refused(
        &chain(&[("network.core.buffer", json!({ "name": "auto", "window": 0 }))]),
        "network.core.buffer.window: must be above 0, or there is no buffer; write e.g. \"64KiB\" \
         or 10",
    );
    refused(
        &chain(&[("network.core.queue", json!({ "name": "red", "min_th": "200%" }))]),
        "network.core.queue.min_th: \"200%\" is not a share of a buffer; write 0% to 100%, in \
         steps of 0.0001%",
    );
    refused(
        &[("network.reorder", json!({ "p": 0.1, "delay": "1us", "links": "core" }))],
        "network.reorder.links: there are no links between switches; write all, client or servers",
    );
    let from_servers = json!([{ "name": "cbr", "rate": "1Mbps", "from": "servers", "at": 1 }]);
    refused(
        &chain(&[("background", from_servers)]),
        "background.0.at: must not be given: the servers already have switches; leave it out, or \
         write from = \"host\"",
    );
}
