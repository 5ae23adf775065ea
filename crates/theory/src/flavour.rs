//! Differences of TCP stacks, as data for senders, receivers and timers.

/// cwnd at the end of a recovery (RFC 6582 §3.2, step 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// ssthresh.
    Threshold,
    /// At most the flight plus a segment, which prevents a burst.
    Flight,
    /// Unchanged, minus the segments that partial ACKs deducted (ns-2).
    Keep,
}

/// The value that a loss reduces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halved {
    /// The outstanding data (RFC 5681, equation 4).
    Flight,
    /// The window (ns-2).
    Window,
    /// The window in whole segments; a repeated timeout does not reduce it again (Linux).
    Once,
    /// The data in the network, estimated from duplicate ACKs (ns-3).
    Pipe,
}

/// The effect of an idle time on the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// No effect.
    Kept,
    /// After an idle time of one RTO, the window is the initial window (RFC 5681 §4.1).
    Restarts,
    /// The window is halved for each RTO of idle time, and reduced towards its used part (RFC 2861
    /// §3).
    Validates,
}

/// The computation of a timeout from round trips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// RFC 6298.
    Rfc,
    /// The minimum RTO is a lower limit of the variance term, not of the whole RTO.
    Linux,
    /// Samples are counted in ticks.
    Ns2,
    /// Every ACK of new data ends the backoff.
    Ns3,
}

/// The loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// Slow start from the loss on, without fast recovery (4.3BSD Tahoe).
    Tahoe,
    /// The first ACK of new data ends the recovery (RFC 5681 §3.2).
    Reno,
    /// `NewReno` (RFC 6582).
    NewReno,
    /// The scoreboard of selective acknowledgements (RFC 6675).
    Sack,
    /// The scoreboard before RFC 6675, whose pipe includes lost segments (ns-2's `Sack1`).
    Sack1,
    /// Losses are detected by time, and losses at the tail by probes (RFC 8985).
    Rack,
}

/// The growth of the window for an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// RFC 5681, by ACKs.
    Acks,
    /// RFC 5681, by acknowledged data, at most a segment per ACK in slow start (RFC 3465 with L =
    /// 1).
    Data,
    /// RFC 5681, by acknowledged data, without a limit in slow start (Linux).
    AllData,
    /// CUBIC (RFC 9438).
    Cubic,
    /// BBR, whose window and rate follow a model of the path; with SACK or RACK-TLP only.
    Bbr,
}

/// The examination of a timeout, which is undone if it was premature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Examine {
    /// No examination.
    Never,
    /// By new data (F-RTO, RFC 5682).
    Data,
    /// By echoed timestamps and by new data. A timeout during fast recovery is not examined
    /// (Linux).
    Linux,
}

/// The detector that ends CUBIC's slow start before a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// No detector.
    Off,
    /// Growing round trips end slow start after a conservative phase (RFC 9406).
    Careful,
    /// Linux's hybrid slow start.
    Linux,
    /// ns-3's hybrid slow start.
    Ns3,
}

/// The parameters of CUBIC (RFC 9438).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cubic {
    /// C, segments per cubic second.
    pub c: f64,
    /// β: factor by which a loss reduces the window.
    pub beta: f64,
    /// Whether a window that does not reach its last maximum gets a lower target (§4.7).
    pub yields: bool,
    /// Whether the window grows at least as fast as with RFC 5681 (§4.3).
    pub is_friendly: bool,
    /// While no maximum is known, the window grows by at least one segment per this number of
    /// acknowledged segments (Linux); 0 for no minimum.
    pub blind: f64,
    /// Whether growth is counted in packets and ticks (Linux).
    pub counts: bool,
    /// The end of slow start.
    pub watch: Watch,
}

