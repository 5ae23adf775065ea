//! The one place where Rust errors become Python exceptions.

use incast_lab::{RunError, ScenarioError as LabError};
use pyo3::PyErr;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};

pyo3::create_exception!(
    _core,
    ScenarioError,
    PyValueError,
    "A mistake in a scenario; the message is `key: what is wrong and what is accepted`."
);

/// A mistake in a scenario.
pub fn in_scenario(error: &LabError) -> PyErr {
    ScenarioError::new_err(error.to_string())
}

/// Text that should have been JSON.
pub fn not_json(error: &serde_json::Error) -> PyErr {
    PyValueError::new_err(format!("not JSON: {error}"))
}

/// A run that was stopped.
pub fn cancelled(error: RunError) -> PyErr {
    match error {
        RunError::Cancelled => PyKeyboardInterrupt::new_err(error.to_string()),
    }
}
