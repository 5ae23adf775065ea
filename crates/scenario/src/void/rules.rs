//! Keys without effect, and their causes.

use std::collections::BTreeMap;

use std::borrow::Cow;

use incast_engine::Limit;
use incast_remedies::schedule::FullPacket;
use serde_json::{Value, json};

use super::{Finding, pointer};
use crate::{Group, Reorder, Scenario, Transport};

/// Keys of a table; the condition on other keys under which these keys have no effect; the reason;
/// a change that would give the keys an effect.
type Rule = (&'static [&'static str], fn(&Value) -> bool, &'static str, &'static str);

/// Rules for a transport, on its resolved table.
const TRANSPORT: &[Rule] = &[
    (
        &["timestamp_granularity"],
        |it| it["timestamps"] == false,
        "timestamps is false",
        "write timestamps = true",
    ),
    (
        &["timer_phase"],
        |it| it["timer_tick"] == "0s",
        "timer_tick is 0, so timers have no ticks",
        "write timer_tick = \"4ms\"",
    ),
    (
        &["tso_deferral"],
        |it| it["segmentation_offload"] != "off",
        "segmentation_offload is on, which defers small bursts",
        "write segmentation_offload = \"off\"",
    ),
    (
        &["rtt_sampling"],
        |it| it["timestamps"] == true && it["rtt_sampling"] == "per-window",
        "timestamps is true, which times every ACK",
        "write timestamps = false",
    ),
    (
        &["dsack", "sack_option_bytes"],
        |it| it["sack"] == false,
        "sack is false",
        "write sack = true, or a recovery that needs it",
    ),
    (
        &["limited_transmit_resends"],
        |it| it["limited_transmit"] == false,
        "limited_transmit is false",
        "write limited_transmit = true",
    ),
    (
        &["limited_transmit_resends"],
        is_selective,
        "recovery uses selective acknowledgements",
        "write e.g. recovery = \"newreno\"",
    ),
    (&["ecn_packets"], |it| it["ecn"] == "off", "ecn is off", "write ecn = \"on\""),
    (
        &["rto_after_syn_loss", "syn_loss_is_timeout"],
        |it| it["handshake"] == "none",
        "handshake is \"none\"",
        "write handshake = \"three-way\"",
    ),
    (
        &["prr", "rto_backs_off_in_recovery"],
        |it| it["recovery"]["name"] == "tahoe",
        "recovery is \"tahoe\", which has no fast recovery",
        "write e.g. recovery = \"newreno\"",
    ),
    (
        &["initial_ssthresh"],
        |it| named(&it["congestion_control"], &["bbr", "swift"]),
        "congestion_control has no slow-start threshold",
        "write e.g. congestion_control = \"reno\"",
    ),
];

/// Rules for a loss recovery, on the resolved table of the transport.
const RECOVERY: &[Rule] = &[
    (
        &["probe_rtts", "probe_initial", "max_ack_delay"],
        |it| it["recovery"]["probes"] == 0,
        "probes is 0",
        "write probes = 1",
    ),
    (
        &["dsack_persistence"],
        |it| it["recovery"]["dsack_adaptation"] == false,
        "dsack_adaptation is false",
        "write dsack_adaptation = true",
    ),
    (
        &["dsack_adaptation", "dsack_persistence"],
        |it| it["dsack"] == false,
        "transport.dsack is false",
        "write transport.dsack = true",
    ),
    (
        &["retransmit_tail"],
        |it| it["recovery"]["retransmit_holes"] == false,
        "retransmit_holes is false",
        "write retransmit_holes = true",
    ),
    (
        &["partial_acks"],
        |it| it["prr"] == "off",
        "transport.prr is \"off\"",
        "write transport.prr = \"linux\"",
    ),
    (
        &["in_turn"],
        |it| it["send_jitter"] == "0s",
        "transport.send_jitter is 0s, so nothing waits",
        "write e.g. transport.send_jitter = \"10us\"",
    ),
];