/// The parameters of BBR, version 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bbr {
    /// Gain of rate and window in Startup, gain of the window in `ProbeBW`, and gain of the rate
    /// while `ProbeBW` probes.
    pub startup: f64,
    /// See `startup`.
    pub cruise: f64,
    /// See `startup`.
    pub probe: f64,
    /// Number of rounds in the filter of the bandwidth, and number of rounds without growth after
    /// which Startup ends.
    pub rounds: u32,
    /// See `rounds`.
    pub full_rounds: u32,
    /// Minimum window, in segments.
    pub least: u32,
    /// Minimum number of segments in a burst, and the time that a larger burst takes at the pacing
    /// rate, in packet times.
    pub burst: u32,
    /// See `burst`.
    pub burst_time: f64,
    /// Time after which the smallest round trip expires, and duration of `ProbeRTT`, in packet
    /// times.
    pub round_trip_time: f64,
    /// See `round_trip_time`.
    pub probe_time: f64,
}

/// The use of marks (DCTCP, RFC 8257).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Marks {
    /// Whether marks reduce windows.
    pub are_used: bool,
    /// α of a new connection.
    pub alpha: f64,
    /// g: the weight of a new observation in α.
    pub gain: f64,
    /// Minimum window after a reduction by marks, in segments.
    pub floor: u32,
    /// Whether the window is reduced at the first echo, instead of at the end of the observation
    /// window.
    pub at_once: bool,
}

/// The parameters of RACK-TLP (RFC 8985).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rack {
    /// Maximum number of tail loss probes without a round-trip sample between them.
    pub probes: u32,
    /// Probe timeout before the first round-trip sample, packet times.
    pub first: f64,
    /// Addition to the probe timeout and to the reordering timer, packet times (Linux).
    pub margin: f64,
    /// Addition to the probe timeout if only one segment is outstanding, because its ACK may be
    /// delayed, in packet times.
    pub ack_delay: f64,
    /// Whether a lost retransmission reduces the window again (not in Linux).
    pub reduces_again: bool,
    /// Whether a duplicate widens the reordering window only if reordering was seen (Linux).
    pub needs_reordering: bool,
}

/// The properties of a stack.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flavour {
    /// The loss recovery.
    pub repair: Repair,
    /// Whether a fast retransmit needs a cumulative ACK beyond the data that were outstanding at
    /// the last loss (RFC 6582 §3.2, step 2).
    pub careful: bool,
    /// Whether only the first partial ACK restarts the timer (RFC 6582 §4).
    pub impatient: bool,
    /// Whether a fast retransmit restarts the timer.
    pub restarts_timer: bool,
    /// Whether each of the first two duplicate ACKs releases a segment (RFC 3042).
    pub limited_transmit: bool,
    /// Whether the released segments may be segments that are sent again after a timeout (ns-2).
    pub limited_again: bool,
    /// With Tahoe: whether a retransmission waits for the host's delay like other data (ns-2).
    pub in_turn: bool,
    /// cwnd at the end of recovery.
    pub exit: Exit,
    /// The value that a loss reduces.
    pub halved: Halved,
    /// Maximum number of new segments per ACK in recovery.
    pub burst: u32,
    /// With SACK: whether recovery also retransmits segments above the highest arrived segment, and
    /// answers a partial ACK with a retransmission (ns-3).
    pub answers: bool,
    /// With SACK: whether recovery sends a rescue (RFC 6675 §4, `NextSeg`, rule 4).
    pub rescues: bool,
    /// With SACK: whether SACK blocks lengthen an ACK.
    pub block_bytes: bool,
    /// Whether windows count packets, so that a short packet uses as much of a window as a full
    /// packet (Linux).
    pub counts_packets: bool,
    /// Whether small bursts wait until ACKs allow larger bursts (Linux).
    pub defers: bool,
    /// Whether a server closes the connection with a FIN after its data.
    pub closes: bool,
    /// Whether recovery sends in proportion to the data that arrive (RFC 9937, as in Linux).
    pub proportional: bool,
    /// The examination of a timeout.
    pub examine: Examine,
    /// The growth of the window.
    pub growth: Growth,
    /// The parameters of CUBIC.
    pub cubic: Cubic,
    /// The parameters of BBR.
    pub bbr: Bbr,
    /// The use of marks.
    pub marks: Marks,
    /// The parameters of RACK-TLP.
    pub rack: Rack,
    /// The computation of timeouts.
    pub style: Style,
    /// Minimum variance term of a timeout, or the tick in which samples are counted, in packet
    /// times.
    pub granularity: f64,
    /// Whether only one segment per window is timed.
    pub per_window: bool,
    /// Whether packets have timestamps, so that retransmissions also give samples.
    pub timestamps: bool,
    /// Whether a segment gives a sample when a duplicate ACK first reports its arrival (Linux).
    pub times_blocks: bool,
    /// Tick of the hosts' timers, packet times; 0 for exact timers.
    pub tick: f64,
    /// Whether the timer also runs while nothing is outstanding (ns-2).
    pub runs_idle: bool,
    /// Number of segments per ACK.
    pub ack_every: u32,
    /// Maximum delay of an ACK, packet times.
    pub ack_timeout: f64,
    /// Number of segments that are acknowledged one by one at first.
    pub quick: u32,
    /// Whether `quick` counts ACKs instead of segments, and starts anew after a silence longer than
    /// the client's timeout (Linux).
    pub counts_acks: bool,
    /// The effect of an idle time.
    pub idle: Idle,
    /// Whether a packet that departs at the time of an arrival still takes buffer space (ns-2,
    /// ns-3).
    pub arrival_first: bool,
}

