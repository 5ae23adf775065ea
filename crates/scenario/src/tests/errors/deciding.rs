//! Keys that have no effect with some values of another key, the deciding key.

use serde_json::Value;

use super::super::{plan, with};

/// A key and its value; other keys that this key needs; the deciding key; the values of the
/// deciding key with which the key has no effect, and the values with which it has an effect.
struct Decided {
    key: &'static str,
    value: &'static str,
    beside: &'static [(&'static str, &'static str)],
    by: &'static str,
    void: &'static [&'static str],
    effective: &'static [&'static str],
}

const fn decided(
    (key, value): (&'static str, &'static str),
    beside: &'static [(&'static str, &'static str)],
    by: &'static str,
    void: &'static [&'static str],
    effective: &'static [&'static str],
) -> Decided {
    Decided { key, value, beside, by, void, effective }
}

const NEWRENO: (&str, &str) = ("transport.name", "\"newreno\"");
const RACK: (&str, &str) = ("transport.recovery.name", "\"rack-tlp\"");
const MARKING: (&str, &str) = ("network.queue.name", "\"ecn-threshold\"");
const NO: &[&str] = &["false"];
const YES: &[&str] = &["true"];

const OF_TRANSPORT: &[Decided] = &[
    decided(("transport.timestamp_granularity", "\"1ms\""), &[], "transport.timestamps", NO, YES),
    decided(
        ("transport.timer_phase", "\"shared\""),
        &[],
        "transport.timer_tick",
        &["\"0s\"", "\"0ms\"", "null"],
        &["\"4ms\"", "\"1us\""],
    ),
    decided(
        ("transport.tso_deferral", "true"),
        &[],
        "transport.segmentation_offload",
        &["\"64KiB\""],
        &["\"off\""],
    ),
    decided(("transport.rtt_sampling", "\"per-window\""), &[], "transport.timestamps", YES, NO),
    decided(("transport.dsack", "false"), &[NEWRENO], "transport.sack", NO, YES),
    decided(("transport.sack_option_bytes", "true"), &[NEWRENO], "transport.sack", NO, YES),
    decided(
        ("transport.limited_transmit_resends", "true"),
        &[NEWRENO],
        "transport.limited_transmit",
        NO,
        YES,
    ),
    decided(
        ("transport.limited_transmit_resends", "true"),
        &[("transport.limited_transmit", "true")],
        "transport.recovery",
        &["\"sack\"", "\"sack1\"", "\"rack-tlp\""],
        &["\"newreno\"", "\"reno\""],
    ),
    decided(
        ("transport.ecn_packets", "\"all\""),
        &[MARKING],
        "transport.ecn",
        &["\"off\""],
        &["\"on\""],
    ),
    decided(
        ("transport.rto_after_syn_loss", "\"77ms\""),
        &[],
        "transport.handshake",
        &["\"none\""],
        &["\"three-way\""],
    ),
    decided(
        ("transport.syn_loss_is_timeout", "true"),
        &[],
        "transport.handshake",
        &["\"none\""],
        &["\"three-way\""],
    ),
    decided(
        ("transport.prr", "\"crb\""),
        &[],
        "transport.recovery",
        &["\"tahoe\""],
        &["\"newreno\"", "\"sack\""],
    ),
    decided(
        ("transport.rto_backs_off_in_recovery", "true"),
        &[],
        "transport.recovery",
        &["\"tahoe\""],
        &["\"newreno\"", "\"sack\""],
    ),
    decided(
        ("transport.initial_ssthresh", "4"),
        &[],
        "transport.congestion_control",
        &["\"bbr\"", "\"swift\""],
        &["\"reno\"", "\"cubic\""],
    ),
];

