//! Checks and requirements of remedies for given parameters.

use incast_engine::{Limit, Span};
use incast_net::queue::QueueConfig;
use incast_tcp::congestion::ReactAt;
use incast_tcp::recovery::efr;
use serde_json::{Value, json};

use crate::{RemedyConfig, Requirement, Slot};

fn remedy(params: &Value) -> RemedyConfig {
    serde_json::from_value(params.clone()).unwrap_or_else(|error| panic!("{params}: {error}"))
}

#[test]
fn parameters_that_make_no_sense_are_refused_by_name() {
    for (params, key) in [
        (json!({ "name": "batching", "window": 0 }), "window"),
        (json!({ "name": "head-tail", "least_wait": "0s" }), "least_wait"),
        (json!({ "name": "icat", "min_window": 0 }), "min_window"),
        (json!({ "name": "icat", "clock": "0s" }), "clock"),
        (json!({ "name": "pac", "threshold": "0pkt" }), "threshold"),
        (json!({ "name": "pac", "threshold": 0 }), "threshold"),
        (json!({ "name": "prob-rtx", "period": "0s" }), "period"),
    ] {
        let fault = remedy(&params).remedy().check().expect_err(&params.to_string());
        assert_eq!(fault.key, key, "{params}");
    }
}

#[test]
fn the_least_that_makes_sense_is_accepted() {
    for params in [
        json!({ "name": "batching", "n": 1, "window": "1B" }),
        json!({ "name": "head-tail", "patience": 1, "tries": 0, "least_wait": "1us" }),
        json!({ "name": "icat", "min_window": "1B", "clock": "1ps" }),
        json!({ "name": "pac", "threshold": 1, "priority": 0 }),
        json!({ "name": "prob-rtx", "p": 1.0, "period": "1ns" }),
        json!({ "name": "staggering", "interval": "0s", "spread": 1.0 }),
    ] {
        assert_eq!(remedy(&params).remedy().check(), Ok(()), "{params}");
    }
}

#[test]
fn what_a_remedy_requires_follows_from_its_parameters() {
    let (ms, us) = (Span::from_millis(1), Span::from_micros(1));
    for (params, required) in [
        (json!({ "name": "ccs" }), vec![]),
        (json!({ "name": "ocs" }), vec![]),
        (json!({ "name": "pac" }), vec![]),
        (json!({ "name": "ia-tcp" }), vec![Requirement::NoDelayedAck]),
        (
            json!({ "name": "ocs", "adaptive": true, "rto_min": "1ms" }),
            vec![
                Requirement::RtoMin(ms),
                Requirement::RtoGranularity(us),
                Requirement::ExactTimers,
            ],
        ),
        (
            json!({ "name": "fine-rto", "min": "1ms", "granularity": "2us", "jitter": 0.5 }),
            vec![
                Requirement::RtoMin(ms),
                Requirement::RtoGranularity(us * 2),
                Requirement::ExactTimers,
                Requirement::RtoJitter(0.5),
            ],
        ),
        (
            json!({ "name": "icat", "clock": "2us" }),
            vec![Requirement::Timestamps, Requirement::TimestampGranularity(us * 2)],
        ),
        (json!({ "name": "icat", "timestamps": false }), vec![]),
        (json!({ "name": "plato" }), vec![Requirement::LimitedTransmit]),
        (
            json!({ "name": "resize", "mss_dsr": 60, "initial_window": 3 }),
            vec![Requirement::InitialWindow(180)],
        ),
        (
            json!({ "name": "resize", "mss_dsr": "auto", "initial_window": 3 }),
            vec![Requirement::InitialWindow(300)],
        ),
        (
            json!({ "name": "efr", "reduce_twice": true, "g": 0.5 }),
            vec![
                Requirement::Efr(efr::Params { reduce_twice: true, ..efr::Params::default() }),
                Requirement::Dctcp { alpha: 1.0, g: 0.5, react_at: ReactAt::default() },
                Requirement::NoDelayedAck,
            ],
        ),
    ] {
        assert_eq!(remedy(&params).remedy().requires(), required, "{params}");
    }
}

#[test]
fn a_remedy_works_with_switches_that_can_do_what_it_needs() {
    let queue = |queue: Value| -> QueueConfig { serde_json::from_value(queue).expect("it exists") };
    for (params, will_do, will_not) in [
        (
            json!({ "name": "plato" }),
            vec![
                json!({ "name": "push-out" }),
                json!({ "name": "label-threshold", "label": 3 }),
                json!({ "name": "priority" }),
                json!({ "name": "wred", "classes": [{ "control": true }, { "label": 1 }] }),
            ],
            vec![
                json!({ "name": "drop-tail" }),
                json!({ "name": "push-out", "label": 2 }),
                json!({ "name": "wred" }),
            ],
        ),
        (
            json!({ "name": "efr" }),
            vec![json!({ "name": "ecn-threshold" }), json!({ "name": "red", "ecn": true })],
            vec![json!({ "name": "drop-tail" }), json!({ "name": "red" })],
        ),
        (
            json!({ "name": "rapid" }),
            vec![json!({ "name": "rapid", "early": true }), json!({ "name": "rapid", "label": 1 })],
            vec![json!({ "name": "drop-tail" }), json!({ "name": "push-out" })],
        ),
        (
            json!({ "name": "rapid", "label_last": true }),
            vec![json!({ "name": "rapid", "label": 33 })],
            vec![json!({ "name": "rapid" }), json!({ "name": "rapid", "label": 1 })],
        ),
    ] {
        let ability = remedy(&params).remedy().queue().expect("it needs one").ability;
        for accepted in will_do {
            assert!(ability.is_met_by(&queue(accepted.clone())), "{accepted}");
        }
        for refused in will_not {
            assert!(!ability.is_met_by(&queue(refused.clone())), "{refused}");
        }
    }
    let resize = remedy(&json!({ "name": "resize" }));
    assert!(resize.remedy().accepts_buffer(Limit::Packets(40)).is_err());
    assert!(resize.remedy().accepts_buffer(Limit::Bytes(40)).is_ok());
}

/// With a window, batching also owns the slot of the advertised window.
#[test]
fn batching_owns_the_advertised_window_if_it_sets_one() {
    let slots = |params: Value| remedy(&params).remedy().slots().to_vec();
    assert_eq!(slots(json!({ "name": "batching" })), [Slot::Schedule]);
    let with_window = slots(json!({ "name": "batching", "window": 4 }));
    assert_eq!(with_window, [Slot::Schedule, Slot::ReceiveWindow]);
}

#[test]
fn auto_is_a_word_and_survives_the_way_to_a_file_and_back() {
    for params in [
        json!({ "name": "batching", "n": "auto", "refill": "group" }),
        json!({ "name": "batching", "n": 7, "window": 4, "refill": "each" }),
        json!({
            "name": "resize", "mss_dsr": "auto", "cwnd_dsr": "auto", "resize": "reached",
            "begins": "connection",
            "unit": "bytes", "initial_window": 2,
        }),
        json!({ "name": "staggering", "interval": "auto", "spread": 0.5 }),
        json!({ "name": "staggering", "interval": "0.001s", "spread": 0.0 }),
    ] {
        assert_eq!(json!(remedy(&params)), params);
    }
    for wrong in [
        json!({ "name": "batching", "n": "some" }),
        json!({ "name": "resize", "mss_dsr": "some" }),
        json!({ "name": "resize", "cwnd_dsr": -1 }),
    ] {
        let error = serde_json::from_value::<RemedyConfig>(wrong).expect_err("no number");
        assert!(error.to_string().ends_with("expected u32, or \"auto\""), "{error}");
    }
}