impl Flavour {
    /// Whether receivers report segments that arrive out of order.
    pub fn is_selective(&self) -> bool {
        matches!(self.repair, Repair::Sack | Repair::Sack1 | Repair::Rack)
    }

    /// Whether ACKs report more than the next expected segment.
    pub fn has_options(&self) -> bool {
        self.is_selective() || self.timestamps || self.marks.are_used
    }

    /// Whether a sender has no state besides windows, timer and scoreboard.
    pub fn is_plain(&self) -> bool {
        self.growth != Growth::Cubic
            && self.growth != Growth::Bbr
            && self.repair != Repair::Rack
            && self.examine == Examine::Never
            && !(self.proportional || self.marks.are_used)
            && !(self.defers || self.times_blocks)
    }

    /// Textbook TCP.
    pub const LAB: Self = Self {
        repair: Repair::NewReno,
        careful: true,
        impatient: true,
        restarts_timer: true,
        limited_transmit: true,
        limited_again: false,
        in_turn: false,
        exit: Exit::Threshold,
        halved: Halved::Flight,
        burst: u32::MAX,
        answers: false,
        rescues: true,
        block_bytes: false,
        counts_packets: false,
        defers: false,
        closes: false,
        proportional: false,
        examine: Examine::Never,
        growth: Growth::Acks,
        cubic: Cubic {
            c: 0.4,
            beta: 0.7,
            yields: true,
            is_friendly: true,
            blind: 0.0,
            counts: false,
            watch: Watch::Off,
        },
        bbr: Bbr {
            startup: 2.885,
            cruise: 2.0,
            probe: 1.25,
            rounds: 10,
            full_rounds: 3,
            least: 4,
            burst: 1,
            burst_time: 0.0,
            round_trip_time: 1e7,
            probe_time: 2e5,
        },
        marks: Marks { are_used: false, alpha: 1.0, gain: 0.0625, floor: 2, at_once: true },
        rack: Rack {
            probes: 1,
            first: 0.0,
            margin: 0.0,
            ack_delay: 0.0,
            reduces_again: true,
            needs_reordering: false,
        },
        style: Style::Rfc,
        granularity: 0.0,
        per_window: false,
        timestamps: false,
        times_blocks: false,
        tick: 0.0,
        runs_idle: false,
        ack_every: 1,
        ack_timeout: 0.0,
        quick: 0,
        counts_acks: false,
        idle: Idle::Kept,
        arrival_first: false,
    };
}
