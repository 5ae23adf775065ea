//! Tests of scenarios, by behaviour.

mod defaults;
mod errors;
mod facts;
mod files;
mod networks;
mod ranges;
mod remedies;
mod resolved;
mod schema;
mod sweep;
mod text;
mod traffic;

use incast_host::Transport;
use incast_tcp::Config;
use incast_traffic::WorkloadConfig;
use serde_json::{Value, json};

use super::{Scenario, plan};

/// The configuration of a transport that is TCP.
trait OfTcp {
    fn of_tcp(&self) -> Config;
}

impl OfTcp for Transport {
    fn of_tcp(&self) -> Config {
        self.tcp().expect("it is TCP").config.clone()
    }
}

/// The smallest scenario, with `keys` (dotted) set.
fn with(keys: &[(&str, Value)]) -> Value {
    let mut document = json!({ "workload": { "servers": 4, "sru": "64KiB" } });
    for (key, value) in keys {
        super::document::set(&mut document, key, value).unwrap();
    }
    document
}

/// The parameters of the first workload, which is a barrier read.
fn read_of(scenario: &Scenario) -> &incast_traffic::barrier_read::Params {
    match &scenario.traffic.workloads[0].config {
        WorkloadConfig::BarrierRead(read) => read,
        other => panic!("{other:?}"),
    }
}

fn load(keys: &[(&str, Value)]) -> Scenario {
    Scenario::from_document(&with(keys)).unwrap_or_else(|error| panic!("{error}"))
}

/// The error message for the smallest scenario with `keys` set.
fn refusal(keys: &[(&str, Value)]) -> String {
    plan(&with(keys)).expect_err("the document should be refused").to_string()
}
