//! Differences of TCP stacks, as data for senders, receivers and timers.

/// cwnd at the end of a recovery (RFC 6582 §3.2, step 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// ssthresh.
    Threshold,
    /// At most the flight plus a segment: no burst.
    Flight,
    /// Unchanged, minus what partial ACKs deducted (ns-2).
    Keep,
}

/// The value that a loss halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halved {
    /// The outstanding data (RFC 5681, equation 4).
    Flight,
    /// The window (ns-2).
    Window,
    /// The data in the network, estimated from duplicate ACKs (ns-3).
    Pipe,
}

/// The effect of an idle time on the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// None.
    Kept,
    /// After an RTO it is the initial window (RFC 5681 §4.1).
    Restarts,
    /// It is halved for each RTO, and reduced to its used part (RFC 2861 §3).
    Validates,
}

/// The computation of a timeout from round trips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// RFC 6298.
    Rfc,
    /// The minimum limits the variance term.
    Linux,
    /// Samples are counted in ticks.
    Ns2,
    /// Every ACK of new data ends the backoff.
    Ns3,
}

/// The loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// `NewReno` (RFC 6582).
    NewReno,
    /// The scoreboard of selective acknowledgements (RFC 6675).
    Sack,
    /// A recovery that is not modelled: reads with losses cannot be simulated.
    Unknown,
}

/// The properties of a stack.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flavour {
    /// The loss recovery.
    pub repair: Repair,
    /// Whether a fast retransmit needs an ACK of more than the last loss (RFC 6582 §3.2, step 2).
    pub careful: bool,
    /// Whether only the first partial ACK restarts the timer (RFC 6582 §4).
    pub impatient: bool,
    /// Whether a fast retransmit restarts the timer.
    pub restarts_timer: bool,
    /// Whether two duplicate ACKs release a segment each (RFC 3042).
    pub limited_transmit: bool,
    /// cwnd at the end of recovery.
    pub exit: Exit,
    /// The value that a loss halves.
    pub halved: Halved,
    /// Maximum number of new segments per ACK in recovery.
    pub burst: u32,
    /// With SACK: whether holes above the highest arrived segment are repaired, too, and partial
    /// ACKs are answered (ns-3).
    pub answers: bool,
    /// With SACK: whether there is a rescue (RFC 6675 §4, `NextSeg`, rule 4).
    pub rescues: bool,
    /// Whether growing round trips end slow start (Linux's hybrid slow start). The window then
    /// grows by the acknowledged data, and only while it is used.
    pub watches: bool,
    /// The computation of timeouts.
    pub style: Style,
    /// Minimum variance term of a timeout, or its tick; packet times.
    pub granularity: f64,
    /// Whether one segment per window is timed.
    pub per_window: bool,
    /// Whether the timer also runs while nothing is outstanding (ns-2).
    pub runs_idle: bool,
    /// Number of segments per ACK.
    pub ack_every: u32,
    /// Maximum delay of an ACK, packet times.
    pub ack_timeout: f64,
    /// Number of segments that are acknowledged one by one at first.
    pub quick: u32,
    /// The effect of an idle time.
    pub idle: Idle,
    /// Whether a packet that departs at the time of an arrival is still there (ns-2, ns-3).
    pub arrival_first: bool,
}

impl Flavour {
    /// Textbook TCP.
    pub const LAB: Self = Self {
        repair: Repair::NewReno,
        careful: true,
        impatient: true,
        restarts_timer: true,
        limited_transmit: true,
        exit: Exit::Threshold,
        halved: Halved::Flight,
        burst: u32::MAX,
        answers: false,
        rescues: true,
        watches: false,
        style: Style::Rfc,
        granularity: 0.0,
        per_window: false,
        runs_idle: false,
        ack_every: 1,
        ack_timeout: 0.0,
        quick: 0,
        idle: Idle::Kept,
        arrival_first: false,
    };
}