const OF_PARTS: &[Decided] = &[
    decided(
        ("transport.recovery.probe_rtts", "5"),
        &[RACK],
        "transport.recovery.probes",
        &["0"],
        &["1"],
    ),
    decided(
        ("transport.recovery.probe_initial", "\"5ms\""),
        &[RACK],
        "transport.recovery.probes",
        &["0"],
        &["1"],
    ),
    decided(
        ("transport.recovery.max_ack_delay", "\"5ms\""),
        &[RACK],
        "transport.recovery.probes",
        &["0"],
        &["1"],
    ),
    decided(
        ("transport.recovery.dsack_persistence", "2"),
        &[RACK],
        "transport.recovery.dsack_adaptation",
        NO,
        YES,
    ),
    decided(("transport.recovery.dsack_adaptation", "false"), &[RACK], "transport.dsack", NO, YES),
    decided(("transport.recovery.dsack_persistence", "2"), &[RACK], "transport.dsack", NO, YES),
    decided(
        ("transport.recovery.retransmit_tail", "true"),
        &[("transport.recovery.name", "\"sack\"")],
        "transport.recovery.retransmit_holes",
        NO,
        YES,
    ),
    decided(
        ("transport.recovery.partial_acks", "\"reduced\""),
        &[("transport.recovery.name", "\"newreno\"")],
        "transport.prr",
        &["\"off\""],
        &["\"linux\""],
    ),
    decided(
        ("transport.recovery.in_turn", "true"),
        &[("transport.recovery.name", "\"tahoe\"")],
        "transport.send_jitter",
        &["\"0s\""],
        &["\"10us\""],
    ),
    decided(
        ("transport.congestion_control.least_urgency", "0.2"),
        &[
            MARKING,
            ("transport.name", "\"d2tcp\""),
            ("transport.congestion_control.name", "\"d2tcp\""),
        ],
        "transport.congestion_control.deadline",
        &["null"],
        &["\"20ms\""],
    ),
    decided(
        ("transport.congestion_control.slow_start_limit", "7"),
        &[("transport.congestion_control.name", "\"reno\"")],
        "transport.congestion_control.byte_counting",
        NO,
        YES,
    ),
    decided(
        ("transport.congestion_control.hop", "\"50us\""),
        &[("transport.congestion_control.name", "\"swift\"")],
        "transport.congestion_control.hops",
        &["0"],
        &["2"],
    ),
    decided(
        ("transport.congestion_control.hops", "3"),
        &[("transport.congestion_control.name", "\"swift\"")],
        "transport.congestion_control.hop",
        &["\"0s\""],
        &["\"1us\""],
    ),
    decided(
        ("transport.congestion_control.least_scaled_window", "1.0"),
        &[("transport.congestion_control.name", "\"swift\"")],
        "transport.congestion_control.flow_scaling",
        &["0.0"],
        &["1.0"],
    ),
    decided(
        ("transport.congestion_control.greatest_scaled_window", "10.0"),
        &[("transport.congestion_control.name", "\"swift\"")],
        "transport.congestion_control.flow_scaling",
        &["0.0"],
        &["1.0"],
    ),
    decided(
        ("transport.congestion_control.ack_round_trips", "5"),
        &[
            MARKING,
            ("transport.name", "\"tdctcp\""),
            ("transport.congestion_control.name", "\"tdctcp\""),
        ],
        "transport.delayed_ack",
        NO,
        YES,
    ),
    decided(
        ("transport.congestion_control.ce_change", "\"one-ack\""),
        &[
            MARKING,
            ("transport.name", "\"dctcp\""),
            ("transport.congestion_control.name", "\"dctcp\""),
        ],
        "transport.delayed_ack",
        NO,
        YES,
    ),
    decided(
        ("transport.congestion_control.ce_change", "\"one-ack\""),
        &[
            MARKING,
            ("transport.name", "\"dctcp\""),
            ("transport.congestion_control.name", "\"dctcp\""),
            ("transport.delayed_ack", "false"),
        ],
        "transport.receive_offload",
        NO,
        &["{ \"size\": \"64KiB\" }"],
    ),
];

