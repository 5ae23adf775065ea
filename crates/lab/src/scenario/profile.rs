//! Defaults as data: profiles, presets of transports, and what other tables leave open.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::document::lay;

/// Whose defaults hold for `[network]` and `[transport]`; an explicit key wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Textbook TCP in a data centre: the reference that remedies are measured against.
    Lab,
    /// ns-2.35's Agent/TCP/Newreno as the literature on incast configures it.
    Ns2,
    /// The RFCs to the letter, with every SHOULD.
    Rfc,
}

impl Profile {
    /// The complete document that a scenario is laid on.
    pub(super) fn document(self) -> Value {
        let mut document = json!({
            "title": "",
            "profile": self,
            "network": {},
            "workload": workload(),
            "transport": {},
            "background": [],
            "run": { "seeds": 5, "time_limit": "1000s" },
        });
        lay(&mut document, &lab());
        lay(&mut document, &json!({ "transport": lab_recovery() }));
        lay(
            &mut document,
            &match self {
                Self::Lab => Value::Null,
                Self::Ns2 => ns2(),
                Self::Rfc => rfc(),
            },
        );
        document
    }
}

fn workload() -> Value {
    json!({
        "name": "barrier-read",
        "blocks": 1,
        "connections": "fresh",
        "request_jitter": "0s",
        "start_spread": "0s",
        "request_size": 0,
    })
}

/// What a `[[background]]` table of this name leaves open, its transport excepted.
pub(super) fn background(name: &str) -> Value {
    match name {
        "cbr" | "poisson" => json!({ "from": "host", "start": "0s" }),
        "long-flow" => json!({ "count": 1, "start": "0s" }),
        _ => json!({}),
    }
}

fn lab() -> Value {
    json!({
        "network": {
            "topology": "star",
            "rate": "1Gbps",
            "delay": "25us",
            // A shallow top-of-rack switch: 4 MB or so among 48 ports.
            "buffer": "100KiB",
            "buffer_cell": 1,
            "buffer_packet_overhead": 0,
            "buffer_counts_in_service": false,
            "layer2_overhead": 0,
            "clock_noise": "0s",
            "ties": "departure-first",
            "queue": { "name": "drop-tail" },
        },
        "transport": {
            "name": "newreno",
            // What an Ethernet MTU of 1500 bytes leaves.
            "mss": 1460,
            "header_size": 40,
            "ack_size": 40,
            "initial_window": 2,
            "initial_ssthresh": "receive_window",
            // Never the bottleneck: 100 Gbps over 335 us.
            "receive_window": "4MiB",
            "handshake": "three-way",
            "opener": "client",
            "fin": false,
            // Linux's TCP_RTO_MIN; a floor under the timeout, as in the literature.
            "rto_min": "200ms",
            "rto_max": "60s",
            "rto_initial": "1s",
            // A high-resolution timer, so that rto_min alone is the floor.
            "rto_granularity": "1us",
            // More than rto_max ever allows.
            "rto_max_doublings": 32,
            "rto_jitter": 0.0,
            "rto_runs_idle": false,
            "rto_style": "rfc",
            "syn_rto": "1s",
            // RFC 6298 (5.7).
            "rto_after_syn_loss": "3s",
            "rtt_sampling": "per-ack",
            "timestamps": false,
            "timestamp_granularity": "1us",
            "delayed_ack": false,
            "ecn": "auto",
            "ecn_packets": "auto",
            "idle_restart": "none",
            "send_jitter": "0s",
            "pacing": false,
            "segmentation_offload": "off",
            "receive_offload": false,
            "congestion_control": { "name": "reno" },
        },
    })
}

/// How a loss is found and repaired.
fn lab_recovery() -> Value {
    json!({
        "recovery": { "name": "newreno" },
        "dupack_threshold": 3,
        "dupack_requires_same_window": false,
        "limited_transmit": true,
        "early_retransmit": "off",
        "dsack": true,
        "prr": "off",
        "undo": "none",
        "recovery_burst": "unlimited",
    })
}

/// ns-2.35's `tcl/lib/ns-default.tcl`, `tcp/tcp.cc` and `tcp/tcp-newreno.cc`, with the parameters
/// of the barrier-read studies (Phanishayee et al. 2008 and after).
fn ns2() -> Value {
    json!({
        "network": {
            "delay": "50us",
            "buffer": "32pkt",
            // DropTail drops at `length + 1 >= limit_`: L - 1 wait while one is being sent.
            "buffer_counts_in_service": true,
            // An arrival was scheduled a propagation delay before, a departure only a packet time.
            "ties": "arrival-first",
        },
        "transport": {
            "mss": 1024,
            // window_ = 1000, which is the initial ssthresh, too.
            "receive_window": 1000,
            // One-way agents: the server's packet 0 is the SYN, and its ACK completes it.
            "opener": "server",
            "handshake": "syn-only",
            // rtxcur_init_ = 3.
            "rto_initial": "3s",
            "syn_rto": "3s",
            // tcpTick_ = 1e-5; it rounds samples and nothing else.
            "rto_granularity": "10us",
            "rto_style": "ns2",
            // newtimer() compares with t_seqno_, which is one past the last packet.
            "rto_runs_idle": true,
            "rtt_sampling": "per-window",
            // newreno_changes1_ = 1; recovery ends with partial_window_deflation_'s window.
            "recovery": {
                "name": "newreno",
                "careful": true,
                "impatient": true,
                "exit": "keep",
                "restart_timer_on_entry": true,
            },
            // slowdown() halves min(cwnd, window_).
            "congestion_control": { "name": "reno", "reduce_from": "cwnd" },
            // Newreno's maxburst in fast recovery.
            "recovery_burst": 2,
        },
    })
}

