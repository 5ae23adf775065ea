//! ns-3.37, with the changes that a data centre study needs.

use serde_json::{Value, json};

pub(super) fn document() -> Value {
    json!({
        "network": {
            "rate": "1Gbps",
            "delay": "25us",
            // A DropTailQueue that counts bytes. The packet that is being sent is no longer in the
            // queue.
            "buffer": "100000B",
            // Simultaneous events run in the order in which they were scheduled.
            "ties": "scheduled",
            // The point-to-point protocol's header.
            "layer2_overhead": 2,
        },
        "transport": {
            // SegmentSize, whose default in ns-3 is 536 bytes.
            "mss": 1460,
            // TcpSocket::InitialCwnd.
            "initial_window": 10,
            "receive_window": "4MiB",
            // The sender of data connects.
            "opener": "server",
            "handshake": "three-way",
            // MinRto, RttEstimator::InitialEstimation and TcpSocket::ConnTimeout, whose defaults in
            // ns-3 are 1 s, 1 s and 3 s.
            "rto_min": "200ms",
            "rto_initial": "200ms",
            "syn_rto": "200ms",
            // A lost SYN has no special effect.
            "rto_after_syn_loss": "200ms",
            // ClockGranularity, whose default in ns-3 is 1 ms.
            "rto_granularity": "1us",
            // NewAck() recomputes the timeout.
            "rto_style": "ns3",
            "rtt_sampling": "per-ack",
            // DelAckCount = 1. The default in ns-3 is 2.
            "delayed_ack": false,
            "timestamps": false,
            "limited_transmit": true,
            // AddOptionSack() and the padding of the header.
            "sack_option_bytes": true,
            // TcpClassicRecovery instead of ns-3's default, TcpPrrRecovery.
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
        // EnterRecovery() halves BytesInFlight() and does not restart the timer. NextSeg() has no
        // rule 4, and its rule 3 has no condition (1.b). ProcessAck() answers partial ACKs.
        "sack" => json!({ "recovery": {
            "rescue": false,
            "retransmit_tail": true,
            "answer_partial_acks": true,
            "restart_timer_on_entry": false,
            "reduce_from": "pipe",
        } }),
        // DupAck(): m_highRxAckMark >= m_recover. EnterRecovery() halves BytesInFlight(), from
        // which AddRenoSack() has subtracted a segment per duplicate ACK.
        "newreno" => json!({ "recovery": {
            "careful": false,
            "restart_timer_on_entry": false,
            "reduce_from": "pipe",
        } }),
        // TcpDctcp over TcpSocketBase: the first echo of a mark enters CWR, and all packets are
        // ECN-capable. TcpLinuxReno adds up acknowledged segments until they are a whole window.
        "dctcp" => json!({
            "recovery": sack,
            "congestion_control": { "react_at": "first-ece", "byte_counting": true },
            "ecn_packets": "all",
        }),
        // TcpCubic: GetSsThresh() reduces cwnd. Update() has no Reno-friendly region, but has
        // CntClamp. The hybrid slow start has HyStartDelayMin and HyStartDelayMax, and
        // HystartUpdate() ends slow start after a train of a whole round trip.
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
