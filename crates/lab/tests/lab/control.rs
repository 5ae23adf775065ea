//! Progress and cancellation of a run.

use incast_lab::{Control, RunError, TraceRequest};
use serde_json::json;

use crate::harness::{MSS, scenario};

/// A run of thousands of events.
fn run(control: &Control) -> Result<incast_lab::Run, RunError> {
    let scenario =
        scenario(&json!({ "workload": { "servers": 8, "sru": 64 * MSS, "blocks": 20 } }));
    incast_lab::run(&scenario, 1, &TraceRequest::default(), control)
}

#[test]
fn a_cancelled_run_has_no_result() {
    let control = Control::default();
    control.cancel();
    assert!(matches!(run(&control), Err(RunError::Cancelled(_))));
}

#[test]
fn a_run_says_how_far_it_is() {
    let control = Control::default();
    run(&control).expect("nobody cancels");
    assert!(control.progress() > 0.5, "{}", control.progress());
}
