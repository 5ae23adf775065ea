//! Theory: arrays of scenarios in, arrays of answers out.

use incast_theory::{Effort, Read, follow};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

type Column<'py> = PyReadonlyArray1<'py, f64>;
type Answers<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// The columns of `incast.models.collapse.reads.Reads` that the process of packets wants.
#[derive(FromPyObject)]
pub struct Columns<'py> {
    servers: Column<'py>,
    segments: Column<'py>,
    last: Column<'py>,
    packet: Column<'py>,
    header: Column<'py>,
    packet_s: Column<'py>,
    buffer: Column<'py>,
    counts_packets: PyReadonlyArray1<'py, bool>,
    propagation: Column<'py>,
    gap: Column<'py>,
    rto_min: Column<'py>,
    rto_max: Column<'py>,
    handshakes: PyReadonlyArray1<'py, bool>,
    syn_rto: Column<'py>,
    first_rto: Column<'py>,
    blocks: Column<'py>,
    initial_window: Column<'py>,
    initial_threshold: Column<'py>,
    most_window: Column<'py>,
}

/// Packet times and timeouts of a block beyond which a read has collapsed.
type Bounds<'py> = (Column<'py>, Column<'py>);

impl Columns<'_> {
    /// Row by row, as long as all columns have one.
    fn rows(self, (slow, often): Bounds<'_>) -> Vec<Read> {
        (0..).map_while(|row| self.read(row, [&slow, &often])).collect()
    }

    fn read(&self, row: usize, [slow, often]: [&Column<'_>; 2]) -> Option<Read> {
        let at = |column: &Column<'_>| column.get(row).copied();
        let second = at(&self.packet_s)?.recip();
        let times = |column: &Column<'_>| Some(at(column)? * second);
        Some(Read {
            servers: at(&self.servers)? as usize,
            segments: at(&self.segments)? as u32,
            last: at(&self.last)?,
            packet: at(&self.packet)?,
            header: at(&self.header)?,
            buffer: at(&self.buffer)?,
            counts_packets: *self.counts_packets.get(row)?,
            propagation: at(&self.propagation)?,
            gap: at(&self.gap)?,
            least_rto: times(&self.rto_min)?,
            most_rto: times(&self.rto_max)?,
            handshakes: *self.handshakes.get(row)?,
            syn_rto: times(&self.syn_rto)?,
            first_rto: times(&self.first_rto)?,
            blocks: at(&self.blocks)? as u32,
            initial_window: at(&self.initial_window)?,
            initial_threshold: at(&self.initial_threshold)?,
            most_window: at(&self.most_window)?,
            slow: at(slow)?,
            often: at(often)?,
        })
    }
}

/// How much is followed: the attributes of `incast.models.collapse.blocks.Effort`.
#[derive(FromPyObject)]
pub struct Limits {
    fine: f64,
    coarse: f64,
    clear: f64,
    least: u64,
    most: u64,
    blocks: u32,
    limit: u64,
}

impl From<Limits> for Effort {
    fn from(limits: Limits) -> Self {
        let Limits { fine, coarse, clear, least, most, blocks, limit } = limits;
        Self { fine, coarse, clear, least, most, blocks, limit }
    }
}

/// Timeouts and packet times of the mean block of every read.
#[pyfunction]
pub fn follow_reads<'py>(
    py: Python<'py>,
    reads: Columns<'py>,
    bounds: Bounds<'py>,
    effort: Limits,
    threads: usize,
) -> Answers<'py> {
    let (rows, effort) = (reads.rows(bounds), Effort::from(effort));
    let outcomes = py.detach(|| follow(&rows, &effort, threads));
    (
        PyArray1::from_iter(py, outcomes.iter().map(|it| it.timeouts)),
        PyArray1::from_iter(py, outcomes.iter().map(|it| it.duration)),
    )
}
