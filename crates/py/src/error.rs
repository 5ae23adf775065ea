//! Conversion of Rust errors to Python exceptions.

use incast_lab::RunError;
use incast_scenario::ScenarioError as LabError;
use pyo3::PyErr;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};

pyo3::create_exception!(
    _core,
    ScenarioError,
    PyValueError,
    "A mistake in a scenario. The message has the key, the problem and the accepted values."
);

/// An error in a scenario.
pub fn in_scenario(error: &LabError) -> PyErr {
    ScenarioError::new_err(error.to_string())
}

/// The error of invalid JSON.
pub fn not_json(error: &serde_json::Error) -> PyErr {
    let why = match error.to_string() {
        text if text.starts_with("recursion limit") => "tables or lists nest too deep".to_owned(),
        text => format!("not JSON: {text}"),
    };
    ScenarioError::new_err(format!("scenario: {why}"))
}

/// The error of a run that was stopped.
pub fn stopped(error: RunError) -> PyErr {
    match error {
        RunError::Cancelled(_) => PyKeyboardInterrupt::new_err(error.to_string()),
        RunError::Exhausted(_) => ScenarioError::new_err(error.to_string()),
    }
}