fn rfc() -> Value {
    json!({
        "transport": {
            // An upper bound (RFC 5681 §3.1), taken as the value.
            "initial_window": "rfc5681",
            "fin": true,
            // RFC 6298 (2.4), (2.5), (2.1).
            "rto_min": "1s",
            "rto_max": "60s",
            "rto_initial": "1s",
            "syn_rto": "1s",
            // RFC 6298 §4 prescribes none and finds that 100 ms or less do well.
            "rto_granularity": "100ms",
            // RFC 7323 §5.4: a tick of 1 ms to 1 s.
            "timestamp_granularity": "1ms",
            "limited_transmit": true,
            "dupack_requires_same_window": true,
            // RFC 5681 §4.2: every second segment, within 500 ms; the 200 ms are BSD's.
            "delayed_ack": { "segments": 2, "timeout": "200ms" },
            "idle_restart": "5681",
            // Option 1 of RFC 6582 §3.2, step 3, the one that needs no guard against bursts; and
            // no RFC restarts the timer at a fast retransmit.
            "recovery": {
                "name": "newreno",
                "careful": true,
                "impatient": true,
                "exit": "flight",
                "restart_timer_on_entry": false,
            },
            "congestion_control": { "name": "reno", "reduce_from": "flight" },
        },
    })
}

/// What the timestamps option adds to a header: 10 bytes and padding (RFC 7323 §3.2, appendix A).
pub(super) fn timestamps() -> Value {
    json!({ "header_size": 52, "ack_size": 52 })
}

/// A transport that a scenario can name.
pub(super) struct Preset {
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    /// The parts that it is made of.
    pub(super) parts: fn() -> Value,
}

/// The transports that a scenario can name.
pub(super) const PRESETS: &[Preset] = &[
    Preset {
        name: "newreno",
        summary: "NewReno recovery (RFC 6582) over slow start and congestion avoidance (RFC 5681).",
        parts: || json!({ "recovery": "newreno", "congestion_control": "reno" }),
    },
    Preset {
        name: "tahoe",
        summary: "Fast retransmit, then slow start: no fast recovery.",
        parts: || json!({ "recovery": "tahoe", "congestion_control": "reno" }),
    },
    Preset {
        name: "reno",
        summary: "Fast recovery that repairs one loss per window (RFC 5681).",
        parts: || json!({ "recovery": "reno", "congestion_control": "reno" }),
    },
    Preset {
        name: "sack",
        summary: "Recovery by selective acknowledgements (RFC 6675) over RFC 5681's window.",
        parts: || json!({ "recovery": "sack", "congestion_control": "reno" }),
    },
    Preset {
        name: "rack-tlp",
        summary: "Losses by time and tail loss probes (RFC 8985) over RFC 5681's window.",
        parts: || json!({ "recovery": "rack-tlp", "congestion_control": "reno" }),
    },
    Preset {
        name: "cubic",
        summary: "CUBIC (RFC 9438) over NewReno recovery.",
        parts: || json!({ "recovery": "newreno", "congestion_control": "cubic" }),
    },
    Preset {
        name: "bic",
        summary: "BIC over NewReno recovery.",
        parts: || json!({ "recovery": "newreno", "congestion_control": "bic" }),
    },
    Preset {
        name: "westwood",
        summary: "Westwood+ over NewReno recovery.",
        parts: || json!({ "recovery": "newreno", "congestion_control": "westwood" }),
    },
    Preset {
        name: "vegas",
        summary: "Vegas over the recovery of RFC 5681, as ns-2 has it.",
        parts: || json!({ "recovery": "reno", "congestion_control": "vegas" }),
    },
    Preset {
        name: "dctcp",
        summary: "DCTCP (RFC 8257) over NewReno recovery; needs a switch that marks.",
        parts: || json!({ "recovery": "newreno", "congestion_control": "dctcp" }),
    },
    Preset {
        name: "d2tcp",
        summary: "D2TCP over NewReno recovery; needs a switch that marks, and a deadline.",
        parts: || json!({ "recovery": "newreno", "congestion_control": "d2tcp" }),
    },
    Preset {
        name: "l2dct",
        summary: "L2DCT over NewReno recovery; needs a switch that marks.",
        parts: || json!({ "recovery": "newreno", "congestion_control": "l2dct" }),
    },
    Preset {
        name: "bbr",
        summary: "BBR, version 1, over recovery by selective acknowledgements (RFC 6675).",
        parts: || json!({ "recovery": "sack", "congestion_control": "bbr" }),
    },
    Preset {
        name: "swift",
        summary: "Swift over NewReno recovery: delay as the signal, windows below a segment.",
        parts: || {
            json!({
                "recovery": "newreno",
                // A hundredth of a segment, and steps that suit a path of ten segments instead of
                // hundreds: found by trial for 128 senders and 32 packets of buffer.
                "initial_window": "15B",
                "congestion_control": { "name": "swift", "increase": 0.1, "flow_scaling": 0.0 },
            })
        },
    },
];
