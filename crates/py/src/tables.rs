//! Rows and traces as Python dictionaries: numbers as `NumPy` arrays, names as lists of text.

use incast_engine::Span;
use incast_host::cause::Cause;
use incast_host::milestone::EventRow;
use incast_host::stalls::StallCause;
use incast_lab::Row;
use incast_lab::probe::{EventTrace, FlowTrace, QueueTraces};
use numpy::{Element, PyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::scenario::table;

/// A result row: column name to value.
pub fn row<'py>(py: Python<'py>, row: &Row) -> PyResult<Bound<'py, PyDict>> {
    let dict = table(py, row.cells())?;
    let completions = row.completions.iter().map(|span| span.as_secs_f64());
    dict.set_item("completions_s", PyArray1::from_iter(py, completions))?;
    Ok(dict)
}

/// The event table.
pub fn events<'py>(py: Python<'py>, trace: &EventTrace) -> PyResult<Bound<'py, PyDict>> {
    let rows = trace.rows();
    let table = Table::new(py);
    table.numbers("time_s", rows.iter().map(|row| row.time.as_secs_f64()))?;
    table.texts("kind", rows.iter().map(|row| row.kind.name()))?;
    table.numbers("flow", rows.iter().map(|row| row.flow.map_or(-1, i64::from)))?;
    table.numbers("block", rows.iter().map(|row| row.block))?;
    table.numbers("seq", rows.iter().map(|row| row.seq))?;
    table.numbers("cwnd", rows.iter().map(|row| row.cwnd))?;
    table.numbers("ssthresh", rows.iter().map(|row| row.ssthresh))?;
    table.numbers("flight", rows.iter().map(|row| row.flight))?;
    table.numbers("dupacks", rows.iter().map(|row| row.dupacks))?;
    table.numbers("lost_in_window", rows.iter().map(|row| row.lost_in_window))?;
    table.numbers("packets", rows.iter().map(|row| row.packets))?;
    let seconds = |span: Option<Span>| span.map_or(f64::NAN, Span::as_secs_f64);
    table.numbers("srtt_s", rows.iter().map(|row| seconds(row.srtt)))?;
    table.numbers("rto_s", rows.iter().map(|row| seconds(row.rto)))?;
    let ended = |row: &EventRow| row.stall.map_or("", StallCause::name);
    table.texts("cause", rows.iter().map(|row| row.cause.map_or(ended(row), Cause::name)))?;
    let place = |head: Option<bool>| match head {
        None => "",
        Some(true) => "block_head",
        Some(false) => "inside",
    };
    table.texts("place", rows.iter().map(|row| place(row.block_head)))?;
    table.numbers("wait_s", rows.iter().map(|row| seconds(row.wait)))?;
    Ok(table.0)
}

/// The queue table.
pub fn queues<'py>(py: Python<'py>, traces: &QueueTraces) -> PyResult<Bound<'py, PyDict>> {
    let rows: Vec<_> = traces
        .iter()
        .flat_map(|trace| {
            let (name, width) = (trace.name(), trace.bin_width().as_secs_f64());
            trace.iter().map(move |(start, summary)| (name, width, start, summary))
        })
        .collect();
    let table = Table::new(py);
    table.numbers("time_s", rows.iter().map(|row| row.2.as_secs_f64()))?;
    table.numbers("bin_s", rows.iter().map(|row| row.1))?;
    table.texts("port", rows.iter().map(|row| row.0))?;
    for (i, suffix) in ["min", "max", "last"].into_iter().enumerate() {
        table.numbers(&format!("packets_{suffix}"), rows.iter().map(|row| row.3.packets[i]))?;
    }
    for (i, suffix) in ["min", "max", "last"].into_iter().enumerate() {
        table.numbers(&format!("bytes_{suffix}"), rows.iter().map(|row| row.3.bytes[i]))?;
    }
    for (i, suffix) in ["min", "max", "last"].into_iter().enumerate() {
        table.numbers(&format!("labelled_{suffix}"), rows.iter().map(|row| row.3.labelled[i]))?;
    }
    table.numbers("heartbeats_last", rows.iter().map(|row| row.3.heartbeats))?;
    table.numbers("drops", rows.iter().map(|row| row.3.drops))?;
    table.numbers("busy", rows.iter().map(|row| row.3.sending.as_secs_f64() / row.1))?;
    Ok(table.0)
}

/// The flow table.
pub fn flows<'py>(py: Python<'py>, trace: &FlowTrace) -> PyResult<Bound<'py, PyDict>> {
    let rows: Vec<_> = trace
        .flows()
        .iter()
        .zip(0_u32..)
        .flat_map(|(bins, flow)| {
            let width = bins.width();
            bins.iter().map(move |(start, summary)| (start, width, flow, summary))
        })
        .collect();
    let table = Table::new(py);
    table.numbers("time_s", rows.iter().map(|row| row.0.as_secs_f64()))?;
    table.numbers("bin_s", rows.iter().map(|row| row.1.as_secs_f64()))?;
    table.numbers("flow", rows.iter().map(|row| i64::from(row.2)))?;
    for (i, suffix) in ["min", "max", "last"].into_iter().enumerate() {
        table.numbers(&format!("cwnd_{suffix}"), rows.iter().map(|row| row.3.cwnd[i]))?;
    }
    table.numbers("ssthresh_last", rows.iter().map(|row| row.3.ssthresh))?;
    table.numbers("rto_s_last", rows.iter().map(|row| Span::as_secs_f64(row.3.rto)))?;
    table.numbers("flight_last", rows.iter().map(|row| row.3.flight))?;
    table.numbers("labelled_last", rows.iter().map(|row| row.3.labelled))?;
    Ok(table.0)
}

/// Columns by name.
struct Table<'py>(Bound<'py, PyDict>);

impl<'py> Table<'py> {
    fn new(py: Python<'py>) -> Self {
        Self(PyDict::new(py))
    }

    fn numbers<T: Element>(&self, name: &str, values: impl Iterator<Item = T>) -> PyResult<()> {
        self.0.set_item(name, PyArray1::from_iter(self.0.py(), values))
    }

    fn texts<'a>(&self, name: &str, values: impl Iterator<Item = &'a str>) -> PyResult<()> {
        self.0.set_item(name, PyList::new(self.0.py(), values.collect::<Vec<_>>())?)
    }
}
