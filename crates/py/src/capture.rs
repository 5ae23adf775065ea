//! A capture of a run's packets: the path of its file, and its options.

use std::fs::File;
use std::io::{BufWriter, Result, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use incast_lab::tap::{LEAST_SNAPLEN, Order};
use incast_lab::{Control, Tap};
use incast_scenario::Scenario as Resolved;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::scenario::Scenario;

/// Size of the write buffer, bytes.
const BUFFER: usize = 1 << 20;

/// A requested capture: its file and its options.
#[pyclass(frozen, module = "incast._core")]
pub struct Capture {
    path: PathBuf,
    order: Order,
}

#[pymethods]
impl Capture {
    #[new]
    #[pyo3(signature = (path, at = "client", snaplen = 96, truth = false, offload = false))]
    fn new(path: PathBuf, at: &str, snaplen: u32, truth: bool, offload: bool) -> PyResult<Self> {
        let at = at.parse().map_err(PyValueError::new_err)?;
        if snaplen < LEAST_SNAPLEN {
            let line = format!("{snaplen} must be at least {LEAST_SNAPLEN}, the headers of TCP");
            return Err(PyValueError::new_err(line));
        }
        Ok(Self { path, order: Order { at, snaplen, truth, offload } })
    }

    /// Raises an error if the scenario does not have the vantage point.
    fn check(&self, scenario: &Scenario) -> PyResult<()> {
        self.order.at.check(&scenario.0).map_err(PyValueError::new_err)
    }
}

impl Capture {
    /// Begins the file. The first write error is stored in `failed`, and cancels the run.
    pub fn tap(
        &self,
        scenario: &Resolved,
        seed: u64,
        control: &Arc<Control>,
        failed: &Arc<Mutex<Option<PyErr>>>,
    ) -> PyResult<Tap> {
        self.order.at.check(scenario).map_err(PyValueError::new_err)?;
        let file = File::create(&self.path)?;
        let output = Output { file, control: Arc::clone(control), failed: Arc::clone(failed) };
        let output = Box::new(BufWriter::with_capacity(BUFFER, output));
        Ok(Tap::new(scenario, seed, &self.order, output)?)
    }
}

#[cfg(target_os = "linux")]
impl Capture {
    /// Begins the file of a capture of real hosts. The options `truth` and `offload` have no
    /// effect.
    pub fn of_hosts(&self, scenario: &Resolved) -> PyResult<incast_live::Wanted> {
        self.order.at.check(scenario).map_err(PyValueError::new_err)?;
        let out = Box::new(BufWriter::with_capacity(BUFFER, File::create(&self.path)?));
        Ok(incast_live::Wanted { at: self.order.at, snaplen: self.order.snaplen, out })
    }
}

/// The file of a capture. The first write error cancels the run.
struct Output {
    file: File,
    control: Arc<Control>,
    failed: Arc<Mutex<Option<PyErr>>>,
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.file.write(bytes).inspect_err(|error| {
            self.control.cancel();
            let kept = error.raw_os_error().map_or_else(
                || std::io::Error::from(error.kind()),
                std::io::Error::from_raw_os_error,
            );
            if let Ok(mut failed) = self.failed.lock() {
                failed.get_or_insert(kept.into());
            }
        })
    }

    fn flush(&mut self) -> Result<()> {
        self.file.flush()
    }
}