/// Rules for a congestion control, on the resolved table of the transport.
const CONGESTION_CONTROL: &[Rule] = &[
    (
        &["least_urgency", "greatest_urgency"],
        |it| it["congestion_control"]["deadline"].is_null(),
        "deadline is not given",
        "write e.g. deadline = \"20ms\"",
    ),
    (
        &["slow_start_limit"],
        |it| it["congestion_control"]["byte_counting"] == false,
        "byte_counting is false",
        "write byte_counting = true",
    ),
    (&["hop"], |it| it["congestion_control"]["hops"] == 0, "hops is 0", "write e.g. hops = 2"),
    (
        &["hops"],
        |it| it["congestion_control"]["hop"] == "0s",
        "hop is 0s",
        "write e.g. hop = \"1us\"",
    ),
    (
        &["least_scaled_window", "greatest_scaled_window"],
        |it| it["congestion_control"]["flow_scaling"] == 0.0,
        "flow_scaling is 0",
        "write e.g. flow_scaling = 1.0",
    ),
    (
        &["ack_round_trips"],
        |it| it["delayed_ack"] == false,
        "transport.delayed_ack is false",
        "write transport.delayed_ack = true",
    ),
    (
        &["ce_change"],
        |it| it["delayed_ack"] == false && it["receive_offload"] == false,
        "transport.delayed_ack is false, so no ACK is delayed",
        "write transport.delayed_ack = true",
    ),
];

/// Rules for a remedy, on its resolved table.
const REMEDY: &[Rule] = &[
    (
        &["full", "round_trips", "rto_min"],
        |it| it["adaptive"] == false,
        "adaptive is false",
        "write adaptive = true",
    ),
    (
        &["observed"],
        |it| it["base_rtt"] == "given" && it["sru"] == "given",
        "base_rtt and sru are given",
        "write e.g. sru = \"learned\"",
    ),
    (&["threshold"], |it| it["early"] == false, "early is false", "write early = true"),
    (&["clock"], |it| it["timestamps"] == false, "timestamps is false", "write timestamps = true"),
    (
        &["min_window"],
        |it| it["admission"] == false,
        "admission is false",
        "write admission = true",
    ),
    (&["when"], |it| it["copies"] == 0, "copies is 0", "write e.g. copies = 3"),
];

/// Rules for a queue discipline, on its resolved table.
const QUEUE: &[Rule] = &[
    (&["hard_drop"], |it| it["ecn"] == false, "ecn is false", "write ecn = true"),
    (
        &["threshold", "weight"],
        |it| it["by"] == "train",
        "by is \"train\"",
        "write by = \"variation\"",
    ),
    (
        &["train", "train_gap"],
        |it| named_in(&it["by"], &["variation", "rate"]),
        "by is not \"train\"",
        "write by = \"train\"",
    ),
    (
        &["threshold", "counts_in_service"],
        |it| it["early"] == false,
        "early is false",
        "write early = true",
    ),
];

fn named(part: &Value, names: &[&str]) -> bool {
    named_in(&part["name"], names)
}

fn named_in(name: &Value, names: &[&str]) -> bool {
    name.as_str().is_some_and(|name| names.contains(&name))
}

fn is_selective(transport: &Value) -> bool {
    named(&transport["recovery"], &["sack", "sack1", "rack-tlp"])
}

/// Findings in one document.
struct Search {
    found: Vec<Finding>,
}

