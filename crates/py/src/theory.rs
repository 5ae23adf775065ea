//! Theory: arrays of scenarios in, arrays of answers out.

use incast_theory::{Effort, Read, follow};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

type Column<'py> = PyReadonlyArray1<'py, f64>;
type Answers<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// The columns of `incast.models.collapse.reads.Reads` that the chain of blocks wants.
#[derive(FromPyObject)]
pub struct Columns<'py> {
    servers: Column<'py>,
    segments: Column<'py>,
    places: Column<'py>,
    pipe: Column<'py>,
    gap: Column<'py>,
    packet_s: Column<'py>,
    rto_min: Column<'py>,
    blocks: Column<'py>,
    initial_window: Column<'py>,
    most_window: Column<'py>,
    short_tail: PyReadonlyArray1<'py, bool>,
}

impl Columns<'_> {
    fn rows(self) -> Vec<Read> {
        (0..).map_while(|row| self.read(row)).collect()
    }

    fn read(&self, row: usize) -> Option<Read> {
        let at = |column: &Column<'_>| column.get(row).copied();
        Some(Read {
            servers: at(&self.servers)? as usize,
            segments: at(&self.segments)?,
            places: at(&self.places)?,
            pipe: at(&self.pipe)?,
            gap: at(&self.gap)?,
            timer: at(&self.rto_min)? / at(&self.packet_s)?,
            blocks: at(&self.blocks)?,
            initial_window: at(&self.initial_window)?,
            most_window: at(&self.most_window)?,
            short_tail: *self.short_tail.get(row)?,
        })
    }
}

/// How much is followed: the attributes of `incast.models.collapse.blocks.Effort`.
#[derive(FromPyObject)]
pub struct Limits {
    least_samples: u32,
    most_samples: u32,
    error: f64,
    least_blocks: u32,
    most_blocks: u32,
    rounds: u32,
    work: u64,
}

impl From<Limits> for Effort {
    fn from(limits: Limits) -> Self {
        Self {
            samples: (limits.least_samples.max(1), limits.most_samples.max(1)),
            error: limits.error,
            blocks: (limits.least_blocks.max(1), limits.most_blocks.max(1)),
            rounds: limits.rounds.max(1),
            work: limits.work,
        }
    }
}

/// Timeouts and packet times of the mean block of every read.
#[pyfunction]
pub fn follow_reads<'py>(
    py: Python<'py>,
    reads: Columns<'py>,
    effort: Limits,
    threads: usize,
) -> Answers<'py> {
    let (rows, effort) = (reads.rows(), Effort::from(effort));
    let outcomes = py.detach(|| follow(&rows, &effort, threads));
    (
        PyArray1::from_iter(py, outcomes.iter().map(|it| it.timeouts)),
        PyArray1::from_iter(py, outcomes.iter().map(|it| it.duration)),
    )
}
