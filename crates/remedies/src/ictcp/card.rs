//! ICTCP's state per network card: slots, and the remaining bandwidth of the link.

use incast_engine::{Rate, Span, Time};

/// A network card and its connections.
#[derive(Debug)]
pub(super) struct Card {
    /// C, bytes per second.
    capacity: f64,
    /// α·C, bytes per second.
    usable: f64,
    /// Start and length (T) of the current half-slot. The first packet starts the first one.
    half: Option<(Time, Span)>,
    /// Whether the current half-slot is the second half of its slot, in which windows may grow.
    second: bool,
    /// Bytes received in the current half.
    received: u64,
    /// The remaining bandwidth `BW_A` that the latest first half measured, bytes per second.
    available: f64,
    /// The part of `available` that growing windows have not used yet.
    quota: f64,
    base_rtt: Span,
    connections: Vec<Share>,
}

/// The card's record of a connection.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    rtt: Span,
    window: u64,
    /// Bytes received in this slot, and in the previous slot.
    bytes: u64,
    bytes_before: u64,
}

impl Card {
    pub(super) fn new(rate: Rate, base_rtt: Span, alpha: f64) -> Self {
        let capacity = rate.0 as f64 / 8.0;
        Self {
            capacity,
            usable: alpha * capacity,
            half: None,
            second: false,
            received: 0,
            available: 0.0,
            quota: 0.0,
            base_rtt,
            connections: Vec::new(),
        }
    }

    /// Opens a connection. It replaces the previous connection with the same number.
    pub(super) fn open(&mut self, index: usize, window: u64, rtt: Span) {
        if self.connections.len() <= index {
            self.connections.resize(index + 1, Share::default());
        }
        self.connections[index] = Share { rtt, window, ..Share::default() };
    }

    pub(super) fn note_rtt(&mut self, index: usize, rtt: Span) {
        self.connections[index].rtt = rtt;
    }

    pub(super) fn note_window(&mut self, index: usize, window: u64) {
        self.connections[index].window = window;
    }

    /// Counts a packet of `size` bytes that arrived for a connection.
    pub(super) fn receive(&mut self, now: Time, index: usize, size: u32) {
        self.advance(now);
        self.received += u64::from(size);
        self.connections[index].bytes += u64::from(size);
    }

    fn advance(&mut self, now: Time) {
        let (mut began, mut length) = self.half.unwrap_or((now, self.base_rtt));
        // After a long pause, measurements restart with a new slot.
        if now.saturating_since(began) > length * 4 {
            (began, self.second, self.received) = (now, false, 0);
        }
        while now.saturating_since(began) >= length {
            began += length;
            if self.second {
                length = self.next_half();
            } else {
                let used = self.received as f64 / length.as_secs_f64();
                self.available = (self.usable - used).max(0.0);
                self.quota = self.available;
            }
            self.second = !self.second;
            self.received = 0;
        }
        self.half = Some((began, length));
    }

    /// The length of the next half-slots: T = Σ w·RTT, where w is a connection's share of the
    /// traffic in the slot that ends.
    fn next_half(&mut self) -> Span {
        let total: u64 = self.connections.iter().map(|connection| connection.bytes).sum();
        let weighted: f64 = self
            .connections
            .iter()
            .map(|connection| connection.bytes as f64 * connection.rtt.as_picos() as f64)
            .sum();
        for connection in &mut self.connections {
            connection.bytes_before = std::mem::take(&mut connection.bytes);
        }
        if total == 0 {
            return self.base_rtt;
        }
        Span::from_picos((weighted / total as f64) as u64).max(Span::from_micros(1))
    }

    /// Whether windows may grow in the current half-slot.
    pub(super) fn may_raise(&self) -> bool {
        self.second
    }

    /// Whether at least `rate` (bytes per second) of the remaining bandwidth is left.
    pub(super) fn has(&self, rate: f64) -> bool {
        rate <= self.quota
    }

    /// Subtracts `rate` (bytes per second) from the remaining bandwidth, if enough is left. Returns
    /// whether enough was left.
    pub(super) fn take(&mut self, rate: f64) -> bool {
        let enough = self.has(rate);
        if enough {
            self.quota -= rate;
        }
        enough
    }

    /// The last measured `BW_A / C`; 1 before the first measurement.
    pub(super) fn left_share(&self) -> f64 {
        if self.half.is_none() { 1.0 } else { self.available / self.capacity }
    }

    /// Mean window, in bytes, of the connections that received data in this slot or the previous
    /// one.
    pub(super) fn mean_window(&self) -> u64 {
        let active = self.connections.iter().filter(|it| it.bytes + it.bytes_before > 0);
        let (sum, count) =
            active.fold((0_u64, 0), |(sum, count), it| (sum + it.window, count + 1_u64));
        sum.checked_div(count).unwrap_or(u64::MAX)
    }
}