const OF_REMEDIES_AND_QUEUES: &[Decided] = &[
    decided(
        ("transport.name.full", "0.2"),
        &[("transport.name.name", "\"ocs\"")],
        "transport.name.adaptive",
        NO,
        YES,
    ),
    decided(
        ("transport.name.round_trips", "5"),
        &[("transport.name.name", "\"ocs\"")],
        "transport.name.adaptive",
        NO,
        YES,
    ),
    decided(
        ("transport.name.rto_min", "\"1ms\""),
        &[("transport.name.name", "\"ocs\"")],
        "transport.name.adaptive",
        NO,
        YES,
    ),
    decided(
        ("transport.name.observed", "5"),
        &[("transport.name.name", "\"nccs\""), ("transport.name.sru", "\"given\"")],
        "transport.name.base_rtt",
        &["\"given\""],
        &["\"learned\""],
    ),
    decided(
        ("transport.name.observed", "5"),
        &[("transport.name.name", "\"nccs\""), ("transport.name.base_rtt", "\"given\"")],
        "transport.name.sru",
        &["\"given\""],
        &["\"learned\""],
    ),
    decided(
        ("transport.name.threshold", "\"50%\""),
        &[("transport.name.name", "\"rapid\"")],
        "transport.name.early",
        NO,
        YES,
    ),
    decided(
        ("transport.name.clock", "\"1ms\""),
        &[("transport.name.name", "\"icat\"")],
        "transport.name.timestamps",
        NO,
        YES,
    ),
    decided(
        ("transport.name.min_window", "2"),
        &[("transport.name.name", "\"icat\"")],
        "transport.name.admission",
        NO,
        YES,
    ),
    decided(
        ("transport.name.when", "\"at-once\""),
        &[("transport.name.name", "\"gip\"")],
        "transport.name.copies",
        &["0"],
        &["3"],
    ),
    decided(
        ("network.queue.hard_drop", "true"),
        &[("network.queue.name", "\"red\"")],
        "network.queue.ecn",
        NO,
        YES,
    ),
    decided(
        ("network.queue.threshold", "5.0"),
        &[("network.queue.name", "\"segregation\"")],
        "network.queue.by",
        &["\"train\""],
        &["\"variation\"", "\"rate\""],
    ),
    decided(
        ("network.queue.weight", "0.5"),
        &[("network.queue.name", "\"segregation\"")],
        "network.queue.by",
        &["\"train\""],
        &["\"variation\"", "\"rate\""],
    ),
    decided(
        ("network.queue.train", "5"),
        &[("network.queue.name", "\"segregation\"")],
        "network.queue.by",
        &["\"variation\"", "\"rate\""],
        &["\"train\""],
    ),
    decided(
        ("network.queue.train_gap", "5"),
        &[("network.queue.name", "\"segregation\"")],
        "network.queue.by",
        &["\"variation\"", "\"rate\""],
        &["\"train\""],
    ),
    decided(
        ("network.queue.threshold", "\"50%\""),
        &[("network.queue.name", "\"rapid\"")],
        "network.queue.early",
        NO,
        YES,
    ),
    decided(
        ("network.queue.counts_in_service", "true"),
        &[("network.queue.name", "\"rapid\"")],
        "network.queue.early",
        NO,
        YES,
    ),
];

#[test]
fn a_key_is_refused_only_while_another_one_disables_it() {
    let mut wrong = Vec::new();
    for it in [OF_TRANSPORT, OF_PARTS, OF_REMEDIES_AND_QUEUES].into_iter().flatten() {
        let told = |deciding: &str| {
            let mut keys: Vec<_> =
                it.beside.iter().map(|(key, value)| (*key, value_of(value))).collect();
            keys.push((it.by, value_of(deciding)));
            keys.push((it.key, value_of(it.value)));
            plan(&with(&keys)).map(drop).map_err(|error| error.to_string())
        };
        let start = format!("{}: has no effect while ", it.key);
        for deciding in it.void {
            if !told(deciding).is_err_and(|line| line.starts_with(&start)) {
                wrong.push(format!(
                    "{} = {} with {} = {deciding}: {:?}",
                    it.key,
                    it.value,
                    it.by,
                    told(deciding)
                ));
            }
        }
        for deciding in it.effective {
            if let Err(line) = told(deciding) {
                wrong
                    .push(format!("{} = {} with {} = {deciding}: {line}", it.key, it.value, it.by));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn value_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}
