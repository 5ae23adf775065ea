//! A scenario that has been checked, and the numbers derived from it.

use incast_engine::Cell;
use incast_scenario::Scenario as Checked;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::Value;

use crate::error::{in_scenario, not_json};

/// One point of a plan, ready to run. The scenario is in a `Box`, so that a plan of a hundred
/// thousand points can be returned without copies.
#[pyclass(frozen, module = "incast._core")]
pub struct Scenario(pub Box<Checked>);

#[pymethods]
impl Scenario {
    /// Reads a document in JSON, without a sweep.
    #[new]
    fn new(document_json: &str) -> PyResult<Self> {
        let document: Value =
            serde_json::from_str(document_json).map_err(|error| not_json(&error))?;
        let scenario = Checked::from_document(&document).map_err(|error| in_scenario(&error))?;
        Ok(Self(Box::new(scenario)))
    }

    /// Numbers derived from the scenario, as a dictionary.
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        table(py, self.0.facts().cells())
    }
}

/// The values of a table, as a dictionary.
pub fn table<'py, 'a>(
    py: Python<'py>,
    cells: impl Iterator<Item = (&'static str, Cell<'a>)>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, cell) in cells {
        dict.set_item(name, value(py, cell)?)?;
    }
    Ok(dict)
}

fn value<'py>(py: Python<'py>, cell: Cell<'_>) -> PyResult<Bound<'py, PyAny>> {
    match cell {
        Cell::Nothing => Ok(py.None().into_bound(py)),
        Cell::Flag(flag) => flag.into_bound_py_any(py),
        Cell::Whole(number) => number.into_bound_py_any(py),
        Cell::Number(number) => number.into_bound_py_any(py),
        Cell::Text(text) => text.into_bound_py_any(py),
        Cell::List(cells) => {
            let values = cells.into_iter().map(|cell| value(py, cell));
            PyList::new(py, values.collect::<PyResult<Vec<_>>>()?).map(Bound::into_any)
        }
    }
}

/// A tree as dictionaries, lists, numbers and strings.
pub fn tree<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::Bool(flag) => flag.into_bound_py_any(py),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(whole), _) => whole.into_bound_py_any(py),
            (None, Some(whole)) => whole.into_bound_py_any(py),
            (None, None) => number.as_f64().into_bound_py_any(py),
        },
        Value::String(text) => text.into_bound_py_any(py),
        Value::Array(list) => {
            let items = list.iter().map(|item| tree(py, item));
            PyList::new(py, items.collect::<PyResult<Vec<_>>>()?).map(Bound::into_any)
        }
        Value::Object(table) => {
            let dict = PyDict::new(py);
            for (key, value) in table {
                dict.set_item(key, tree(py, value)?)?;
            }
            Ok(dict.into_any())
        }
    }
}