/// The keys of `document` without effect in its scenario.
pub(super) fn find(document: &Value, scenario: &Scenario) -> Vec<Finding> {
    let resolved = scenario.resolved();
    let mut search = Search { found: Vec::new() };
    search.transport("transport", &document["transport"], &resolved["transport"]);
    let tables = document["background"].as_array().into_iter().flatten();
    for (index, table) in tables.enumerate() {
        let place = format!("background.{index}.transport");
        let resolved = &resolved["background"][index]["transport"];
        search.transport(&place, &table["transport"], resolved);
    }
    let network = (&document["network"], &resolved["network"]);
    search.apply("network.queue", &network.0["queue"], &network.1["queue"], QUEUE);
    let core = (&network.0["core"]["queue"], &network.1["core"]["queue"]);
    search.apply("network.core.queue", core.0, core.1, QUEUE);
    search.network(document, scenario);
    search.marks(document, scenario);
    search.ends(document, scenario);
    search.thresholds(document, scenario);
    search.found
}

impl Search {
    /// Applies the rules to the keys of the table `given`. `decides` has the values of the deciding
    /// keys.
    fn apply(&mut self, place: &str, given: &Value, decides: &Value, rules: &[Rule]) {
        let Some(given) = given.as_object() else { return };
        for (keys, is_void, because, write) in rules {
            let mut keys =
                keys.iter().filter(|key| given.get(**key).is_some_and(|it| !it.is_null()));
            for key in keys.by_ref().filter(|_| is_void(decides)) {
                self.add(format!("{place}.{key}"), *because, *write);
            }
        }
    }

    fn add(
        &mut self,
        key: String,
        because: impl Into<Cow<'static, str>>,
        write: impl Into<Cow<'static, str>>,
    ) {
        let (because, write) = (because.into().into_owned(), write.into().into_owned());
        self.found.push(Finding { key, because, write });
    }

    /// Searches the keys of a transport and of its parts.
    fn transport(&mut self, place: &str, given: &Value, resolved: &Value) {
        self.apply(place, given, resolved, TRANSPORT);
        let part = |key: &str| format!("{place}.{key}");
        self.apply(&part("recovery"), &given["recovery"], resolved, RECOVERY);
        let control = &given["congestion_control"];
        self.apply(&part("congestion_control"), control, resolved, CONGESTION_CONTROL);
        let remedies = resolved["remedies"].as_array().into_iter().flatten();
        let remedy = |name: &Value| remedies.clone().find(|remedy| remedy["name"] == *name);
        for (index, table) in given["remedies"].as_array().into_iter().flatten().enumerate() {
            if let Some(remedy) = remedy(&table["name"]) {
                self.apply(&format!("{place}.remedies.{index}"), table, remedy, REMEDY);
            }
        }
        for (part, table) in [("congestion_control", control), ("name", &given["name"])] {
            // The resolved table has a target in any case.
            if !table["base_target"].is_null() && !table["target_ratio"].is_null() {
                let key = format!("{place}.{part}.target_ratio");
                self.add(key, "base_target is given", "leave base_target out");
            }
        }
        let name = &given["name"];
        if let Some(remedy) = remedy(&name["name"]) {
            self.apply(&part("name"), name, remedy, REMEDY);
        } else if name["name"] == resolved["recovery"]["name"] {
            self.apply(&part("name"), name, resolved, RECOVERY);
        } else {
            self.apply(&part("name"), name, resolved, CONGESTION_CONTROL);
        }
    }

    fn network(&mut self, document: &Value, scenario: &Scenario) {
        let given = &document["network"];
        let network = &scenario.network;
        let has = |key: &str| !given[key].is_null();
        let core_rate = network.core.is_none() || !given["core"]["rate"].is_null();
        if has("rate") && has("server_rate") && has("client_rate") && core_rate {
            let because = "server_rate and client_rate set the rate of every link";
            self.add("network.rate".to_owned(), because, "leave one of these out");
        }
        let Some(Reorder { reordering, .. }) = network.reorder else { return };
        for (key, other, is_void) in
            [("delay", "p", reordering.p == 0.0), ("p", "delay", reordering.delay.is_zero())]
        {
            if is_void {
                let because = format!("network.reorder.{other} is 0");
                self.add(format!("network.reorder.{key}"), because, "write a value above 0");
            }
        }
    }

