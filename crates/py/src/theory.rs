//! Theoretical models: take arrays of scenarios, and return arrays of results.

use incast_theory::{
    Bbr, Collapse, Cubic, Effort, Examine, Exit, Flavour, Growth, Halved, Idle, Marking, Marks,
    Outcome, Rack, Read, Repair, Style, Watch, follow,
};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

type Column<'py> = PyReadonlyArray1<'py, f64>;
type Flags<'py> = PyReadonlyArray1<'py, bool>;
/// Arrays of results: timeouts, timeouts of handshakes, duration, scatter and error.
type Answers<'py> = [Bound<'py, PyArray1<f64>>; 5];

/// The columns of `incast.models.collapse.reads.Reads` that the simulation of packets needs.
#[derive(FromPyObject)]
pub struct Columns<'py> {
    servers: Column<'py>,
    segments: Column<'py>,
    last: Column<'py>,
    packet: Column<'py>,
    header: Column<'py>,
    bare: Column<'py>,
    layer2: Column<'py>,
    slower: Column<'py>,
    packet_s: Column<'py>,
    buffer: Column<'py>,
    counts_packets: Flags<'py>,
    cell: Column<'py>,
    extra: Column<'py>,
    mark_threshold: Column<'py>,
    mark_packets: Flags<'py>,
    mark_in_service: Flags<'py>,
    mark_arriving: Flags<'py>,
    propagation: Column<'py>,
    gap: Column<'py>,
    spread: Column<'py>,
    jitter: Column<'py>,
    fresh: Flags<'py>,
    rto_min: Column<'py>,
    rto_max: Column<'py>,
    handshakes: Flags<'py>,
    syn_rto: Column<'py>,
    first_rto: Column<'py>,
    later_rto: Column<'py>,
    blocks: Column<'py>,
    initial_window: Column<'py>,
    initial_threshold: Column<'py>,
    most_window: Column<'py>,
    repair: Column<'py>,
    careful: Flags<'py>,
    impatient: Flags<'py>,
    restarts_timer: Flags<'py>,
    limited_transmit: Flags<'py>,
    limited_again: Flags<'py>,
    in_turn: Flags<'py>,
    exit: Column<'py>,
    halved: Column<'py>,
    burst: Column<'py>,
    answers: Flags<'py>,
    rescues: Flags<'py>,
    block_bytes: Flags<'py>,
    whole_windows: Flags<'py>,
    defers: Flags<'py>,
    closes: Flags<'py>,
    proportional: Flags<'py>,
    examine: Column<'py>,
    growth: Column<'py>,
    cubic_c: Column<'py>,
    cubic_beta: Column<'py>,
    cubic_yields: Flags<'py>,
    cubic_friendly: Flags<'py>,
    cubic_blind: Column<'py>,
    cubic_counts: Flags<'py>,
    watch: Column<'py>,
    bbr_startup: Column<'py>,
    bbr_cruise: Column<'py>,
    bbr_probe: Column<'py>,
    bbr_rounds: Column<'py>,
    bbr_full_rounds: Column<'py>,
    bbr_least: Column<'py>,
    bbr_burst: Column<'py>,
    bbr_burst_time: Column<'py>,
    bbr_round_trip_time: Column<'py>,
    bbr_probe_time: Column<'py>,
    uses_marks: Flags<'py>,
    mark_alpha: Column<'py>,
    mark_gain: Column<'py>,
    mark_floor: Column<'py>,
    mark_at_once: Flags<'py>,
    probes: Column<'py>,
    probe_first: Column<'py>,
    probe_margin: Column<'py>,
    probe_ack_delay: Column<'py>,
    reduces_again: Flags<'py>,
    needs_reordering: Flags<'py>,
    style: Column<'py>,
    granularity: Column<'py>,
    per_window: Flags<'py>,
    timestamps: Flags<'py>,
    times_blocks: Flags<'py>,
    tick: Column<'py>,
    runs_idle: Flags<'py>,
    ack_every: Column<'py>,
    ack_timeout: Column<'py>,
    quick: Column<'py>,
    counts_acks: Flags<'py>,
    idle: Column<'py>,
    arrival_first: Flags<'py>,
}

/// Packet times of a block without losses, and the three numbers that define a collapse: the share
/// of the goodput, the number of timeouts, and the share of the lost time.
type Bounds<'py> = (Column<'py>, f64, f64, f64);

