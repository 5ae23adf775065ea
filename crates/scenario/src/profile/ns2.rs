//! ns-2.

use serde_json::{Value, json};

/// ns-2.35's `tcl/lib/ns-default.tcl`, `tcp/tcp.cc` and `tcp/tcp-newreno.cc`, with the parameters
/// of the barrier-read studies (Phanishayee et al. 2008 and after).
pub(super) fn document() -> Value {
    json!({
        "network": {
            "delay": "50us",
            "buffer": "32pkt",
            // DropTail drops at `length + 1 >= limit_`: L - 1 packets wait while one packet is
            // being sent.
            "buffer_counts_in_service": true,
            // An arrival was scheduled a propagation delay earlier, and a departure only a
            // transmission time earlier. ns-2 runs the event that was scheduled first.
            "ties": "arrival-first",
        },
        "transport": {
            "mss": 1024,
            // `window_` = 1000, which is also the initial ssthresh.
            "receive_window": 1000,
            // One-way agents: the server's packet 0 is the SYN, and the ACK of packet 0 completes
            // the handshake.
            "opener": "server",
            "handshake": "syn-only",
            // The scripts start their senders; no packet asks for data.
            "request_on_wire": false,
            // rtxcur_init_ = 3.
            "rto_initial": "3s",
            "syn_rto": "3s",
            // timeout() treats packet 0, the SYN, like any other packet. cwnd is 1 until packet 0
            // is acknowledged.
            "syn_loss_is_timeout": true,
            // `tcpTick_` = 1e-5; only samples are rounded.
            "rto_granularity": "10us",
            "rto_style": "ns2",
            // newtimer() compares the number in the ACK with t_seqno_, which is one more than the
            // number of the last packet.
            "rto_runs_idle": true,
            "rtt_sampling": "per-window",
            // newreno_changes1_ = 1. Recovery ends with the window that partial_window_deflation_
            // has left.
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
            // send_one() sends t_seqno_, which a timeout may have moved.
            "limited_transmit_resends": true,
            // Sacker::append_ack().
            "sack_option_bytes": true,
        },
    })
}

/// Differences of `red.cc` from `drop-tail.cc` and the paper.
pub(super) fn queue(name: &str) -> Value {
    match name {
        "red" => json!({
            // enque() compares the limit with the waiting packets.
            "buffer_counts_in_service": false,
            "queue": {
                "name": "red",
                // Early drops depend on wait_, on old and on qlen > 1.
                "spacing": "wait",
                "spares": "short-queues",
                // mean_pktsize_. ptc is the number of packets of this size that the link carries
                // per second.
                "mean_packet": 500,
            },
        }),
        _ => Value::Null,
    }
}

/// Differences of `tcp-reno.cc`, `tcp.cc`, `tcp-sack1.cc` and `tcp-vegas.cc` from `tcp-newreno.cc`.
pub(super) fn transport(name: &str) -> Value {
    match name {
        // dupack_action() leaves the retransmission to send_much(), and so to overhead_.
        // TcpAgent::timeout() does not touch dupacks_.
        "tahoe" => json!({
            "recovery": { "in_turn": true, "keeps_count": true },
            "recovery_burst": "unlimited",
        }),
        "sack" => json!({ "recovery": "sack1", "recovery_burst": "unlimited" }),
        "reno" => json!({ "recovery": { "exit": "keep" }, "recovery_burst": "unlimited" }),
        // bictcp_acked() counts an ACK of one segment as 31/16 segments.
        "bic" => tcp_linux(&json!({ "ack_ratio": true })),
        "cubic" => tcp_linux(&congestion_control(name)),
        "vegas" => json!({
            "recovery": { "exit": "keep" },
            "recovery_burst": "unlimited",
            // Vegas sends nothing on the first two duplicate ACKs.
            "limited_transmit": false,
            // VegasTcpAgent::output() does not add the header to the size of a packet.
            "header_size": 0,
            // reset_rtx_timer(1) backs off the timer.
            "rto_backs_off_in_recovery": true,
            // delay_growth_: packet 1 is sent alone, like packet 0.
            "initial_window": 1,
            // v_alpha_, v_beta_, v_gamma_.
            "congestion_control": { "alpha": 1, "beta": 3, "gamma": 1 },
        }),
        _ => Value::Null,
    }
}

/// TCP/Linux has the CUBIC of Linux 2.6.22.
pub(super) fn congestion_control(name: &str) -> Value {
    match name {
        "cubic" => json!({
            "counting": "linux-2.6",
            "beta": 819.0 / 1024.0,
            "blind_growth": 50,
            "reduce_from": "cwnd",
            "hystart": "off",
        }),
        _ => Value::Null,
    }
}

/// TCP/Linux: scoreboard1.cc detects losses by SACK. A retransmission counts as lost when segments
/// that were sent after it have arrived. There are no tail loss probes.
fn tcp_linux(congestion_control: &Value) -> Value {
    json!({
        "recovery": {
            "name": "rack-tlp",
            "probes": 0,
            // tcp_fastretrans_alert() does nothing in TCP_CA_Recovery.
            "reduce_for_lost_retransmission": false,
        },
        "recovery_burst": "unlimited",
        // snd_cwnd and the controls' computations use whole packets.
        "window_unit": "packets",
        "congestion_control": congestion_control,
    })
}
