//! Checks before any inference: frames that are in the file twice, clocks that were set back, and
//! packets that are missing in the file.

use incast_capture::read::{Packet, flags};

use crate::time::{Span, Time};

/// A clock that goes back by more than this has been set back. Smaller steps come from the order of
/// a network card's queues.
const BACK: Span = Span::from_millis(1);
/// The year 2116. A later time is a sign of a damaged file, and sums with it could overflow.
const LATEST: Time = Time::from_nanos(i64::MAX / 2);
/// If the clock goes back at least this many times, no span between two packets is trusted.
const MOST_BACK: u64 = 8;
/// Number of remembered packets of a flow. A copy comes soon after the original, behind few other
/// packets.
const TRAIL: usize = 8;
/// The shortest time after which a sender repeats bytes, if no round trip is known.
const COPIED: Span = Span::from_micros(50);
/// If a round trip is known, a sender repeats bytes at the earliest after half a round trip or this
/// time, whichever is shorter.
const COPIED_MOST: Span = Span::from_millis(1);
/// A SYN that comes again within this time is a copy from a mirror port. The time between the two
/// is the lag of the mirror port. Stacks retransmit a SYN after 100 ms or later (RFC 6298 §2.1: a
/// second).
const COPIED_SYN: Span = Span::from_millis(10);
/// Smallest number of copies that cannot be a coincidence.
const COPIES: u64 = 3;
/// Smallest number of copies per thousand packets that is reported.
const COPIES_SHARE: u64 = 10;
/// A file with at least this many segments of data has bare ACKs (ACKs without data), unless they
/// were left out.
const SPEAKING: u64 = 10;
/// If a file has at most this many bare ACKs per thousand data packets, bare ACKs were left out.
/// With delayed ACKs, there is one ACK for two packets.
const BARE_SHARE: u64 = 5;
/// If more than this percentage of the bytes is missing, a filter may have left them out. If the
/// capture dropped the bytes instead, SYNs and bare ACKs in the file show that there was no filter.
const LEFT_OUT: i64 = 5;
/// If more than this percentage of the bytes is missing in short gaps, a filter left them out. A
/// capture does not drop such a large part.
const MOST_LEFT_OUT: i64 = 40;
/// If gaps have more missing bytes than this on average, a buffer was full. The gaps of a filter
/// are single packets, unless it leaves out nearly all bytes.
const BURST: i64 = 16 * 1024;
const NEARLY_ALL: i64 = 80;
/// Up to this many dropped bytes per thousand, the remaining bytes can still be interpreted.
const SOME: i128 = 5;
/// If at least this percentage of the data packets are in connections of which the file has only
/// one direction, the other direction counts as missing.
const ONE_SIDED: u64 = 90;

/// A defect of a file: packets that are missing, packets that occur more than once, or a wrong
/// clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lack {
    /// The file has only the packets that a display filter selected.
    Filtered,
    /// One direction of the connections is missing.
    OneDirection,
    /// Packets without data are missing.
    DataOnly,
    /// The file has only the openings of connections.
    SynOnly,
    /// Frames are in the file more than once.
    Duplicated,
    /// The clock was set back.
    ClockBack,
    /// The capture has dropped packets.
    CaptureDrops,
}

impl Lack {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Filtered => "filtered",
            Self::OneDirection => "one_direction",
            Self::DataOnly => "data_only",
            Self::SynOnly => "syn_only",
            Self::Duplicated => "duplicated",
            Self::ClockBack => "clock_back",
            Self::CaptureDrops => "capture_drops",
        }
    }

    /// The sign of the defect, as part of a sentence. For a filter, there are several signs, and
    /// this function returns only the last sign.
    fn why(self) -> &'static str {
        match self {
            Self::Filtered => "bytes between the packets are missing",
            Self::OneDirection => "only one direction of the connections is in the file",
            Self::DataOnly => "no ACK without data is in the file",
            Self::SynOnly => "only the openings of connections are in the file",
            Self::Duplicated => "frames are in the file more than once; each is counted once",
            Self::ClockBack => "the clock of the capture was set back",
            Self::CaptureDrops => "the capture has dropped packets",
        }
    }
}

/// Number of first packets that are remembered, so that a repetition of the file is recognised.
const START: usize = 8;

/// The fields of a packet that are the same in a copy of the packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Mark {
    seq: u32,
    ack: u32,
    payload: u32,
    stamp: u32,
    id: u16,
    window: u16,
    flags: u8,
}

impl Mark {
    fn of(packet: &Packet) -> Self {
        Self {
            seq: packet.seq,
            ack: packet.ack,
            payload: packet.payload,
            stamp: packet.options.timestamps.map_or(0, |stamps| stamps.value),
            id: packet.id.unwrap_or(0),
            window: packet.window,
            flags: packet.flags,
        }
    }
}

/// The last packets of one direction of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trail {
    marks: [(Mark, Time); TRAIL],
    /// The sequence numbers and the acknowledgment numbers of the marks. Nearly always, they show
    /// that a packet is no copy.
    seqs: [u32; TRAIL],
    acks: [u32; TRAIL],
    count: usize,
}

