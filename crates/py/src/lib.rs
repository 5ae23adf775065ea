//! The Python binding. Each run is one call, which releases the interpreter's lock and returns
//! arrays.

mod capture;
mod diagnose;
mod error;
#[cfg(target_os = "linux")]
mod live;
mod plan;
mod scenario;
mod serialisation;
mod spill;
mod tables;
mod theory;

use std::sync::{Arc, Mutex};

use incast_lab::probe::{KINDS, Kind};
use incast_lab::{Control as RunControl, TraceRequest};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::json;

use capture::Capture;
use error::{ScenarioError, stopped};
use scenario::Scenario;

/// Shows the progress of a run to another thread, and lets that thread stop the run.
#[pyclass(frozen, module = "incast._core")]
#[derive(Default)]
struct Control(Arc<RunControl>);

#[pymethods]
impl Control {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Asks the run to stop soon; it then raises `KeyboardInterrupt`.
    fn cancel(&self) {
        self.0.cancel();
    }

    /// The finished share of the run, 0 to 1.
    #[getter]
    fn progress(&self) -> f64 {
        self.0.progress()
    }
}

/// Engine version, with a hash of its sources (see `build.rs`).
#[pyfunction]
fn version() -> &'static str {
    env!("INCAST_ENGINE")
}

/// Parses TOML, and returns the document as JSON.
#[pyfunction]
fn document(toml: &str) -> PyResult<String> {
    let document = incast_scenario::from_toml(toml).map_err(|error| error::in_scenario(&error))?;
    Ok(document.to_string())
}

/// JSON Schema of a scenario document.
#[pyfunction]
fn schema() -> String {
    incast_scenario::schema().to_string()
}

/// Entries of a registry, as JSON.
#[pyfunction]
fn entries(kind: &str) -> PyResult<String> {
    let entries = incast_scenario::entries(kind)
        .ok_or_else(|| PyValueError::new_err(format!("there is no list of {kind:?}")))?;
    Ok(json!(entries).to_string())
}

/// The kinds of traces, as JSON.
#[pyfunction]
fn traces() -> String {
    let told =
        |kind: &Kind| json!({ "name": kind.name, "table": kind.table, "summary": kind.summary });
    json!(KINDS.iter().map(told).collect::<Vec<_>>()).to_string()
}

/// Columns of a result table with units and descriptions, as JSON.
#[pyfunction]
fn columns(table: &str) -> PyResult<String> {
    let columns = incast_lab::results::columns(table)
        .ok_or_else(|| PyValueError::new_err(format!("there is no table {table:?}")))?;
    Ok(json!(columns).to_string())
}

/// Runs a scenario with one seed. During the run, `spill` is called with each part of a long trace:
/// the name of its table, and its columns. `capture` receives the packets.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python gives is owned")]
#[pyo3(signature = (scenario, seed, traces = Vec::new(), control = None, spill = None, capture = None))]
fn run<'py>(
    py: Python<'py>,
    scenario: &Scenario,
    seed: u64,
    traces: Vec<String>,
    control: Option<&Control>,
    spill: Option<Py<PyAny>>,
    capture: Option<&Capture>,
) -> PyResult<Bound<'py, PyDict>> {
    let trace =
        TraceRequest::parse(traces.iter().map(String::as_str)).map_err(PyValueError::new_err)?;
    let control = control.map_or_else(Arc::default, |control| Arc::clone(&control.0));
    let failed = Arc::new(Mutex::new(None));
    let run = py.detach(|| -> PyResult<_> {
        let sink = spill.map(|spill| spill::sink(spill, Arc::clone(&control), Arc::clone(&failed)));
        let tap = capture.map(|capture| capture.tap(&scenario.0, seed, &control, &failed));
        let run = match (tap.transpose()?, sink) {
            (None, None) => incast_lab::run(&scenario.0, seed, &trace, &control),
            (None, Some(sink)) => {
                incast_lab::run_and_spill(&scenario.0, seed, &trace, &control, sink)
            }
            (Some(tap), sink) => {
                incast_lab::run_and_capture(&scenario.0, seed, &trace, &control, sink, tap)
            }
        }
        .map_err(stopped)?;
        Ok((run.rows, run.trace.tables()))
    });
    if let Some(error) = failed.lock().ok().and_then(|mut failed| failed.take()) {
        return Err(error);
    }
    let (rows, traces) = run?;
    let result = PyDict::new(py);
    let rows = rows.iter().map(|row| tables::row(py, row)).collect::<PyResult<Vec<_>>>()?;
    result.set_item("rows", PyList::new(py, rows)?)?;
    for trace in traces {
        result.set_item(trace.name, tables::trace(py, trace)?)?;
    }
    Ok(result)
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Control>()?;
    module.add_class::<Capture>()?;
    module.add_class::<Scenario>()?;
    module.add("ScenarioError", module.py().get_type::<ScenarioError>())?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(plan::plan, module)?)?;
    module.add_function(wrap_pyfunction!(document, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(entries, module)?)?;
    module.add_function(wrap_pyfunction!(columns, module)?)?;
    module.add_function(wrap_pyfunction!(traces, module)?)?;
    module.add_function(wrap_pyfunction!(run, module)?)?;
    diagnose::add(module)?;
    #[cfg(target_os = "linux")]
    live::add(module)?;
    module.add_function(wrap_pyfunction!(theory::follow_reads, module)?)?;
    module.add_function(wrap_pyfunction!(serialisation::serialisation, module)?)
}
