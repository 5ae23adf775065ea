//! Any two remedies either can be combined, or are refused with a reason.

use std::cell::Cell;

use incast_remedies::ENTRIES;
use incast_scenario::{Scenario, ScenarioError};
use proptest::prelude::*;
use proptest::test_runner::{TestError, TestRunner};
use serde_json::{Value, json};

use crate::harness::lay;
use crate::laws;

/// Small stars with small buffers. Keys that a remedy may set are not given.
fn stars() -> impl Strategy<Value = Value> {
    let network = (
        prop::sample::select(vec!["100Mbps", "1Gbps", "10Gbps"]),
        5_u64..100,
        4_u64..40,
        any::<bool>(),
    );
    let workload = (
        1_u32..=10,
        prop_oneof![1_u64..3000, 3000_u64..60_000],
        1_u32..=3,
        prop::sample::select(vec!["fresh", "persistent"]),
        0_u64..50,
    );
    let mss = prop::sample::select(vec![536_u64, 1000, 1460]);
    (network, workload, mss).prop_map(|(network, workload, mss)| {
        let (rate, delay, buffer, counts_in_service) = network;
        let (servers, sru, blocks, connections, jitter) = workload;
        json!({
            "network": {
                "rate": rate,
                "delay": format!("{delay}us"),
                "buffer": buffer * (mss + 40),
                "buffer_counts_in_service": counts_in_service,
            },
            "workload": {
                "name": "barrier-read",
                "servers": servers,
                "sru": sru,
                "blocks": blocks,
                "connections": connections,
                "request_jitter": format!("{jitter}us"),
            },
            "transport": { "mss": mss },
            "run": { "time_limit": "1000000s" },
        })
    })
}

fn load(star: &Value, remedies: &[&str]) -> Result<Scenario, ScenarioError> {
    let mut document = star.clone();
    lay(&mut document, &json!({ "transport": { "remedies": remedies } }));
    Scenario::from_document(&document)
}

/// Runs a star with two remedies, in both orders, or checks that the star is refused with a reason.
/// Returns whether the star ran.
fn combine(star: &Value, one: &str, other: &str) -> bool {
    match [load(star, &[one, other]), load(star, &[other, one])] {
        [Ok(scenario), Ok(turned)] => {
            laws::hold(&scenario);
            assert_eq!(laws::rows(&scenario), laws::rows(&turned), "their order matters");
            true
        }
        [Err(error), Err(turned)] => {
            for error in [error.to_string(), turned.to_string()] {
                let names = |name: &&str| error.contains(&format!("{name:?}"));
                // If a remedy refuses the star even when used alone, the error need not name the
                // other remedy.
                let alone = |name: &&str| names(name) && load(star, &[name]).is_err();
                let both = [one, other];
                let is_told = both.iter().all(names) || both.iter().any(alone);
                assert!(is_told, "it does not name both: {error}");
            }
            false
        }
        _ => panic!("one order is refused, the other is not"),
    }
}

/// Tests 4 stars, or more if `INCAST_CASES` is set.
fn in_stars(what: &str, test: impl Fn(&Value)) {
    let config = laws::config();
    let config = ProptestConfig { cases: config.cases.div_ceil(25), ..config };
    let result = TestRunner::new(config).run(&stars(), |star| {
        test(&star);
        Ok(())
    });
    match result {
        Err(TestError::Fail(why, star)) => panic!("{what}: {why}\nminimal star: {star}"),
        result => result.expect("stars can be made"),
    }
}

#[test]
fn every_remedy_obeys_the_laws_by_itself() {
    for entry in ENTRIES {
        in_stars(entry.name, |star| {
            laws::hold(&load(star, &[entry.name]).unwrap_or_else(|error| panic!("{error}")));
        });
    }
}

#[test]
fn every_two_remedies_obey_the_laws_or_are_refused_with_both_names() {
    let (together, apart) = (Cell::new(0), Cell::new(0));
    for (index, one) in ENTRIES.iter().enumerate() {
        for other in &ENTRIES[index..] {
            in_stars(&format!("{:?} and {:?}", one.name, other.name), |star| {
                let ran = combine(star, one.name, other.name);
                assert!(!ran || one.name != other.name, "twice the same");
                let count = if ran { &together } else { &apart };
                count.set(count.get() + 1);
            });
        }
    }
    assert!(together.get() > 0 && apart.get() > 0, "{together:?} combine, {apart:?} do not");
}