impl Trail {
    /// A trail that begins with a packet.
    pub fn begun_by(packet: &Packet, now: Time) -> Self {
        let mut trail = Self::default();
        trail.remember(Mark::of(packet), now);
        trail
    }

    /// Whether a remembered packet may have the numbers of this packet.
    fn may_have(&self, packet: &Packet) -> bool {
        // One comparison of all, instead of a branch for each.
        let all = self.seqs.iter().zip(&self.acks);
        all.fold(0, |any, (&seq, &ack)| any | u32::from(seq == packet.seq && ack == packet.ack)) > 0
    }

    /// If the packet is a copy, returns the time since the original was seen; otherwise, remembers
    /// the packet. `soonest` is the shortest time after which a sender may repeat bytes. `copied`
    /// is true if the file is known to have copies.
    fn has(&mut self, packet: &Packet, now: Time, soonest: Span, copied: bool) -> Option<Span> {
        let mark = Mark::of(packet);
        let known = &self.marks[..self.count.min(TRAIL)];
        // An identification that other packets have, too, does not identify this packet.
        let numbered =
            mark.id != 0 && known.iter().all(|(one, _)| *one == mark || one.id != mark.id);
        let opens = packet.has(flags::SYN);
        let same = known.iter().find(|&&(one, at)| {
            let soon = now - at < soonest && (mark.payload > 0 || copied);
            one == mark && (numbered || soon || opens && now - at < COPIED_SYN)
        });
        if let Some(&(_, at)) = same {
            return Some(now - at);
        }
        self.remember(mark, now);
        None
    }

    fn remember(&mut self, mark: Mark, now: Time) {
        self.marks[self.count % TRAIL] = (mark, now);
        self.seqs[self.count % TRAIL] = mark.seq;
        self.acks[self.count % TRAIL] = mark.ack;
        self.count = if self.count + 1 == 2 * TRAIL { TRAIL } else { self.count + 1 };
    }
}

/// The counts and the clock of all packets of a point.
#[derive(Clone, Copy, Debug, Default)]
pub struct Intake {
    /// The span that is added to times since the clock was set back.
    offset: Span,
    last: Option<Time>,
    /// The latest time of the file's own clock.
    latest: Time,
    backs: u64,
    /// Whether the clock ever went back, even by a little.
    went_back: bool,
    packets: u64,
    /// The time from a SYN to its copy.
    lag: Option<Span>,
    copies: u64,
    copies_of_data: u64,
    data: u64,
    bare: u64,
    openings: u64,
    /// Number of data packets of connections of which the file has only one direction, and whether
    /// the file has both directions of any connection.
    one_sided: u64,
    two_sided: bool,
    /// The first packets with their times, and the time until which the file repeats earlier
    /// packets.
    start: [(Time, Mark); START],
    repeats_until: Option<Time>,
    /// Number of acknowledged bytes, number of acknowledged bytes that are missing in the file, and
    /// number of gaps left by the missing bytes.
    bytes: i64,
    unseen: (i64, u64),
    /// Number of bytes without an ACK, and number of those bytes without an ACK that are missing in
    /// the file although later bytes are in the file.
    left: (i64, i64),
}

impl Intake {
    /// The time of a packet on a clock that never goes back.
    pub fn clock(&mut self, time: Time) -> Time {
        if let Some(last) = self.last {
            self.went_back |= time < last;
            if time < last - BACK {
                self.backs += 1;
                self.offset += last - time;
            }
        }
        self.last = Some(time);
        self.latest = self.latest.max(time);
        (time + self.offset).min(LATEST)
    }

    /// Whether this packet belongs to a repetition of the file. A repetition begins with a copy of
    /// one of the first packets, with the same time, and ends after the latest time so far.
    pub fn repeats(&mut self, packet: &Packet) -> bool {
        let time = Time::of(packet);
        let mark = (time, Mark::of(packet));
        if let Some(until) = self.repeats_until {
            if time <= until {
                self.packets += 1;
                self.copied(packet);
                return true;
            }
            self.repeats_until = None;
        } else if (self.packets as usize) < START {
            self.start[self.packets as usize] = mark;
        } else if self.went_back && self.start.contains(&mark) {
            self.repeats_until = Some(self.latest);
            return self.repeats(packet);
        }
        false
    }

    /// Whether spans between packets can be trusted.
    pub fn has_a_clock(&self) -> bool {
        self.backs < MOST_BACK
    }

    /// Takes a packet, and returns whether it is new. `trip` is the round trip of the packet's
    /// connection.
    pub fn take(
        &mut self,
        packet: &Packet,
        now: Time,
        trail: &mut Trail,
        trip: Option<Span>,
    ) -> bool {
        self.packets += 1;
        if !trail.may_have(packet) {
            trail.remember(Mark::of(packet), now);
        } else if self.is_copy(packet, now, trail, trip) {
            return false;
        }
        if packet.has(flags::SYN) {
            self.openings += 1;
        } else if packet.payload > 0 {
            self.data += 1;
        } else if !packet.has(flags::FIN) && !packet.has(flags::RST) {
            self.bare += 1;
        }
        true
    }

