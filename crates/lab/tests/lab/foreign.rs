//! Entries of TCP's and of the network's registries that are defined elsewhere, in whole runs.

use std::sync::Arc;

use incast_engine::{Elsewhere, Foreign};
use incast_host::{Family, Tcp};
use incast_lab::{Control, Row, TraceRequest, run};
use incast_net::topology::{Fabric, Shape, TopologyConfig};
use incast_remedies::{Installation, Outcome, Place, Remedy, RemedyConfig, Requirement, Situation};
use incast_scenario::Scenario;
use incast_tcp::congestion::{CongestionControlConfig, CustomControl, Initial};
use incast_tcp::hooks::SenderHook;
use incast_tcp::recovery::{LossRecovery, RecoveryConfig};
use serde_json::{Value, json};

use crate::harness::lay;

/// A read that loses packets, with `changes`.
fn scenario(changes: &Value) -> Scenario {
    let mut document = json!({
        "network": { "buffer": "32KiB" },
        "workload": { "servers": 12, "sru": "48KiB", "blocks": 3 },
        "transport": { "rto_min": "5ms" },
    });
    lay(&mut document, changes);
    Scenario::from_document(&document).expect("it is a scenario")
}

fn tcp(scenario: &mut Scenario) -> &mut Tcp {
    match &mut scenario.transport.family {
        Family::Tcp(tcp) => tcp,
        Family::Other(_) => unreachable!("the transport is TCP"),
    }
}

/// The row of a run, as text without the time that the run took.
fn row(scenario: &Scenario) -> String {
    let none = TraceRequest::default();
    let mut rows = run(scenario, 1, &none, &Control::default()).expect("nobody cancels").rows;
    assert_eq!((rows[0].status, rows[0].blocks), ("ok", 3));
    assert!(rows[0].drops > 0);
    format!("{:?}", Row { wall_s: 0.0, ..rows.remove(0) })
}

#[test]
fn a_control_and_a_recovery_from_elsewhere_run_as_those_of_the_lists() {
    let listed = scenario(&json!({ "transport": { "name": "cubic" } }));
    let mut foreign = scenario(&json!({ "transport": { "name": "newreno" } }));
    assert_ne!(row(&listed), row(&foreign));
    let config = tcp(&mut listed.clone()).config.clone();
    let (control, recovery) = (config.congestion_control, config.recovery);
    let build = move |initial: &Initial| -> Box<dyn CustomControl> {
        Box::new(control.build(initial.window, initial.ssthresh))
    };
    let repair = move |(): &()| -> Box<dyn LossRecovery + Send> { Box::new(recovery.build()) };
    let config = &mut tcp(&mut foreign).config;
    config.congestion_control = CongestionControlConfig::Foreign(Foreign::new("mine", build));
    config.recovery = RecoveryConfig::Foreign(Foreign::new("ours", repair));
    assert_eq!(row(&foreign), row(&listed));
    let table = &foreign.resolved()["transport"];
    assert_eq!(table["congestion_control"], json!({ "name": "foreign", "entry": "mine" }));
    assert_eq!(table["recovery"], json!({ "name": "foreign", "entry": "ours" }));
}

/// A remedy that does what another one does.
struct Same(RemedyConfig);

impl Remedy for Same {
    fn requires(&self) -> Vec<Requirement> {
        self.0.remedy().requires()
    }

    fn install(&self, situation: &Situation) -> Box<dyn Installation> {
        Box::new(Installed(self.0.remedy().install(situation)))
    }
}

struct Installed(Box<dyn Installation>);

impl Installation for Installed {
    fn measure(&self, _: &Outcome) -> Vec<Option<f64>> {
        Vec::new()
    }

    fn sender(&mut self, place: Place<'_>) -> Option<Box<dyn SenderHook>> {
        self.0.sender(place)
    }
}

#[test]
fn a_remedy_from_elsewhere_acts_and_is_named() {
    let remedy = json!({ "name": "prob-rtx", "p": 0.3 });
    let listed = scenario(&json!({ "transport": { "remedies": [remedy] } }));
    let mut foreign = scenario(&json!({}));
    assert_ne!(row(&listed), row(&foreign));
    let inner: RemedyConfig = serde_json::from_value(remedy).expect("it is in the list");
    let same = Elsewhere::<dyn Remedy + Send + Sync>::new("same", Arc::new(Same(inner)));
    tcp(&mut foreign).remedies = vec![RemedyConfig::Foreign(same)];
    let told = run(&foreign, 1, &TraceRequest::default(), &Control::default());
    let rows = told.expect("nobody cancels").rows;
    assert_eq!((rows[0].status, rows[0].blocks), ("ok", 3));
    assert_eq!(tcp(&mut foreign).remedies[0].name(), "same");
    let table = &foreign.resolved()["transport"]["remedies"];
    assert_eq!(*table, json!([{ "name": "foreign", "entry": "same" }]));
}

/// A topology that has the switches of another one.
struct Copied(TopologyConfig);

impl Shape for Copied {
    fn fabric(&self) -> Fabric {
        self.0.shape().fabric()
    }
}

#[test]
fn a_topology_from_elsewhere_has_its_switches() {
    let chain = json!({ "name": "chain", "switches": 3 });
    let listed = scenario(&json!({ "network": { "topology": chain } }));
    let mut foreign = listed.clone();
    let shape = Copied(listed.network.topology.clone());
    let shape = Elsewhere::<dyn Shape + Send + Sync>::new("copied", Arc::new(shape));
    foreign.network.topology = TopologyConfig::Foreign(shape);
    assert_eq!(row(&foreign), row(&listed));
    assert_eq!(foreign.network.topology.name(), "copied");
    let table = foreign.resolved()["network"]["topology"].clone();
    assert_eq!(table, json!({ "name": "foreign", "entry": "copied" }));
}
