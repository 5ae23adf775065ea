//! Captures: what happened in them, and their packets as arrays.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use incast_capture::read::{Count, Merge, OpenError, Packet};
use incast_diagnose::{Analysis, Options, Vantage};
use numpy::IntoPyArray;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Packets between two looks at whether to stop.
const CHECK: u64 = 1 << 12;

/// Capture files that are open, to be read once.
#[pyclass(frozen, module = "incast._core")]
struct Captures {
    files: Mutex<Option<Merge>>,
    count: Count,
    stop: AtomicBool,
}

#[pymethods]
impl Captures {
    /// Opens them.
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "what Python gives is owned")]
    fn new(py: Python<'_>, paths: Vec<PathBuf>) -> PyResult<Self> {
        let files = py.detach(|| Merge::open(&paths)).map_err(not_a_capture)?;
        let count = files.progress().clone();
        Ok(Self { files: Mutex::new(Some(files)), count, stop: AtomicBool::new(false) })
    }

    /// Asks a reading to end soon with what it has read.
    fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// The bytes of the files that have been read so far.
    #[getter]
    fn bytes_read(&self) -> u64 {
        self.count.bytes()
    }

    /// Reads the packets, and returns the report as JSON.
    fn diagnose(&self, py: Python<'_>, vantage: Option<&str>, flows: usize) -> PyResult<String> {
        let mut files = self.take()?;
        let vantage = match vantage {
            None => None,
            Some(name) => Some(Vantage::parse(name).ok_or_else(|| {
                PyValueError::new_err(format!("{name}: must be client, server or switch"))
            })?),
        };
        let report = py.detach(|| {
            let mut analysis = Analysis::new(Options { vantage, flows });
            self.read(&mut files, |packet| analysis.take(&packet));
            analysis.finish(&files)
        });
        serde_json::to_string(&report).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// Reads the packets, and returns those of a span of nanoseconds since 1970 as arrays.
    fn packets<'py>(
        &self,
        py: Python<'py>,
        from_ns: i64,
        to_ns: i64,
        most: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        let mut files = self.take()?;
        let kept = py.detach(|| {
            let mut kept: Vec<Packet> = Vec::new();
            self.read(&mut files, |packet| {
                if (from_ns..=to_ns).contains(&packet.time) && kept.len() < most {
                    kept.push(packet);
                }
            });
            kept
        });
        let columns = PyDict::new(py);
        let text = |end: fn(&Packet) -> String| kept.iter().map(end).collect::<Vec<_>>();
        columns.set_item("source", text(|packet| packet.source.to_string()))?;
        columns.set_item("target", text(|packet| packet.target.to_string()))?;
        let number = |name: &str, value: fn(&Packet) -> i64| {
            let column: Vec<i64> = kept.iter().map(value).collect();
            columns.set_item(name, column.into_pyarray(py))
        };
        number("time_ns", |packet| packet.time)?;
        number("frame", |packet| packet.frame as i64)?;
        number("point", |packet| packet.point.into())?;
        number("seq", |packet| packet.seq.into())?;
        number("ack", |packet| packet.ack.into())?;
        number("flags", |packet| packet.flags.into())?;
        number("payload", |packet| packet.payload.into())?;
        number("size", |packet| packet.size.into())?;
        Ok(columns)
    }
}

impl Captures {
    fn take(&self) -> PyResult<Merge> {
        let files = self.files.lock().map_or(None, |mut files| files.take());
        files.ok_or_else(|| PyRuntimeError::new_err("the captures have been read"))
    }

    fn read(&self, files: &mut Merge, mut each: impl FnMut(Packet)) {
        for (number, packet) in (1..).zip(files) {
            each(packet);
            if u64::is_multiple_of(number, CHECK) && self.stop.load(Ordering::Relaxed) {
                break;
            }
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "what map_err gives is owned")]
fn not_a_capture(error: OpenError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Adds the class.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Captures>()
}
