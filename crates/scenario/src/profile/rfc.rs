//! The RFCs.

use serde_json::{Value, json};

pub(super) fn document() -> Value {
    json!({
        "transport": {
            // An upper bound (RFC 5681 §3.1), used as the value.
            "initial_window": "rfc5681",
            "fin": true,
            // RFC 6298 (2.4), (2.5), (2.1).
            "rto_min": "1s",
            "rto_max": "60s",
            "rto_initial": "1s",
            "syn_rto": "1s",
            // RFC 6298 §4 prescribes no value; it states that 100 ms or less work well.
            "rto_granularity": "100ms",
            // RFC 7323 §5.4: a tick of 1 ms to 1 s.
            "timestamp_granularity": "1ms",
            // RFC 2018 §3.
            "sack_option_bytes": true,
            "limited_transmit": true,
            "dupack_requires_same_window": true,
            // RFC 5681 §4.2: an ACK for at least every second segment, and within 500 ms. BSD uses
            // 200 ms.
            "delayed_ack": { "segments": 2, "timeout": "200ms" },
            "idle_restart": "5681",
            // Option 1 of RFC 6582 §3.2, step 3, which needs no limit on bursts. No RFC restarts
            // the timer at a fast retransmit.
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

/// Changes for the preset of this name.
pub(super) fn transport(name: &str) -> Value {
    match name {
        // RFC 8257 §3.3: step 9 follows step 4, which waits for the end of the window.
        "dctcp" => json!({ "congestion_control": { "react_at": "window-end" } }),
        _ => Value::Null,
    }
}