impl Columns<'_> {
    /// One read for each row. The number of rows is the length of the shortest column.
    fn rows(self, (lossless, share, timeouts, wait): Bounds<'_>) -> Vec<Read> {
        let of = |row| Some(Collapse { lossless: *lossless.get(row)?, share, timeouts, wait });
        (0..).map_while(|row| self.read(row, of(row)?)).collect()
    }

    fn read(&self, row: usize, collapse: Collapse) -> Option<Read> {
        let at = |column: &Column<'_>| column.get(row).copied();
        let second = at(&self.packet_s)?.recip();
        let times = |column: &Column<'_>| Some(at(column)? * second);
        Some(Read {
            servers: at(&self.servers)? as usize,
            segments: at(&self.segments)? as u32,
            last: at(&self.last)?,
            packet: at(&self.packet)?,
            header: at(&self.header)?,
            bare: at(&self.bare)?,
            layer2: at(&self.layer2)?,
            slower: at(&self.slower)?,
            second,
            buffer: at(&self.buffer)?,
            counts_packets: *self.counts_packets.get(row)?,
            cell: at(&self.cell)?,
            extra: at(&self.extra)?,
            marking: Some(self.marking(row)?).filter(|it| it.threshold.is_finite()),
            propagation: at(&self.propagation)?,
            gap: at(&self.gap)?,
            spread: at(&self.spread)?,
            jitter: at(&self.jitter)?,
            fresh: *self.fresh.get(row)?,
            least_rto: times(&self.rto_min)?,
            most_rto: times(&self.rto_max)?,
            handshakes: *self.handshakes.get(row)?,
            syn_rto: times(&self.syn_rto)?,
            first_rto: times(&self.first_rto)?,
            later_rto: times(&self.later_rto)?,
            blocks: at(&self.blocks)? as u32,
            initial_window: at(&self.initial_window)?,
            initial_threshold: at(&self.initial_threshold)?,
            most_window: at(&self.most_window)?,
            flavour: self.flavour(row, second)?,
            collapse,
        })
    }

    fn flavour(&self, row: usize, second: f64) -> Option<Flavour> {
        let at = |column: &Column<'_>| column.get(row).copied();
        let is = |flags: &Flags<'_>| flags.get(row).copied();
        let name = |column: &Column<'_>| Some(at(column)? as usize);
        let burst = at(&self.burst)?;
        Some(Flavour {
            repair: REPAIRS[name(&self.repair)?],
            careful: is(&self.careful)?,
            impatient: is(&self.impatient)?,
            restarts_timer: is(&self.restarts_timer)?,
            limited_transmit: is(&self.limited_transmit)?,
            limited_again: is(&self.limited_again)?,
            in_turn: is(&self.in_turn)?,
            exit: [Exit::Threshold, Exit::Flight, Exit::Keep][name(&self.exit)?],
            halved: HALVED[name(&self.halved)?],
            burst: if burst > 0.0 { burst as u32 } else { u32::MAX },
            answers: is(&self.answers)?,
            rescues: is(&self.rescues)?,
            block_bytes: is(&self.block_bytes)?,
            counts_packets: is(&self.whole_windows)?,
            defers: is(&self.defers)?,
            closes: is(&self.closes)?,
            proportional: is(&self.proportional)?,
            examine: EXAMINES[name(&self.examine)?],
            growth: GROWTHS[name(&self.growth)?],
            cubic: self.cubic(row)?,
            bbr: self.bbr(row, second)?,
            marks: self.marks(row)?,
            rack: self.rack(row, second)?,
            style: [Style::Rfc, Style::Linux, Style::Ns2, Style::Ns3][name(&self.style)?],
            granularity: at(&self.granularity)? * second,
            per_window: is(&self.per_window)?,
            timestamps: is(&self.timestamps)?,
            times_blocks: is(&self.times_blocks)?,
            tick: at(&self.tick)? * second,
            runs_idle: is(&self.runs_idle)?,
            ack_every: at(&self.ack_every)? as u32,
            ack_timeout: at(&self.ack_timeout)? * second,
            quick: at(&self.quick)? as u32,
            counts_acks: is(&self.counts_acks)?,
            idle: [Idle::Kept, Idle::Restarts, Idle::Validates][name(&self.idle)?],
            arrival_first: is(&self.arrival_first)?,
        })
    }

    fn cubic(&self, row: usize) -> Option<Cubic> {
        Some(Cubic {
            c: *self.cubic_c.get(row)?,
            beta: *self.cubic_beta.get(row)?,
            yields: *self.cubic_yields.get(row)?,
            is_friendly: *self.cubic_friendly.get(row)?,
            blind: *self.cubic_blind.get(row)?,
            counts: *self.cubic_counts.get(row)?,
            watch: WATCHES[*self.watch.get(row)? as usize],
        })
    }

    fn bbr(&self, row: usize, second: f64) -> Option<Bbr> {
        let at = |column: &Column<'_>| column.get(row).copied();
        let times = |column: &Column<'_>| Some(column.get(row)? * second);
        Some(Bbr {
            startup: at(&self.bbr_startup)?,
            cruise: at(&self.bbr_cruise)?,
            probe: at(&self.bbr_probe)?,
            rounds: at(&self.bbr_rounds)? as u32,
            full_rounds: at(&self.bbr_full_rounds)? as u32,
            least: at(&self.bbr_least)? as u32,
            burst: at(&self.bbr_burst)? as u32,
            burst_time: times(&self.bbr_burst_time)?,
            round_trip_time: times(&self.bbr_round_trip_time)?,
            probe_time: times(&self.bbr_probe_time)?,
        })
    }

    fn marks(&self, row: usize) -> Option<Marks> {
        Some(Marks {
            are_used: *self.uses_marks.get(row)?,
            alpha: *self.mark_alpha.get(row)?,
            gain: *self.mark_gain.get(row)?,
            floor: *self.mark_floor.get(row)? as u32,
            at_once: *self.mark_at_once.get(row)?,
        })
    }

    /// The marking of a queue. An infinite threshold marks nothing.
    fn marking(&self, row: usize) -> Option<Marking> {
        Some(Marking {
            threshold: *self.mark_threshold.get(row)?,
            counts_packets: *self.mark_packets.get(row)?,
            in_service: *self.mark_in_service.get(row)?,
            arriving: *self.mark_arriving.get(row)?,
        })
    }

    fn rack(&self, row: usize, second: f64) -> Option<Rack> {
        let times = |column: &Column<'_>| Some(column.get(row)? * second);
        Some(Rack {
            probes: *self.probes.get(row)? as u32,
            first: times(&self.probe_first)?,
            margin: times(&self.probe_margin)?,
            ack_delay: times(&self.probe_ack_delay)?,
            reduces_again: *self.reduces_again.get(row)?,
            needs_reordering: *self.needs_reordering.get(row)?,
        })
    }
}