    /// Finds ECN that has no effect because no switch marks packets. The opposite is not an error:
    /// a switch may mark although no traffic uses ECN.
    fn marks(&mut self, document: &Value, scenario: &Scenario) {
        let network = &scenario.network;
        let switch_marks =
            network.queue.marks() || network.core.as_ref().is_some_and(|core| core.queue.marks());
        let transports = scenario.transports();
        for (place, transport) in &transports {
            let given = document.pointer(&pointer(&format!("{place}.ecn")));
            let has_ecn = transport.tcp().is_some_and(|tcp| tcp.config.ecn.is_some());
            if given == Some(&json!("on")) && has_ecn && !switch_marks {
                let because = "no switch marks packets (network.queue)";
                let write = "write e.g. network.queue = \"ecn-threshold\"";
                self.add(format!("{place}.ecn"), because, write);
            }
        }
    }

    /// Finds the key `fin` of connections that never end.
    fn ends(&mut self, document: &Value, scenario: &Scenario) {
        // Several groups may share a transport, and the connections of one of these groups may end.
        let mut endless: BTreeMap<String, Option<&str>> = BTreeMap::new();
        for group in scenario.groups() {
            if let Some((load, _)) = group.load() {
                let because = endless.entry(group.transport_key.clone()).or_insert(load.endless);
                *because = because.and(load.endless);
            }
        }
        for (place, because) in endless {
            let Some(because) = because else { continue };
            let key = format!("{place}.fin");
            if document.pointer(&pointer(&key)).is_some_and(|it| !it.is_null()) {
                self.add(key, because, "leave it out");
            }
        }
    }

    /// Finds thresholds that no queue reaches.
    fn thresholds(&mut self, document: &Value, scenario: &Scenario) {
        let network = &scenario.network;
        let packet = least_packet(scenario);
        let core = network.core.as_ref().map_or(network.buffer, |core| core.buffer);
        let given = &document["network"];
        for (place, given, of, buffer) in [
            ("network.queue", &given["queue"], "network.buffer", network.buffer),
            ("network.core.queue", &given["core"]["queue"], "network.core.buffer", core),
        ] {
            for key in ["threshold", "min_th"] {
                let threshold = serde_json::from_value::<Limit>(given[key].clone());
                if threshold.is_ok_and(|threshold| is_beyond(threshold, buffer, packet)) {
                    let because = format!("no queue grows beyond {of} ({buffer})");
                    self.add(format!("{place}.{key}"), because, "write less");
                }
            }
        }
    }
}

/// Whether a buffer is full before its queue is longer than `threshold`.
fn is_beyond(threshold: Limit, buffer: Limit, packet: u64) -> bool {
    match (threshold, buffer) {
        (Limit::Packets(threshold), Limit::Packets(buffer))
        | (Limit::Bytes(threshold), Limit::Bytes(buffer)) => threshold >= buffer,
        (Limit::Packets(threshold), Limit::Bytes(buffer)) => {
            threshold.saturating_mul(packet) >= buffer
        }
        // A buffer that counts packets may hold large packets, so its queue may reach a threshold
        // in bytes.
        (Limit::Bytes(_), Limit::Packets(_)) => false,
    }
}

/// The smallest size of the full packets and datagrams of all groups, bytes. For a
/// transfer shorter than a segment, the length of the transfer counts.
fn least_packet(scenario: &Scenario) -> u64 {
    let of = |transport: &Transport, most: u64| {
        let FullPacket { payload, header } = transport.full_packet();
        u64::from(payload).min(most) + u64::from(header)
    };
    let least = |group: &Group<'_>| match (group.load(), group.config.workload().offered()) {
        (Some((load, transport)), _) => of(transport, load.least),
        (None, Some(datagrams)) => u64::from(datagrams.packet),
        (None, None) => u64::MAX,
    };
    scenario.groups().iter().map(least).min().unwrap_or(u64::MAX)
}
