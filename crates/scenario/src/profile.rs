//! The defaults as data: profiles, presets of transports, and the default kind of workload.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::document::lay;

mod linux;
mod ns2;
mod ns3;
mod rfc;

/// Defaults of `[network]` and `[transport]`; explicit keys take precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Textbook TCP in a data centre: the baseline with which remedies are compared.
    Lab,
    /// Linux's defaults: CUBIC with RACK-TLP, timestamps, delayed and quick ACKs.
    Linux,
    /// Linux with DCTCP, and a switch that marks packets.
    LinuxDctcp,
    /// ns-2.35's Agent/TCP/Newreno as configured in the literature on incast.
    Ns2,
    /// ns-3.37 with the changes that a data centre study needs.
    Ns3,
    /// TCP as the RFCs describe it, including every SHOULD.
    Rfc,
}

impl Profile {
    /// The complete document with which a scenario is merged.
    pub(super) fn document(self) -> Value {
        let mut document = json!({
            "title": "",
            "profile": self,
            "network": {},
            "workload": { "name": WORKLOAD },
            "transport": {},
            "background": [],
            "run": { "seeds": 5, "time_limit": "1000s" },
        });
        lay(&mut document, &lab());
        lay(&mut document, &json!({ "transport": lab_recovery() }));
        let (own, name) = match self {
            Self::Lab => (Value::Null, "newreno"),
            Self::Linux => (linux::document(), "cubic"),
            Self::LinuxDctcp => (linux::document(), "dctcp"),
            Self::Ns2 => (ns2::document(), "newreno"),
            Self::Ns3 => (ns3::document(), "sack"),
            Self::Rfc => (rfc::document(), "newreno"),
        };
        lay(&mut document, &own);
        document["transport"]["name"] = json!(name);
        if let Some(parts) = parts(name) {
            lay(&mut document["transport"], &parts);
            lay(&mut document["transport"], &self.transport(name));
        }
        document
    }

    /// The profile's changes of `[network]` if the queue of this name is given.
    pub(super) fn queue(self, name: &str) -> Value {
        if self == Self::Ns2 { ns2::queue(name) } else { Value::Null }
    }

    /// The parts of the preset called `name` that the profile changes, with their values.
    pub(super) fn transport(self, name: &str) -> Value {
        match self {
            Self::Lab => Value::Null,
            Self::Rfc => rfc::transport(name),
            Self::Linux | Self::LinuxDctcp => linux::transport(name),
            Self::Ns2 => ns2::transport(name),
            Self::Ns3 => ns3::transport(name),
        }
    }

    /// The profile's parameters of the part called `name` at `key`, in every transport that has
    /// this part.
    pub(super) fn part(self, key: &str, name: &str) -> Value {
        match (self, key) {
            (Self::Linux | Self::LinuxDctcp, "recovery") => linux::recovery(name),
            (Self::Linux | Self::LinuxDctcp, "congestion_control") => {
                linux::congestion_control(name)
            }
            (Self::Ns2, "congestion_control") => ns2::congestion_control(name),
            _ => Value::Null,
        }
    }
}

/// The default kind of workload.
pub(super) const WORKLOAD: &str = "barrier-read";

fn lab() -> Value {
    json!({
        "network": {
            "topology": { "name": "star" },
            "clients": 1,
            "rate": "1Gbps",
            "delay": "25us",
            // A shallow top-of-rack switch: about 4 MB for 48 ports.
            "buffer": "100KiB",
            "buffer_cell": 1,
            "buffer_packet_overhead": 0,
            "buffer_counts_in_service": false,
            "layer2_overhead": 0,
            "clock_noise": "0s",
            "ties": "departure-first",
            "arrival_order": "source",
            "queue": { "name": "drop-tail" },
        },
        "transport": {
            "name": "newreno",
            // The payload in an Ethernet MTU of 1500 bytes.
            "mss": 1460,
            "header_size": 40,
            "ack_size": 40,
            "initial_window": 2,
            "window_unit": "bytes",
            "initial_ssthresh": "receive_window",
            // This window is never the bottleneck: it fills 100 Gbps over a round trip of 335 us.
            "receive_window": "4MiB",
            "handshake": "three-way",
            "opener": "client",
            "request_on_wire": true,
            "fin": false,
            // Linux's TCP_RTO_MIN. It is the lower bound of the whole timeout, as in the
            // literature.
            "rto_min": "200ms",
            "rto_max": "60s",
            "rto_initial": "1s",
            // A high-resolution timer, so that rto_min is the only lower bound.
            "rto_granularity": "1us",
            // The timeout reaches rto_max after fewer doublings.
            "rto_max_doublings": 32,
            "rto_jitter": 0.0,
            "rto_runs_idle": false,
            "rto_backs_off_in_recovery": false,
            "rto_style": "rfc",
            "syn_rto": "1s",
            // RFC 6298 (5.7).
            "rto_after_syn_loss": "3s",
            "timer_tick": "0s",
            "timer_phase": "own",
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
            "tso_deferral": false,
            "receive_offload": false,
            "congestion_control": { "name": "reno" },
            "remedies": [],
        },
    })
}