// These arrays have the order of the tuples in `incast.models.collapse.stacks`.
const REPAIRS: [Repair; 6] =
    [Repair::Tahoe, Repair::Reno, Repair::NewReno, Repair::Sack, Repair::Sack1, Repair::Rack];
const HALVED: [Halved; 4] = [Halved::Flight, Halved::Window, Halved::Once, Halved::Pipe];
const GROWTHS: [Growth; 5] =
    [Growth::Acks, Growth::Data, Growth::AllData, Growth::Cubic, Growth::Bbr];
const EXAMINES: [Examine; 3] = [Examine::Never, Examine::Data, Examine::Linux];
const WATCHES: [Watch; 4] = [Watch::Off, Watch::Careful, Watch::Linux, Watch::Ns3];

/// The attributes of `incast.models.collapse.blocks.Effort`.
#[derive(FromPyObject)]
pub struct Limits {
    fine: f64,
    coarse: f64,
    clear: f64,
    least: u64,
    most: u64,
    blocks: u32,
    limit: u64,
    rare: bool,
}

impl From<Limits> for Effort {
    fn from(limits: Limits) -> Self {
        let Limits { fine, coarse, clear, least, most, blocks, limit, rare } = limits;
        Self { fine, coarse, clear, least, most, blocks, limit, rare }
    }
}

/// Simulates every read.
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
    let column = |of: fn(&Outcome) -> f64| PyArray1::from_iter(py, outcomes.iter().map(of));
    [
        column(|it| it.timeouts),
        column(|it| it.handshakes),
        column(|it| it.duration),
        column(|it| it.scatter),
        column(|it| it.error),
    ]
}
