//! What is known of a scenario.

/// A read over persistent connections to servers behind one switch, all links of one rate.
#[derive(Clone, Debug)]
pub struct Read {
    /// N, at least 1.
    pub servers: usize,
    /// Packets of the SRU, the last of which may be short.
    pub segments: f64,
    /// Full packets that wait in front of the client's link at most; may be a fraction.
    pub places: f64,
    /// Packets that the idle path holds.
    pub pipe: f64,
    /// Mean time between two requests.
    pub gap: f64,
    /// Minimum RTO.
    pub timer: f64,
    /// Blocks of a run; the windows of the first are the handshake's.
    pub blocks: f64,
    /// Window of a connection that has just opened.
    pub initial_window: f64,
    /// The receiver's window.
    pub most_window: f64,
    /// Whether a full buffer has no place for the last, shorter packet either.
    pub short_tail: bool,
}

impl Read {
    /// Packets under way at most: those that wait and those that the path holds.
    pub fn room(&self) -> f64 {
        self.places + self.pipe
    }

    /// Packets of a block.
    pub fn work(&self) -> f64 {
        self.servers as f64 * self.segments
    }

    /// Whether requests come more slowly than the link serves them.
    pub fn sparse(&self) -> bool {
        self.segments < self.gap
    }
}
