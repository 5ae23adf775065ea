//! Where stacks differ: data for senders, receivers and timers.

/// What becomes of the window at the end of a recovery (RFC 6582 §3.2, step 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It is the threshold.
    Threshold,
    /// It is no larger than what is out and a segment: no burst.
    Flight,
    /// It stays, less what partial ACKs took (ns-2).
    Keep,
}

/// What a loss halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halved {
    /// What is outstanding (RFC 5681, equation 4).
    Flight,
    /// The window (ns-2).
    Window,
    /// What is in the network as duplicate ACKs tell (ns-3).
    Pipe,
}

/// What an idle time does to a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// Nothing.
    Kept,
    /// After an RTO it is the initial one (RFC 5681 §4.1).
    Restarts,
    /// It is halved for each RTO, and falls to what was used of it (RFC 2861 §3).
    Validates,
}

/// Whose arithmetic makes a timeout of round trips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// RFC 6298.
    Rfc,
    /// The minimum is one of the variance.
    Linux,
    /// Samples are counted in ticks.
    Ns2,
    /// Every ACK of new data ends the backoff.
    Ns3,
}

/// What repairs a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// `NewReno` (RFC 6582).
    NewReno,
    /// The scoreboard of selective acknowledgements (RFC 6675).
    Sack,
    /// What is not known here: a read that loses anything cannot be followed.
    Unknown,
}

/// One stack's ways.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flavour {
    /// What repairs a loss.
    pub repair: Repair,
    /// A fast retransmit needs an ACK of more than the last loss (RFC 6582 §3.2, step 2).
    pub careful: bool,
    /// Only the first partial ACK restarts the timer (RFC 6582 §4).
    pub impatient: bool,
    /// A fast retransmit restarts the timer.
    pub restarts_timer: bool,
    /// Two duplicate ACKs release a segment each (RFC 3042).
    pub limited_transmit: bool,
    /// What becomes of the window at the end of recovery.
    pub exit: Exit,
    /// What a loss halves.
    pub halved: Halved,
    /// New segments that an ACK may release in recovery.
    pub burst: u32,
    /// With SACK: holes above all that has arrived are repaired, too, and partial ACKs answered
    /// (ns-3).
    pub answers: bool,
    /// With SACK: a rescue (RFC 6675 §4, `NextSeg`, rule 4).
    pub rescues: bool,
    /// Slow start ends where round trips grow (Linux's hybrid), and the window grows by what is
    /// acknowledged, and while it is used only.
    pub watches: bool,
    /// Timeouts.
    pub style: Style,
    /// Least variance of a timeout, or its tick; packet times.
    pub granularity: f64,
    /// One segment of a window is timed.
    pub per_window: bool,
    /// The timer runs on while nothing is out (ns-2).
    pub runs_idle: bool,
    /// Segments for which there is one ACK,
    pub ack_every: u32,
    /// unless it has waited for so long, packet times;
    pub ack_timeout: f64,
    /// so many are acknowledged one by one before.
    pub quick: u32,
    /// What an idle time does.
    pub idle: Idle,
    /// What departs in the instant of an arrival is still there (ns-2, ns-3).
    pub arrival_first: bool,
}

impl Flavour {
    /// The textbook's.
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
