//! ns-3.37, with the changes that a data centre study needs.

use serde_json::{Value, json};

pub(super) fn document() -> Value {
    json!({
        "network": {
            "rate": "1Gbps",
            "delay": "25us",
            // DropTailQueue in bytes; the packet that is being sent has left it.
            "buffer": "100000B",
            // Simultaneous events in the order of scheduling.
            "ties": "scheduled",
            // The point-to-point protocol's header.
            "layer2_overhead": 2,
        },
        "transport": {
            // SegmentSize, not the 536 bytes of ns-3.
            "mss": 1460,
            // TcpSocket::InitialCwnd.
            "initial_window": 10,
            "receive_window": "4MiB",
            // The sender of data connects.
            "opener": "server",
            "handshake": "three-way",
            // MinRto, RttEstimator::InitialEstimation and TcpSocket::ConnTimeout, not 1 s, 1 s and
            // 3 s.
            "rto_min": "200ms",
            "rto_initial": "200ms",
            "syn_rto": "200ms",
            // A lost SYN has no special effect.
            "rto_after_syn_loss": "200ms",
            // ClockGranularity, not 1 ms.
            "rto_granularity": "1us",
            // NewAck() recomputes the timeout.
            "rto_style": "ns3",
            "rtt_sampling": "per-ack",
            // DelAckCount = 1, not 2.
            "delayed_ack": false,
            "timestamps": false,
            "limited_transmit": true,
            // AddOptionSack() and the padding of the header.
            "sack_option_bytes": true,
            // TcpClassicRecovery, not TcpPrrRecovery.
            "prr": "off",
            "idle_restart": "none",
        },
    })
}

/// Changes for the preset of this name.
pub(super) fn transport(name: &str) -> Value {
    let sack = json!({
        "name": "sack",
        "rescue": false,
        "retransmit_tail": true,
        "answer_partial_acks": true,
        "restart_timer_on_entry": false,
    });
    match name {
        // EnterRecovery() halves BytesInFlight(), and the timer runs on; NextSeg() has no rule 4,
        // and no condition (1.b) in rule 3; ProcessAck() answers partial ACKs.
        "sack" => json!({ "recovery": {
            "rescue": false,
            "retransmit_tail": true,
            "answer_partial_acks": true,
            "restart_timer_on_entry": false,
            "reduce_from": "pipe",
        } }),
        // DupAck(): m_highRxAckMark >= m_recover. EnterRecovery() halves what AddRenoSack() leaves.
        "newreno" => json!({ "recovery": {
            "careful": false,
            "restart_timer_on_entry": false,
            "reduce_from": "pipe",
        } }),
        // TcpDctcp over TcpSocketBase: the first echo enters CWR; everything is ECN-capable.
        // TcpLinuxReno counts segments up to a window.
        "dctcp" => json!({
            "recovery": sack,
            "congestion_control": { "react_at": "first-ece", "byte_counting": true },
            "ecn_packets": "all",
        }),
        // TcpCubic: GetSsThresh() reduces cwnd, Update() knows no Reno-friendly region and has
        // CntClamp; HyStartDelayMin, HyStartDelayMax, and HystartUpdate()'s train of a whole round
        // trip.
        "cubic" => json!({
            "recovery": sack,
            "congestion_control": {
                "reduce_from": "cwnd",
                "reno_friendly": false,
                "blind_growth": 20,
                "hystart": {
                    "name": "linux",
                    "divisor": 1,
                    "max_thresh": "1s",
                    "train_divisor": 1,
                    "offload_allowance": "0s",
                },
            },
        }),
        _ => Value::Null,
    }
}
