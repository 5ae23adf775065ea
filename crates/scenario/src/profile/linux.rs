//! Linux, by its source (6.x) and its `ip-sysctl` defaults.

use serde_json::{Value, json};

pub(super) fn document() -> Value {
    json!({
        "network": { "layer2_overhead": "ethernet" },
        "transport": {
            // tcp_timestamps = 1, which leaves 1448 bytes of payload in an Ethernet MTU of 1500
            // bytes.
            "timestamps": true,
            "mss": 1448,
            "header_size": 52,
            "ack_size": 52,
            // Round trips are measured by the host's clock, in microseconds.
            "timestamp_granularity": "1us",
            // TCPOLEN_SACK_BASE_ALIGNED and TCPOLEN_SACK_PERBLOCK.
            "sack_option_bytes": true,
            // TCP_INIT_CWND.
            "initial_window": 10,
            // snd_cwnd, snd_ssthresh and packets_out.
            "window_unit": "packets",
            // The maximum of tcp_rmem. The tuning of the receive window is not modelled.
            "receive_window": "6MiB",
            "fin": true,
            // TCP_RTO_MIN, the lower bound of the variance term; TCP_RTO_MAX; TCP_TIMEOUT_INIT;
            // TCP_TIMEOUT_FALLBACK.
            "rto_style": "linux",
            "rto_min": "200ms",
            "rto_max": "120s",
            "rto_initial": "1s",
            "syn_rto": "1s",
            "rto_after_syn_loss": "3s",
            // CONFIG_HZ = 250, as in Debian.
            "timer_tick": "4ms",
            // The time that a host needs between an ACK and the data that the ACK releases. Without
            // this time, hosts that begin together would stay synchronized.
            "send_jitter": "30us",
            // TCP_DELACK_MIN, TCP_MAX_QUICKACKS, tcp_pingpong_thresh = 1 and tcp_delack_max().
            "delayed_ack": {
                "segments": 2, "timeout": "40ms", "quickack": 16, "pingpong": true,
                "below_rto_min": true,
            },
            // tcp_tso_should_defer(): data are segmented in software.
            "tso_deferral": true,
            // tcp_slow_start_after_idle = 1: cwnd is halved for each RTO without data, and is
            // validated.
            "idle_restart": "2861",
            // tcp_init_cwnd_reduction() and tcp_cwnd_reduction().
            "prr": "linux",
            // tcp_ack_update_rtt() also takes round-trip samples from SACKs (sack_rtt_us).
            "rtt_sampling": "linux",
            // tcp_frto = 2, and tcp_packet_delayed().
            "undo": "linux",
        },
    })
}

/// Changes for the preset of this name.
pub(super) fn transport(name: &str) -> Value {
    let recovery = match name {
        "tahoe" | "reno" | "newreno" | "sack" => name,
        _ => "rack-tlp",
    };
    let control = match name {
        "tahoe" | "reno" | "newreno" | "sack" | "rack-tlp" => "reno",
        _ => name,
    };
    let mut transport = json!({
        "recovery": self::recovery(recovery),
        "congestion_control": congestion_control(control),
    });
    if name == "dctcp" {
        // INET_ECN_xmit(): SYNs and ACKs are ECN-capable, too.
        transport["ecn_packets"] = json!("all");
    }
    transport
}

/// The parameters of a loss recovery.
pub(super) fn recovery(name: &str) -> Value {
    match name {
        // tcp_ack() calls tcp_rearm_rto() for every ACK that moves snd_una.
        // tcp_xmit_retransmit_queue() sends what tcp_cwnd_reduction() allows.
        // tcp_check_reno_reordering() uses the count of duplicate ACKs.
        "newreno" => json!({
            "impatient": false,
            "partial_acks": "reduced",
            "counts_reports": true,
        }),
        // tcp_recovery = 1, tcp_early_retrans = 3; tcp_rack_advance() does not use timestamps.
        "rack-tlp" => json!({
            "name": "rack-tlp",
            "timestamp_check": false,
            "reduce_for_lost_retransmission": false,
            // tcp_dsack_seen() depends on reord_seen.
            "dsack_needs_reordering": true,
            // tcp_schedule_loss_probe(): TCP_TIMEOUT_MIN_US, and tcp_rto_min() for one segment.
            "timer_margin": "2ms",
            "max_ack_delay": "200ms",
        }),
        _ => json!({}),
    }
}

/// The parameters of a congestion control.
pub(super) fn congestion_control(name: &str) -> Value {
    match name {
        // tcp_slow_start() and tcp_cong_avoid_ai() count acknowledged segments, tcp_reno_ssthresh()
        // halves snd_cwnd, and tcp_enter_loss() does this only for the first of repeated timeouts.
        "reno" => json!({
            "byte_counting": true,
            "slow_start_limit": 0,
            "reduce_from": "cwnd-once",
        }),
        // tcp_cubic.c reduces cwnd, not the flight. bictcp_update() counts packets and ticks. While
        // last_max_cwnd is 0, the window grows by at least a segment for every 20 acknowledged
        // segments.
        "cubic" => json!({
            "hystart": "linux", "reduce_from": "cwnd", "blind_growth": 20, "counting": "linux",
        }),
        // tcp_dctcp.c: dctcp_alpha_on_init = 1024, dctcp_shift_g = 4. The first echo of a mark
        // reduces the window. tcp_cong_avoid_ai() adds up acknowledged segments until they are a
        // whole window.
        "dctcp" => json!({ "react_at": "first-ece", "byte_counting": true }),
        // bbr_quantization_budget() adds three times bbr_tso_segs_goal(), which is sk_pacing_rate
        // >> 10, but at least two segments. tcp_tso_autosize(): tcp_tso_rtt_log = 9.
        "bbr" => json!({
            "burst": 2,
            "burst_time": "1ms",
            "burst_rtt": "512us",
            "pacing_margin": 0.01,
            "aggregation_gain": 1,
            "even_window": true,
            "long_term": true,
            "loss_begins_round": true,
            "valid_rounds": true,
        }),
        // TCP_WESTWOOD_RTT_MIN.
        "westwood" => json!({ "min_interval": "50ms" }),
        _ => json!({}),
    }
}
