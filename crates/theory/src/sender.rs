//! What a sender remembers: the state of the chain.

/// Slow-start threshold before the first loss.
const ENDLESS: f64 = 1e9;

/// `pause` of a sender that does not wait.
pub const AT_ONCE: f64 = f64::NEG_INFINITY;

/// Duplicate ACKs that make a fast retransmit (RFC 5681).
pub const DUPLICATES: f64 = 3.0;

/// Slow-start threshold at least (RFC 5681, equation 4).
pub const LEAST_WINDOW: f64 = 2.0;

/// Whole packets of a number that is not negative and below 2^31; faster than `floor` where that is a call.
pub fn whole(packets: f64) -> f64 {
    f64::from(packets as i32)
}

/// One sender within a block.
#[derive(Clone, Debug, Default)]
pub struct Sender {
    /// Congestion window.
    pub window: f64,
    /// Slow-start threshold.
    pub threshold: f64,
    /// Packets that have not arrived yet.
    pub left: f64,
    /// When the request comes, or the retransmission timer expires; `AT_ONCE` for who sends.
    pub pause: f64,
    /// Whether nothing of the block has been sent.
    pub fresh: bool,
    /// Lost packets that are repaired, one per round trip, before the window grows again.
    pub holes: f64,
    /// When the first partial ACK of the repair comes: the timer runs from there.
    pub since: f64,
    /// Packets outstanding from the first hole on.
    pub ahead: f64,
    /// Packets from one hole to the next.
    pub spacing: f64,
    /// Packets that arrived in the last round trip; each leaves a place.
    pub clocked: f64,
    /// Packets that are sent a second time after a timer; a loss among them is not repaired.
    pub again: f64,
    /// How often the timer has doubled.
    pub backoff: u32,
}

impl Sender {
    /// A connection that has just opened.
    pub fn connected(window: f64) -> Self {
        Self { window, threshold: ENDLESS, ..Self::default() }
    }

    /// Begins a block: window and threshold stay.
    pub fn ask(&mut self, segments: f64, start: f64) {
        let Self { window, threshold, .. } = *self;
        *self = Self {
            window,
            threshold,
            left: segments,
            pause: start,
            fresh: true,
            ..Self::default()
        };
    }

    /// Packets that it may send now.
    pub fn ready(&self) -> f64 {
        whole(self.window).min(self.left)
    }

    /// Whether it is in slow start.
    pub fn slow(&self) -> bool {
        self.window < self.threshold
    }
}
