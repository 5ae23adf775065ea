//! Merges segments, because a capture on a host with offloads shows merged segments. Such a host
//! captures sent data before the network card cuts them into segments, and captures received
//! segments after merging those that arrive within a short time.

use incast_capture::wire::{Options, flag};

use super::{File, Seen};

/// Packets that arrive within this time are merged, in nanoseconds.
const WINDOW: u64 = 50_000;
/// The largest payload of a merged segment: an IP packet has less than 64 KiB.
const MOST_PAYLOAD: u32 = 65_535 - 20 - 60;
/// Number of connections whose segments are merged at a time (Linux: `MAX_GRO_SKBS`).
const MOST_CONNECTIONS: usize = 8;

/// Segments to which later segments may be appended.
#[derive(Default)]
pub struct Offload {
    /// The segments, each with the payload of its first packet.
    growing: Vec<(Seen, u32)>,
    /// The time at which the first of these segments was seen, in nanoseconds.
    since: u64,
    /// The direction of all these segments.
    forward: bool,
}

impl Offload {
    /// Takes a packet. The packet is merged into another packet, kept for later merging, or
    /// written.
    pub fn take(&mut self, seen: Seen, forward: bool, file: &mut File) {
        if !self.growing.is_empty() && (forward != self.forward || seen.nanos > self.since + WINDOW)
        {
            self.flush(file);
        }
        let held = self.growing.iter_mut().find(|(held, _)| held.flow == seen.flow);
        match held {
            Some((held, segment)) if continues(held, &seen, *segment) => {
                held.segment.payload += seen.segment.payload;
                held.nanos = seen.nanos;
                held.comments.extend(seen.comments);
                return;
            }
            Some(_) => self.flush(file),
            None => {}
        }
        if !may_grow(&seen) {
            self.flush(file);
            return file.write(&seen);
        }
        if self.growing.len() == MOST_CONNECTIONS {
            self.flush(file);
        }
        if self.growing.is_empty() {
            (self.since, self.forward) = (seen.nanos, forward);
        }
        let segment = seen.segment.payload;
        self.growing.push((seen, segment));
    }

    /// Writes the waiting segments, with the time of the last arrival.
    pub fn flush(&mut self, file: &mut File) {
        let last = self.growing.iter().map(|(seen, _)| seen.nanos).max();
        for (mut seen, _) in self.growing.drain(..) {
            seen.nanos = last.unwrap_or(seen.nanos);
            file.write(&seen);
        }
    }
}

/// Whether a packet is an ordinary data segment, which can be merged.
fn may_grow(seen: &Seen) -> bool {
    let segment = &seen.segment;
    let plain = segment.flags & !(flag::PSH | flag::ECE) == flag::ACK;
    !seen.is_datagram
        && plain
        && segment.payload > 0
        && segment.options.sack == Options::default().sack
}

/// Whether `next` follows `held` directly and has the same header. After a segment that is shorter
/// than `segment` bytes, nothing can be appended.
fn continues(held: &Seen, next: &Seen, segment: u32) -> bool {
    let (one, other) = (&held.segment, &next.segment);
    may_grow(next)
        && one.seq.wrapping_add(one.payload) == other.seq
        && (one.ack, one.flags, one.tos) == (other.ack, other.flags, other.tos)
        && one.payload.is_multiple_of(segment)
        && other.payload <= segment
        && one.payload + other.payload <= MOST_PAYLOAD
}

#[cfg(test)]
mod tests {
    use incast_capture::write::{About, Capture};

    use super::*;

    /// Number of captured frames if consecutive segments of 1000 bytes are seen at these times.
    fn frames(times: &[u64], is_datagram: bool) -> u64 {
        let capture = Capture::new(Box::new(std::io::sink()) as _, 54, &About::default());
        let capture = Some(capture.expect("a sink takes all"));
        let mut file = File { capture, frame: Vec::new() };
        let mut offload = Offload::default();
        for (number, &nanos) in (0..).zip(times) {
            let segment = incast_capture::wire::Segment {
                seq: 1000 * number,
                flags: flag::ACK,
                payload: 1000,
                ..Default::default()
            };
            let seen = Seen { nanos, flow: 0, segment, is_datagram, comments: Vec::new() };
            offload.take(seen, true, &mut file);
        }
        offload.flush(&mut file);
        file.capture.map_or(0, |capture| capture.frames())
    }

    #[test]
    fn segments_of_one_window_are_merged() {
        let start = 1_000_000;
        assert_eq!(frames(&[start, start + 20_000, start + WINDOW], false), 1);
        assert_eq!(frames(&[start, start + 20_000, start + WINDOW + 1], false), 2);
    }

    #[test]
    fn datagrams_are_not_merged() {
        assert_eq!(frames(&[0, 1, 2], true), 3);
    }
}
