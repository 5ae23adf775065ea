//! Every cause of a timeout, constructed packet by packet, at the head of a block and inside it.
//! Also every cause of a stall.

mod counts;
mod data;
mod handshake;
mod precedence;
pub mod stalls;

use serde_json::Value;

use crate::harness::{Expiry, Loss, Outcome, run, scenario};

/// At the head of a block (ABTT).
const HEAD: bool = true;
/// Inside a block (IBTT).
const INSIDE: bool = false;

/// The timeouts of the small world with `changes`, if its switch drops `losses`.
fn expiries(changes: &Value, losses: impl IntoIterator<Item = Loss>) -> Vec<Expiry> {
    finished(changes, losses).expiries()
}

/// Runs the small world with `losses`, and checks that all data are delivered.
fn finished(changes: &Value, losses: impl IntoIterator<Item = Loss>) -> Outcome {
    let outcome = run(&scenario(changes), losses.into_iter().collect());
    assert_eq!(outcome.row().status, "ok", "{:?}", outcome.expiries());
    outcome
}
