//! Reads captures: returns their diagnosis, or their packets as arrays.

use std::path::PathBuf;
use std::sync::Mutex;

use incast_capture::read::{Count, Merge, OpenError, Packet};
use incast_diagnose::{Analysis, Options, Vantage};
use numpy::IntoPyArray;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Number of packets between two checks for signals.
const CHECK: usize = 1 << 16;

/// Capture files, which can be read once.
#[pyclass(frozen, module = "incast._core")]
struct Captures {
    files: Mutex<Files>,
    count: Count,
}

enum Files {
    Named(Vec<PathBuf>),
    Open(Merge),
    Read,
}

#[pymethods]
impl Captures {
    /// Takes the paths of the files.
    #[new]
    fn new(paths: Vec<PathBuf>) -> Self {
        Self { files: Mutex::new(Files::Named(paths)), count: Count::default() }
    }

    /// Opens the files, if they are not open yet.
    fn open(&self, py: Python<'_>) -> PyResult<()> {
        let files = self.take(py)?;
        if let Ok(mut place) = self.files.lock() {
            *place = Files::Open(files);
        }
        Ok(())
    }

    /// Asks a running `diagnose` or `packets` to end soon. Its result then covers the packets read
    /// so far.
    fn stop(&self) {
        self.count.stop();
    }

    /// Number of bytes of the files that have been read so far.
    #[getter]
    fn bytes_read(&self) -> u64 {
        self.count.bytes()
    }

    /// Reads the packets, and returns the report as JSON.
    fn diagnose(&self, py: Python<'_>, vantage: Option<&str>, flows: usize) -> PyResult<String> {
        let vantage = match vantage {
            None => None,
            Some(name) => Some(Vantage::parse(name).ok_or_else(|| {
                PyValueError::new_err(format!("{name}: must be client, server or switch"))
            })?),
        };
        let mut files = self.take(py)?;
        let report = py.detach(|| {
            let mut analysis = Analysis::new(Options { vantage, flows });
            for packet in &mut files {
                analysis.take(&packet);
            }
            analysis.finish(&files)
        });
        serde_json::to_string(&report).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// Reads the packets, and returns the packets of a time span as arrays. Times are in
    /// nanoseconds since 1970.
    fn packets<'py>(
        &self,
        py: Python<'py>,
        from_ns: i64,
        to_ns: i64,
        most: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        let mut files = self.take(py)?;
        let mut kept: Vec<Packet> = Vec::new();
        loop {
            let read = py.detach(|| {
                let mut read = 0;
                for packet in files.by_ref().take(CHECK) {
                    read += 1;
                    if (from_ns..=to_ns).contains(&packet.time) && kept.len() < most {
                        kept.push(packet);
                    }
                }
                read
            });
            // Handles Ctrl-C if this is the main thread.
            py.check_signals()?;
            if read < CHECK {
                break;
            }
        }
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
    /// Takes the open files out of this object.
    fn take(&self, py: Python<'_>) -> PyResult<Merge> {
        let place = self.files.lock();
        let files =
            place.map_or(Files::Read, |mut files| std::mem::replace(&mut *files, Files::Read));
        match files {
            Files::Named(paths) => {
                let opened = py.detach(|| Merge::open_with(&paths, &self.count));
                opened.map_err(not_a_capture)
            }
            Files::Open(files) => Ok(files),
            Files::Read => Err(PyRuntimeError::new_err("the captures have been read")),
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
