//! The ranges of the parameters of registry entries: values inside and outside.

use serde_json::{Value, json};

use super::super::{ranges, schema};

const CONTROL: &str = "CongestionControlConfig";
const QUEUE: &str = "QueueConfig";
const REMEDY: &str = "RemedyConfig";

fn check(definition: &str, entry: &Value) -> Result<(), String> {
    ranges::check_entry(entry, definition, "it", schema::kept()).map_err(|it| it.to_string())
}

/// The registry, an entry, a parameter, values outside its range, and the range as errors print it.
type Case = (&'static str, &'static str, &'static str, &'static [f64], &'static str);

const POSITIVE: &str = "above 0 and at most 1000000000";
const COUNT: &str = "1 to 1000000000";
const RATIO: &str = "0 to 1";
const WEIGHT: &str = "above 0 and at most 1";

const CONTROLS: &[Case] = &[
    (CONTROL, "bbr", "startup_gain", &[1.0, 2e9], "above 1 and at most 1000000000"),
    (CONTROL, "bbr", "cwnd_gain", &[0.0], POSITIVE),
    (CONTROL, "bbr", "probe_gain", &[1.0, 2.0], "above 1 and below 2"),
    (CONTROL, "bbr", "bandwidth_rounds", &[0.0], COUNT),
    (CONTROL, "bbr", "least_window", &[0.0], COUNT),
    (CONTROL, "bbr", "full_rounds", &[0.0], COUNT),
    (CONTROL, "bic", "beta", &[0.0, 1.0], "above 0 and below 1"),
    (CONTROL, "bic", "max_increment", &[0.0], POSITIVE),
    (CONTROL, "bic", "divisor", &[1.0], "2 to 1000000000"),
    (CONTROL, "bic", "smooth_part", &[0.0], COUNT),
    (CONTROL, "cubic", "c", &[0.0, 1e10], POSITIVE),
    (CONTROL, "cubic", "beta", &[0.0, 1.0], "above 0 and below 1"),
    (CONTROL, "d2tcp", "least_urgency", &[0.0], POSITIVE),
    (CONTROL, "dctcp", "alpha", &[-0.1, 1.5], RATIO),
    (CONTROL, "dctcp", "g", &[0.0, 1.1], WEIGHT),
    (CONTROL, "dctcp", "floor", &[0.0], COUNT),
    (CONTROL, "l2dct", "greatest_weight", &[0.0], POSITIVE),
    (CONTROL, "l2dct", "least_weight", &[0.0], POSITIVE),
    (CONTROL, "swift", "target_ratio", &[0.9], COUNT),
    (CONTROL, "swift", "flow_scaling", &[-0.1], "0 to 1000000000"),
    (CONTROL, "swift", "least_scaled_window", &[0.0], POSITIVE),
    (CONTROL, "swift", "increase", &[0.0], POSITIVE),
    (CONTROL, "swift", "beta", &[-0.1, 1.1], RATIO),
    (CONTROL, "swift", "max_decrease", &[-0.1, 1.0], "at least 0 and below 1"),
    (CONTROL, "swift", "least_window", &[0.0], POSITIVE),
    (CONTROL, "swift", "timeout_reset", &[0.0], COUNT),
    (CONTROL, "tcp-fitdc", "step", &[0.0], POSITIVE),
    (CONTROL, "tcp-fitdc", "backlog", &[0.0], POSITIVE),
    (CONTROL, "tdctcp", "increase", &[-1.0], "0 to 1000000000"),
    (CONTROL, "vegas", "loss_window", &[0.0, 3.0], "1 to 2"),
    (CONTROL, "westwood", "memory", &[-0.1, 1.0], "at least 0 and below 1"),
    ("RecoveryConfig", "rack-tlp", "reordering_divisor", &[0.0], COUNT),
    ("RecoveryConfig", "rack-tlp", "probe_rtts", &[0.0], COUNT),
];

const SWITCHES: &[Case] = &[
    (QUEUE, "bernoulli", "p", &[-0.1, 1.5], RATIO),
    (QUEUE, "red", "max_p", &[-0.1, 1.1], RATIO),
    (QUEUE, "red", "weight", &[0.0, 1.1], WEIGHT),
    (QUEUE, "wred", "weight", &[0.0, 1.1], WEIGHT),
    (QUEUE, "rapid", "followers", &[0.0, 4.0], "1 to 3"),
    (QUEUE, "segregation", "threshold", &[0.0, -1.0], POSITIVE),
    (QUEUE, "segregation", "weight", &[0.0, 1.5], WEIGHT),
    (QUEUE, "segregation", "train", &[1.0], "2 to 1000000000"),
    ("Topology", "chain", "switches", &[0.0, 101.0], "1 to 100"),
    ("Topology", "two-tier", "racks", &[0.0, 1001.0], "1 to 1000"),
    ("Topology", "leaf-spine", "leaves", &[0.0, 1001.0], "1 to 1000"),
    ("Topology", "leaf-spine", "spines", &[0.0, 101.0], "1 to 100"),
    ("Topology", "parallel", "paths", &[0.0, 1001.0], "1 to 1000"),
    ("Workload", "empirical-flows", "load", &[0.0], POSITIVE),
];

const REMEDIES: &[Case] = &[
    (REMEDY, "adaptive-pacing", "spread", &[-0.1, 1000.1], "0 to 1000"),
    (REMEDY, "adaptive-rto", "factor", &[0.0, 1001.0], "1 to 1000"),
    (REMEDY, "batching", "n", &[0.0], COUNT),
    (REMEDY, "ccs", "observed", &[0.0], COUNT),
    (REMEDY, "efr", "alpha", &[-0.1, 1.1], RATIO),
    (REMEDY, "efr", "g", &[0.0, 1.1], WEIGHT),
    (REMEDY, "fine-rto", "jitter", &[-0.1], "0 to 1000000000"),
    (REMEDY, "gip", "copies", &[11.0], "0 to 10"),
    (REMEDY, "head-tail", "patience", &[0.0, 1001.0], "1 to 1000"),
    (REMEDY, "head-tail", "tries", &[101.0], "0 to 100"),
    (REMEDY, "header-compression", "size", &[0.0], "1 to 255"),
    (REMEDY, "ia-tcp", "workers", &[0.0], COUNT),
    (REMEDY, "ia-tcp", "utilization", &[0.0, 1.1], WEIGHT),
    (REMEDY, "ictcp", "alpha", &[1.1], RATIO),
    (REMEDY, "ictcp", "beta", &[-0.1], RATIO),
    (REMEDY, "ictcp", "gamma1", &[1.1], RATIO),
    (REMEDY, "ictcp", "gamma2", &[1.1], RATIO),
    (REMEDY, "ictcp", "fairness", &[1.1], RATIO),
    (REMEDY, "ictcp", "min_window", &[0.0, 65_536.0], "1 to 65535"),
    (REMEDY, "ictcp", "initial_window", &[0.0, 65_536.0], "1 to 65535"),
    (REMEDY, "nccs", "k", &[0.0, 3e9], COUNT),
    (REMEDY, "nccs", "observed", &[0.0], COUNT),
    (REMEDY, "ocs", "full", &[1.1], RATIO),
    (REMEDY, "ocs", "round_trips", &[0.0], COUNT),
    (REMEDY, "ocs", "observed", &[0.0], COUNT),
    (REMEDY, "prob-rtx", "p", &[-0.1, 1.1], RATIO),
    (REMEDY, "rapid", "followers", &[0.0, 4.0], "1 to 3"),
    (REMEDY, "resize", "mss_dsr", &[0.0], COUNT),
    (REMEDY, "resize", "cwnd_dsr", &[1.0], "2 to 1000000000"),
    (REMEDY, "resize", "initial_window", &[0.0], COUNT),
    (REMEDY, "staggering", "spread", &[-0.1, 1.1], RATIO),
];

#[test]
fn what_is_beyond_a_range_is_refused_with_it() {
    for (definition, name, key, beyond, range) in [CONTROLS, SWITCHES, REMEDIES].concat() {
        for value in beyond {
            let line = format!("it.{key}: {value} is out of range; must be {range}");
            assert_eq!(
                check(definition, &json!({ "name": name, key: value })),
                Err(line),
                "{name}"
            );
        }
    }
}

#[test]
fn tables_in_an_entry_and_lists_of_them_have_ranges_too() {
    for key in ["divisor", "samples", "css_divisor", "css_rounds", "limit"] {
        let entry = json!({ "name": "cubic", "hystart": { "name": "rfc9406", key: 0 } });
        let line = format!("it.hystart.{key}: 0 is out of range; must be {COUNT}");
        assert_eq!(check(CONTROL, &entry), Err(line));
    }
    for key in ["divisor", "samples", "train_divisor"] {
        let entry = json!({ "name": "cubic", "hystart": { "name": "linux", key: 0 } });
        let line = format!("it.hystart.{key}: 0 is out of range; must be {COUNT}");
        assert_eq!(check(CONTROL, &entry), Err(line));
    }
    let entry = json!({ "name": "wred", "classes": [{}, { "max_p": 2.0 }] });
    let line = format!("it.classes.1.max_p: 2 is out of range; must be {RATIO}");
    assert_eq!(check(QUEUE, &entry), Err(line));
    let size = json!({ "name": "pareto", "min": 1, "max": 2, "shape": 0 });
    let entry = json!({ "name": "poisson-flows", "size": size });
    let line = format!("it.size.shape: 0 is out of range; must be {POSITIVE}");
    assert_eq!(check("Workload", &entry), Err(line));
}

#[test]
fn the_ends_of_a_range_belong_to_it_and_names_have_none() {
    for (definition, entry) in [
        (CONTROL, json!({ "name": "bic", "divisor": 2.0, "smooth_part": 1.0, "beta": 0.999 })),
        (CONTROL, json!({ "name": "dctcp", "alpha": 0.0, "g": 1.0, "floor": 1 })),
        (CONTROL, json!({ "name": "dctcp", "alpha": 1.0, "g": 0.001 })),
        (CONTROL, json!({ "name": "vegas", "loss_window": 2 })),
        (CONTROL, json!({ "name": "westwood", "memory": 0.0 })),
        (QUEUE, json!({ "name": "bernoulli", "p": 1.0 })),
        (QUEUE, json!({ "name": "segregation", "weight": 1.0, "train": 2 })),
        ("Topology", json!({ "name": "chain", "switches": 100 })),
        (REMEDY, json!({ "name": "adaptive-pacing", "spread": 0.0 })),
        (REMEDY, json!({ "name": "batching", "n": 1 })),
        (REMEDY, json!({ "name": "gip", "copies": 10 })),
        (REMEDY, json!({ "name": "head-tail", "patience": 1000, "tries": 0 })),
        (REMEDY, json!({ "name": "ictcp", "initial_window": 65_535, "min_window": 1 })),
        (REMEDY, json!({ "name": "ictcp", "initial_window": "auto" })),
        (REMEDY, json!({ "name": "prob-rtx", "p": 1.0 })),
        (REMEDY, json!({ "name": "prob-rtx", "p": "auto" })),
        (REMEDY, json!({ "name": "resize", "mss_dsr": 1, "cwnd_dsr": 2, "initial_window": 1 })),
    ] {
        assert_eq!(check(definition, &entry), Ok(()), "{entry}");
    }
}