    /// Whether a packet is a copy of a remembered packet. If so, counts it; otherwise, remembers it.
    fn is_copy(
        &mut self,
        packet: &Packet,
        now: Time,
        trail: &mut Trail,
        trip: Option<Span>,
    ) -> bool {
        let soonest = trip.map_or(COPIED, |trip| (trip / 2).min(COPIED_MOST));
        let soonest = self.lag.map_or(soonest, |lag| soonest.max(2 * lag));
        let copied = self.lag.is_some()
            || self.copies_of_data >= COPIES && 4 * self.copies_of_data > self.data;
        let Some(lag) = trail.has(packet, now, soonest, copied) else { return false };
        self.copied(packet);
        if packet.has(flags::SYN) && lag < COPIED_SYN {
            self.lag = self.lag.max(Some(lag));
        }
        true
    }

    /// Counts a packet that was a copy.
    pub fn copied(&mut self, packet: &Packet) {
        self.copies += 1;
        self.copies_of_data += u64::from(packet.payload > 0);
    }

    /// Notes a connection that has ended: the number of data packets of each end, and whether each
    /// end sent a packet.
    pub fn connection(&mut self, data: [u64; 2], heard: [bool; 2]) {
        self.two_sided |= heard[0] && heard[1];
        if heard[0] != heard[1] {
            self.one_sided += data[0] + data[1];
        }
    }

    /// Notes a flow that has ended with `bytes` bytes without an ACK. The capture lacks `unseen` of
    /// them, although it has later bytes.
    pub fn left(&mut self, bytes: i64, unseen: i64) {
        self.left = (self.left.0.saturating_add(bytes), self.left.1.saturating_add(unseen));
    }

    /// Notes acknowledged bytes; `unseen` of these are not in the file.
    pub fn acknowledged(&mut self, bytes: i64, unseen: i64) {
        self.bytes = self.bytes.saturating_add(bytes);
        if unseen > 0 {
            self.unseen = (self.unseen.0.saturating_add(unseen), self.unseen.1 + 1);
        }
    }

    /// Whether so many packets are missing in the file that holes and identifications do not prove
    /// losses. A capture that has dropped only a few packets can still be used.
    pub fn leaves_out(&self, lacks: &[Lack]) -> bool {
        let some = i128::from(self.unseen.0) * 1000 > i128::from(self.bytes) * SOME;
        lacks.iter().any(|lack| match lack {
            Lack::Duplicated | Lack::ClockBack => false,
            Lack::CaptureDrops => some,
            _ => true,
        })
    }

    /// The sign of a defect, as part of a sentence.
    pub fn why(&self, lack: Lack) -> String {
        if lack != Lack::Filtered {
            return lack.why().to_owned();
        }
        let opening = if self.openings == 0 { "no SYN, " } else { "" };
        let bare = if self.is_silent() { "no ACK without data, " } else { "" };
        let joined = if opening.is_empty() && bare.is_empty() { "" } else { "and " };
        format!("the file looks like a filtered export: {opening}{bare}{joined}{}", lack.why())
    }

    /// Whether ACKs without data are missing.
    fn is_silent(&self) -> bool {
        self.bare * 1000 <= self.data * BARE_SHARE && self.data >= SPEAKING
    }

    /// The defects of the file; `drops` is the number of packets that the capture reports as
    /// dropped.
    pub fn lacks(&self, drops: u64) -> Vec<Lack> {
        let (unseen, places) = self.unseen;
        let silent = self.is_silent();
        // If only ACKs are left out, the file still has both directions of some connection.
        let one_sided = self.data > 0
            && self.one_sided * 100 >= self.data * ONE_SIDED
            && !(silent && self.two_sided);
        let share = |unseen: i64, bytes: i64, percent: i64| {
            i128::from(unseen) * 100 > i128::from(bytes) * i128::from(percent)
        };
        let here_and_there =
            unseen <= BURST.saturating_mul(places as i64) || share(unseen, self.bytes, NEARLY_ALL);
        // Bytes without an ACK may also have been lost on the way, but then the file has their
        // retransmission.
        let all = (unseen.saturating_add(self.left.1), self.bytes.saturating_add(self.left.0));
        let filtered = !one_sided
            && (silent && share(all.0, all.1, LEFT_OUT)
                || places > 0 && here_and_there && share(unseen, self.bytes, MOST_LEFT_OUT));
        let only_openings = self.openings > 0 && self.data + self.bare == 0;
        let all = [
            (filtered, Lack::Filtered),
            (one_sided, Lack::OneDirection),
            (silent && !filtered && !one_sided, Lack::DataOnly),
            (only_openings, Lack::SynOnly),
            (
                self.copies >= COPIES && self.copies * 1000 >= self.packets * COPIES_SHARE,
                Lack::Duplicated,
            ),
            (self.backs > 0, Lack::ClockBack),
            (drops > 0 || places > 0 && !filtered && !one_sided, Lack::CaptureDrops),
        ];
        all.into_iter().filter(|(there, _)| *there).map(|(_, lack)| lack).collect()
    }
}

#[cfg(test)]
mod tests;
