//! Real hosts: their namespaces, and the switch between them.

use std::io::Error;
use std::sync::Mutex;

use incast_lab::Relay;
use incast_live::{FIRST_PORT, Haste, Namespace as Net, Report, Switch as Running};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::capture::Capture;
use crate::scenario::Scenario;

/// A network namespace, which ends with this object.
#[pyclass(frozen, module = "incast._core")]
struct Namespace(Net);

#[pymethods]
impl Namespace {
    /// Makes a new namespace.
    #[new]
    fn new() -> PyResult<Self> {
        Ok(Self(Net::new()?))
    }

    /// The namespace of the calling thread.
    #[staticmethod]
    fn current() -> PyResult<Self> {
        Ok(Self(Net::current()?))
    }

    /// Moves the calling thread into this namespace.
    fn enter(&self) -> PyResult<()> {
        Ok(self.0.enter()?)
    }

    /// The file descriptor of this namespace.
    #[getter]
    fn descriptor(&self) -> i32 {
        self.0.descriptor()
    }
}

/// A switch that moves the frames of real hosts, on a thread of its own.
#[pyclass(frozen, module = "incast._core")]
struct Switch(Mutex<Option<Running>>);

#[pymethods]
impl Switch {
    /// Starts the switch in the calling thread's namespace. `capture` receives the frames.
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "what Python gives is owned")]
    #[pyo3(signature = (scenario, seed, interfaces, capture = None))]
    fn new(
        scenario: &Scenario,
        seed: u64,
        interfaces: Vec<u32>,
        capture: Option<&Capture>,
    ) -> PyResult<Self> {
        let capture = capture.map(|capture| capture.of_hosts(&scenario.0)).transpose()?;
        let running = Running::start(&scenario.0, seed, &interfaces, capture)?;
        Ok(Self(Mutex::new(Some(running))))
    }

    /// Stops the switch, and returns its measurements.
    fn stop<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let running = self.0.lock().map_or(None, |mut running| running.take());
        let running =
            running.ok_or_else(|| PyRuntimeError::new_err("the switch has been stopped"))?;
        let report = py.detach(|| running.stop()).map_err(|error: Error| PyErr::from(error))?;
        measured(py, &report)
    }
}

/// For each flow, the numbers of its sending host and of its client. Hosts are numbered from 0, the
/// clients first.
#[pyfunction]
fn pairs(scenario: &Scenario) -> Vec<(u32, u32)> {
    let relay = Relay::new(&scenario.0, 1);
    relay.flows().iter().map(|(sender, client)| (sender.0, client.0)).collect()
}

/// If `wanted`, gives the calling thread, which serves hosts, precedence over ordinary threads;
/// otherwise removes the precedence.
#[pyfunction]
fn hurry(wanted: bool) -> bool {
    incast_live::hurry(if wanted { Haste::Hosts } else { Haste::None })
}

fn measured<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let Report { tally, length, .. } = report;
    let (port, length_s) = (&tally.port, length.as_secs_f64().max(f64::MIN_POSITIVE));
    let told = PyDict::new(py);
    told.set_item("drops", tally.drops)?;
    told.set_item("drop_ratio", port.dropped as f64 / port.offered.max(1) as f64)?;
    told.set_item("marks", tally.marks)?;
    told.set_item("queue_max_packets", port.max_packets)?;
    told.set_item("queue_max_bytes", port.max_bytes)?;
    told.set_item("queue_mean_bytes", port.byte_time as f64 / 1e12 / length_s)?;
    told.set_item("link_utilization", tally.sending.as_secs_f64() / length_s)?;
    told.set_item("packet_hops", tally.hops)?;
    told.set_item("length_s", length_s)?;
    told.set_item("frames", report.frames)?;
    told.set_item("foreign", report.foreign)?;
    told.set_item("missed", report.missed)?;
    told.set_item("late_max_s", report.worst.as_secs_f64())?;
    told.set_item("late_p99_s", report.p99.as_secs_f64())?;
    told.set_item("busy", report.busy.as_secs_f64() / length_s)?;
    told.set_item("real_time", report.real_time)?;
    Ok(told)
}

/// Adds the classes, the functions, and the TCP port of flow 0 at its server to the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Namespace>()?;
    module.add_class::<Switch>()?;
    module.add_function(wrap_pyfunction!(hurry, module)?)?;
    module.add_function(wrap_pyfunction!(pairs, module)?)?;
    module.add("FIRST_PORT", FIRST_PORT)
}