/// Loss detection and repair.
fn lab_recovery() -> Value {
    json!({
        "recovery": { "name": "newreno" },
        "dupack_threshold": 3,
        "dupack_requires_same_window": false,
        "syn_loss_is_timeout": false,
        "limited_transmit": true,
        "limited_transmit_resends": false,
        "early_retransmit": "off",
        "dsack": true,
        "sack_option_bytes": false,
        "prr": "off",
        "undo": "none",
        "recovery_burst": "unlimited",
    })
}

/// Bytes of a TCP/IP header, with or without the timestamps option of 10 bytes and padding (RFC
/// 7323 §3.2, appendix A).
pub(super) const fn header(timestamps: bool) -> u64 {
    if timestamps { 52 } else { 40 }
}

/// A transport whose parts cannot be derived from its name.
struct Preset {
    name: &'static str,
    parts: fn() -> Value,
}

/// The transports by name, with descriptions: loss recoveries, congestion controls, remedies.
pub(super) fn presets() -> impl Iterator<Item = (&'static str, &'static str)> {
    let recoveries = || incast_tcp::recovery::ENTRIES.iter().filter(|it| names_transport(it.name));
    let is_recovery = move |name| recoveries().any(|it| it.name == name);
    let controls = incast_tcp::congestion::ENTRIES.iter().filter(move |it| !is_recovery(it.name));
    let transports = recoveries().chain(controls).map(|it| (it.name, it.summary));
    transports.chain(incast_remedies::ENTRIES.iter().map(|it| (it.name, it.summary)))
}

/// The parts of the transport called `name`. A remedy uses the parts of its profile. A loss
/// recovery is combined with the window of RFC 5681, and a congestion control is combined with
/// `NewReno` recovery.
pub(super) fn parts(name: &str) -> Option<Value> {
    if let Some(preset) = PRESETS.iter().find(|preset| preset.name == name) {
        return Some((preset.parts)());
    }
    if is_remedy(name) {
        return Some(json!({ "remedies": [{ "name": name }] }));
    }
    if names_transport(name) && incast_tcp::recovery::ENTRIES.iter().any(|it| it.name == name) {
        return Some(json!({ "recovery": name, "congestion_control": "reno" }));
    }
    let is_control = incast_tcp::congestion::ENTRIES.iter().any(|it| it.name == name);
    is_control.then(|| json!({ "recovery": "newreno", "congestion_control": name }))
}

/// Whether the name of a loss recovery also names a transport with this recovery. If a remedy has
/// the same name, the transport of this name is the remedy. `sack1` is not a transport, because the
/// profile `ns2` uses it for the transport `sack`.
fn names_transport(recovery: &str) -> bool {
    !is_remedy(recovery) && recovery != "sack1"
}

fn is_remedy(name: &str) -> bool {
    incast_remedies::ENTRIES.iter().any(|it| it.name == name)
}

const PRESETS: &[Preset] = &[
    // Vegas with Reno's loss recovery, as in ns-2.
    Preset {
        name: "vegas",
        parts: || json!({ "recovery": "reno", "congestion_control": "vegas" }),
    },
    // BBR has SACK recovery, because BBR continues to send during losses, and `NewReno` would
    // repair only one loss per round trip.
    Preset { name: "bbr", parts: || json!({ "recovery": "sack", "congestion_control": "bbr" }) },
    Preset {
        name: "swift",
        parts: || {
            json!({
                "recovery": "newreno",
                // An initial window of a hundredth of a segment, and an increase for a path that
                // holds ten segments instead of hundreds. Both values were found by experiment with
                // 128 senders and a buffer of 32 packets.
                "initial_window": "15B",
                // Delayed ACKs would add to the measured delay, which is the congestion signal.
                "delayed_ack": false,
                "congestion_control": { "name": "swift", "increase": 0.1, "flow_scaling": 0.0 },
            })
        },
    },
];
