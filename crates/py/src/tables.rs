//! Converts rows and traces to Python dictionaries. In a trace, numbers become `NumPy` arrays, and
//! names become a list of the different names and an array of indices.

use incast_lab::Row;
use incast_lab::probe::{Names, Table, Values};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::scenario::table;

/// A result row, which maps column names to values.
pub fn row<'py>(py: Python<'py>, row: &Row) -> PyResult<Bound<'py, PyDict>> {
    let dict = table(py, row.cells())?;
    let completions = row.completions.iter().map(|span| span.as_secs_f64());
    dict.set_item("completions_s", PyArray1::from_iter(py, completions))?;
    Ok(dict)
}

/// A trace, which maps column names to values.
pub fn trace(py: Python<'_>, recorded: Table) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    for (name, values) in recorded.columns {
        match values {
            Values::F64(values) => dict.set_item(name, PyArray1::from_vec(py, values))?,
            Values::I64(values) => dict.set_item(name, PyArray1::from_vec(py, values))?,
            Values::U32(values) => dict.set_item(name, PyArray1::from_vec(py, values))?,
            Values::U64(values) => dict.set_item(name, PyArray1::from_vec(py, values))?,
            Values::Text(Names { names, codes }) => {
                dict.set_item(name, (PyList::new(py, names)?, PyArray1::from_vec(py, codes)))?;
            }
        }
    }
    Ok(dict)
}
