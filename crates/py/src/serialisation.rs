//! The equations of connection serialisation (Osada et al.), for arrays.

use incast_engine::{Rate, Span};
use incast_remedies::serialize::formulas::Path;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

type Column<'py> = PyReadonlyArray1<'py, f64>;

const PICOS: f64 = 1e12;

/// The inputs of the equations: a path and other values.
struct Question {
    path: Path,
    sru: u64,
    servers: u64,
    background: Rate,
}

/// The name of an equation, and the equation.
type Equation = (&'static str, fn(&Question) -> f64);

const EQUATIONS: &[Equation] = &[
    ("product_packets", |it| it.path.product_packets() as f64),
    ("rounds", |it| f64::from(it.path.rounds())),
    ("ramp_s", |it| it.path.ramp().as_secs_f64()),
    ("ramps", |it| f64::from(u8::from(it.path.ramps(it.sru)))),
    ("plateau_s", |it| it.path.plateau(it.sru).map_or(f64::NAN, Span::as_secs_f64)),
    ("connections", |it| it.path.set(it.sru).connections as f64),
    ("window", |it| it.path.set(it.sru).window as f64),
    ("peak_queue", |it| it.path.peak_queue(it.path.set(it.sru)) as f64),
    ("ideal_completion_s", |it| it.path.ideal_completion(it.servers, it.sru).as_secs_f64()),
    ("greatest_goodput_bps", |it| it.path.greatest_goodput(it.background).0 as f64),
];

/// Evaluates equations (2) to (12) for columns of equal length, and returns a dictionary. The
/// columns are: rate in bit/s, base round trip in seconds, MSS, header and SRU in bytes, number of
/// servers, and background in bit/s.
#[pyfunction]
pub fn serialisation<'py>(
    py: Python<'py>,
    columns: [Column<'py>; 7],
) -> PyResult<Bound<'py, PyDict>> {
    let columns = columns.map(|column| column.as_array().to_vec());
    let rows = columns.iter().map(Vec::len).min().unwrap_or(0);
    let questions: Vec<_> = (0..rows)
        .map(|row| {
            let [rate, base_rtt, mss, header, sru, servers, background] =
                std::array::from_fn(|column| columns[column][row]);
            let path = Path {
                rate: Rate(rate as u64),
                base_rtt: Span::from_picos((base_rtt * PICOS).round() as u64),
                mss: mss as u32,
                header: header as u32,
            };
            let background = Rate(background as u64);
            Question { path, sru: sru as u64, servers: servers as u64, background }
        })
        .collect();
    let told = PyDict::new(py);
    for (name, equation) in EQUATIONS {
        told.set_item(name, PyArray1::from_iter(py, questions.iter().map(equation)))?;
    }
    Ok(told)
}
