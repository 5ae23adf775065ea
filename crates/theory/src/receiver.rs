//! The client's end of a connection: received segments and ACKs.

use crate::packet::{NEVER, Ticks};

/// Maximum number of blocks in an ACK.
const MOST_BLOCKS: u32 = 3;

/// Reassembly and delayed ACKs of a connection.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// The segment expected next, which is the cumulative ACK.
    pub next: u32,
    /// Number of received segments above `next`, and number of contiguous ranges of these segments.
    beyond: u32,
    ranges: u32,
    /// `next` at the last ACK, and the timestamp that the next ACK echoes (RFC 7323 §4.3).
    acknowledged: u32,
    pub echo: Ticks,
    /// Whether the last segment was marked.
    pub is_marked: bool,
    /// Segments since the last ACK.
    pending: u32,
    /// Number of further segments that are acknowledged one by one.
    quick: u32,
    /// Whether `quick` counts ACKs, as in Linux; the time at which the last segment arrived; and
    /// the silence after which `quick` starts anew.
    counts_acks: bool,
    heard: Ticks,
    silence: Ticks,
    /// When the delayed ACK is due.
    pub due: Ticks,
    /// The received segments above `next`, as bits of a ring.
    held: Vec<u64>,
}

impl Receiver {
    /// A receiver that expects segment 1. No segment's number may be more than `most` above the
    /// expected number. The first `quick` segments are acknowledged one by one.
    pub fn new(most: u32, quick: u32) -> Self {
        let held = vec![0; (most as usize / 64 + 1).next_power_of_two()];
        Self {
            next: 1,
            beyond: 0,
            ranges: 0,
            acknowledged: 1,
            is_marked: false,
            echo: 0,
            pending: 0,
            quick,
            counts_acks: false,
            heard: NEVER,
            silence: NEVER,
            due: NEVER,
            held,
        }
    }

    /// The same receiver, with ACKs counted as in Linux.
    pub fn counting_acks(self, counts_acks: bool) -> Self {
        Self { counts_acks, ..self }
    }

    /// Begins a new connection. The receiver must have no segment above the expected segment.
    pub fn renew(&mut self, quick: u32) {
        (self.pending, self.quick, self.due) = (0, quick, NEVER);
        (self.heard, self.silence) = (NEVER, NEVER);
        (self.acknowledged, self.is_marked) = (self.next, false);
    }

    /// Whether a segment has arrived before.
    pub fn has(&self, segment: u32) -> bool {
        segment < self.next || self.beyond > 0 && self.is_held(segment)
    }

    fn is_held(&self, segment: u32) -> bool {
        let (word, bit) = self.place(segment);
        self.held[word] & bit != 0
    }

    /// Number of SACK blocks of an ACK (RFC 2018 §3), including a block for a duplicate (RFC 2883).
    pub fn blocks(&self, is_twice: bool) -> usize {
        (self.ranges + u32::from(is_twice)).min(MOST_BLOCKS) as usize
    }

    /// Records the timestamp of a segment that was sent at `sent` and arrives.
    pub fn note_time(&mut self, segment: u32, sent: Ticks) {
        if segment <= self.acknowledged {
            self.echo = sent;
        }
    }

    /// Records, for timestamps, that an ACK of all segments before `next` is sent.
    pub fn note_ack(&mut self) {
        self.acknowledged = self.next;
    }

    /// Receives a segment. Returns the cumulative ACK.
    #[inline]
    pub fn take(&mut self, segment: u32) -> u32 {
        if segment == self.next && self.beyond == 0 {
            self.next += 1;
        } else if segment >= self.next {
            self.take_out_of_order(segment);
        }
        self.next
    }

    /// Sets the client's timeout once the connection is open.
    pub fn know_timeout(&mut self, wait: Ticks) {
        self.silence = wait;
    }

    /// Notes the arrival of a segment. After a silence longer than the client's timeout, the next
    /// `quick` ACKs are again sent at once (`tcp_event_data_recv()`).
    pub fn hear(&mut self, now: Ticks, quick: u32) {
        if self.counts_acks {
            if self.heard != NEVER && now - self.heard > self.silence {
                self.quick = quick;
            }
            self.heard = now;
        }
    }

    /// Whether a segment must be acknowledged at once (RFC 5681 §4.2). Must be called before the
    /// segment is received. An ACK is due after `every` segments, for a duplicate, and while there
    /// is a gap. A duplicate also restores `quick` (Linux).
    pub fn is_due(&mut self, segment: u32, every: u32, quick: u32) -> bool {
        self.pending += 1;
        let is_due = if segment < self.next {
            self.quick = quick;
            true
        } else if segment > self.next || self.beyond > 0 {
            true
        } else if self.quick > 0 {
            if !self.counts_acks {
                self.quick = self.quick.saturating_sub(self.pending);
            }
            true
        } else {
            self.pending >= every
        };
        if is_due {
            self.acknowledged();
        }
        is_due
    }

    /// Notes that an ACK was sent.
    pub fn acknowledged(&mut self) {
        if self.counts_acks && self.pending > 0 {
            self.quick = self.quick.saturating_sub(1);
        }
        (self.pending, self.due) = (0, NEVER);
    }

    #[inline(never)]
    fn take_out_of_order(&mut self, segment: u32) {
        let (word, bit) = self.place(segment);
        if self.held[word] & bit == 0 {
            self.held[word] |= bit;
            self.beyond += 1;
            let below = segment > self.next && self.is_held(segment - 1);
            let joins = u32::from(below) + u32::from(self.is_held(segment + 1));
            self.ranges = self.ranges + 1 - joins;
        }
        self.ranges -= u32::from(segment == self.next);
        loop {
            let (word, bit) = self.place(self.next);
            if self.held[word] & bit == 0 {
                return;
            }
            self.held[word] &= !bit;
            self.beyond -= 1;
            self.next += 1;
        }
    }

    fn place(&self, segment: u32) -> (usize, u64) {
        ((segment as usize / 64) & (self.held.len() - 1), 1 << (segment % 64))
    }
}
