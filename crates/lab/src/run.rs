//! One run: from a scenario and a seed to rows and traces, or an error.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use incast_net::packets::{Exhausted, MOST_PACKETS};

use crate::control::{Cancelled, Control};
use crate::core::Wires;
use crate::probe::{Setting, Silent, Sink, Trace, TraceRequest};
use crate::results::Row;
use crate::tap::Tap;
use crate::world::World;
use incast_scenario::Scenario;

/// The reason why a run has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The run was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// The memory is exhausted.
    #[error(
        "run: more than {MOST_PACKETS} {0}: they arrive faster than the links carry them; lower \
         the rates of background traffic, or let the retransmission timer wait longer"
    )]
    Exhausted(&'static str),
}

/// The results of a run.
#[derive(Debug)]
pub struct Run {
    /// One row per group; the sum of the workloads (`all`) is first.
    pub rows: Vec<Row>,
    /// The recorded traces.
    pub trace: Trace,
}

/// Runs one point of a plan with one seed.
///
/// # Errors
/// [`RunError::Cancelled`] if `control` was cancelled, [`RunError::Exhausted`] if the memory is
/// exhausted.
pub fn run(
    scenario: &Scenario,
    seed: u64,
    trace: &TraceRequest,
    control: &Control,
) -> Result<Run, RunError> {
    guarded(|| run_world(scenario, seed, trace, control, Outlets::default()))
}

/// Like [`run`], but passes on the rows of long traces during the run. The returned trace has only
/// the last rows.
///
/// # Errors
/// As in [`run`].
pub fn run_and_spill(
    scenario: &Scenario,
    seed: u64,
    trace: &TraceRequest,
    control: &Control,
    sink: Sink,
) -> Result<Run, RunError> {
    let outlets = Outlets { sink: Some(sink), tap: None };
    guarded(|| run_world(scenario, seed, trace, control, outlets))
}

/// Like [`run`], but writes a capture. If there is a sink, this function also passes on rows as
/// [`run_and_spill`] does. The tap must belong to the same scenario.
///
/// # Errors
/// As in [`run`].
pub fn run_and_capture(
    scenario: &Scenario,
    seed: u64,
    trace: &TraceRequest,
    control: &Control,
    sink: Option<Sink>,
    tap: Tap,
) -> Result<Run, RunError> {
    let outlets = Outlets { sink, tap: Some(tap) };
    guarded(|| run_world(scenario, seed, trace, control, outlets))
}

/// The sink of traces and the tap of packets during a run.
#[derive(Default)]
struct Outlets {
    sink: Option<Sink>,
    tap: Option<Tap>,
}

/// Converts the panic of a run with exhausted memory to an error. The panic drops the world.
fn guarded(run: impl FnOnce() -> Result<Run, RunError>) -> Result<Run, RunError> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|why| match why.downcast::<Exhausted>() {
        Ok(of) => Err(RunError::Exhausted(of.what)),
        Err(why) => resume_unwind(why),
    })
}

fn run_world(
    scenario: &Scenario,
    seed: u64,
    trace: &TraceRequest,
    control: &Control,
    outlets: Outlets,
) -> Result<Run, RunError> {
    let Outlets { sink, tap } = outlets;
    if trace.is_empty() && tap.is_none() {
        let (rows, _) = World::new(scenario, seed, |_| Silent).run(control)?;
        return Ok(Run { rows, trace: Trace::default() });
    }
    let build = |setting: &Setting| {
        let mut built = Trace::new(trace, setting);
        if let Some(sink) = sink {
            built.spill_to(sink);
        }
        built.tap = tap;
        built
    };
    let (rows, core) = World::new(scenario, seed, build).run(control)?;
    let Wires { mut probe, mut network, queue, .. } = core.wires;
    probe.finish(queue.now(), &mut network);
    Ok(Run { rows, trace: probe })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_for_which_memory_would_not_do_is_an_error_of_one_line() {
        let error = guarded(|| Exhausted { what: "packets" }.stop()).expect_err("it unwinds");
        assert_eq!(error, RunError::Exhausted("packets"));
        let line = error.to_string();
        assert!(
            line.starts_with("run: more than 8388608 packets") && !line.contains('\n'),
            "{line}"
        );
        let other = || guarded(|| resume_unwind(Box::new("another")));
        assert!(
            catch_unwind(AssertUnwindSafe(other)).is_err(),
            "other panics are none of its business"
        );
    }
}
