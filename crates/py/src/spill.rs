//! Passes parts of long traces to Python while the run continues.

use std::sync::{Arc, Mutex};

use incast_lab::Control;
use incast_lab::probe::{Sink, Table};
use pyo3::prelude::*;

use crate::tables;

/// Returns a sink that calls `take` with the name of the table and each part of it. The first error
/// of `take` is stored in `failed`, and cancels the run.
pub fn sink(take: Py<PyAny>, control: Arc<Control>, failed: Arc<Mutex<Option<PyErr>>>) -> Sink {
    Box::new(move |part: Table| {
        if control.is_cancelled() {
            return;
        }
        let taken = Python::attach(|py| {
            let name = part.name;
            take.call1(py, (name, tables::trace(py, part)?)).map(drop)
        });
        if let Err(error) = taken {
            control.cancel();
            if let Ok(mut failed) = failed.lock() {
                failed.get_or_insert(error);
            }
        }
    })
}
