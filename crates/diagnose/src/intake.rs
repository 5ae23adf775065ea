//! Checks before any inference: frames that are in the file twice, clocks that were set back, and
//! packets that are missing in the file.

use incast_capture::read::{Packet, flags};

use crate::time::{Span, Time};

/// A clock that goes back further has been set. Smaller steps come from the order of a network
/// card's queues.
const BACK: Span = Span::from_millis(1);
/// The year 2116; later times are damage, and would not leave room for sums.
const LATEST: Time = Time::from_nanos(i64::MAX / 2);
/// Number of steps back after which no span between two packets is trusted.
const MOST_BACK: u64 = 8;
/// Number of packets of a flow that are remembered, because copies come soon, behind few other
/// packets.
const TRAIL: usize = 8;
/// The shortest time after which a sender repeats bytes, if no round trip is known.
const COPIED: Span = Span::from_micros(50);
/// With a round trip, a sender repeats bytes after half a round trip or this time, whichever is
/// shorter, at the earliest.
const COPIED_MOST: Span = Span::from_millis(1);
/// No SYN is repeated sooner (RFC 6298 §2.1 has a second, and no stack has less than 100 ms), so a
/// copy of a SYN shows the lag of a mirror.
const COPIED_SYN: Span = Span::from_millis(10);
/// Smallest number of copies that are no accident.
const COPIES: u64 = 3;
/// Copies are reported if they are at least this many per thousand packets.
const COPIES_SHARE: u64 = 10;
/// Number of segments of data above which a file has an ACK without data, unless these ACKs were
/// left out.
const SPEAKING: u64 = 10;
/// Number of bare ACKs per thousand data packets below which bare ACKs were left out. Delayed ACKs
/// are one for two packets.
const BARE_SHARE: u64 = 5;
/// Minimum percentage of the bytes that a filter leaves out. SYNs and bare ACKs identify a capture
/// that drops as many.
const LEFT_OUT: i64 = 5;
/// Percentage of the bytes that no capture drops, because most of the traffic would not be in the
/// file.
const MOST_LEFT_OUT: i64 = 40;
/// Mean number of missing bytes per gap above which a buffer was full. A filter leaves out single
/// packets, unless it leaves out nearly all bytes.
const BURST: i64 = 16 * 1024;
const NEARLY_ALL: i64 = 80;
/// Dropped bytes per thousand up to which the remaining bytes can still be interpreted.
const SOME: i128 = 5;
/// Percentage of the data packets in connections with one direction above which one direction
/// counts as missing.
const ONE_SIDED: u64 = 90;

/// A defect of a file: packets that it lacks, or has too often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lack {
    /// A display filter has chosen the packets.
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

    /// The sign of the defect. The bytes that a filter leaves out vary.
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

/// Number of packets by which the start of a file is recognised again.
const START: usize = 8;

/// The fields of a packet in which a copy must agree with it.
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
    count: usize,
}

impl Trail {
    /// A trail that begins with a packet.
    pub fn begun_by(packet: &Packet, now: Time) -> Self {
        let mut trail = Self::default();
        trail.remember(Mark::of(packet), now);
        trail
    }

    /// The time since the original of this copy was seen; a packet that is not a copy is
    /// remembered. `soonest` is the time after which a sender may repeat itself. `copied` tells
    /// that the file is known to have copies.
    fn has(&mut self, packet: &Packet, now: Time, soonest: Span, copied: bool) -> Option<Span> {
        let mark = Mark::of(packet);
        let known = &self.marks[..self.count.min(TRAIL)];
        // A number that other packets had, too, identifies nothing.
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
    /// The lag of a SYN's copy.
    lag: Option<Span>,
    copies: u64,
    copies_of_data: u64,
    data: u64,
    bare: u64,
    openings: u64,
    /// Number of data packets of connections with only one direction, and whether any connection
    /// had both.
    one_sided: u64,
    two_sided: bool,
    /// The first packets with their times, and the time until which the file repeats itself.
    start: [(Time, Mark); START],
    repeats_until: Option<Time>,
    /// Number of acknowledged bytes; of these, the number that is not in the file, and the number
    /// of gaps.
    bytes: i64,
    unseen: (i64, u64),
    /// Number of bytes that nobody has acknowledged, and number of these that are not in the file
    /// although later bytes are.
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

    /// Whether the file repeats itself here, because it goes back to one of its first packets, with
    /// the same time, and has not yet passed its latest packet.
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

    /// Takes a packet, and returns whether it is new. `trip` is the round trip of its connection.
    pub fn take(
        &mut self,
        packet: &Packet,
        now: Time,
        trail: &mut Trail,
        trip: Option<Span>,
    ) -> bool {
        self.packets += 1;
        let data = packet.payload > 0;
        let soonest = trip.map_or(COPIED, |trip| (trip / 2).min(COPIED_MOST));
        let soonest = self.lag.map_or(soonest, |lag| soonest.max(2 * lag));
        let copied = self.lag.is_some()
            || self.copies_of_data >= COPIES && 4 * self.copies_of_data > self.data;
        if let Some(lag) = trail.has(packet, now, soonest, copied) {
            self.copied(packet);
            if packet.has(flags::SYN) && lag < COPIED_SYN {
                self.lag = self.lag.max(Some(lag));
            }
            return false;
        }
        if packet.has(flags::SYN) {
            self.openings += 1;
        } else if data {
            self.data += 1;
        } else if !packet.has(flags::FIN) && !packet.has(flags::RST) {
            self.bare += 1;
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

    /// Notes a flow that has ended with bytes that nobody acknowledged; `unseen` of these are below
    /// bytes that were seen.
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

    /// Whether too many packets are missing for holes or numbers to show losses. A capture that
    /// drops a few packets keeps nearly all of them.
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
        // If only ACKs are left out, some connection has both directions.
        let one_sided = self.data > 0
            && self.one_sided * 100 >= self.data * ONE_SIDED
            && !(silent && self.two_sided);
        let share = |unseen: i64, bytes: i64, percent: i64| {
            i128::from(unseen) * 100 > i128::from(bytes) * i128::from(percent)
        };
        let here_and_there =
            unseen <= BURST.saturating_mul(places as i64) || share(unseen, self.bytes, NEARLY_ALL);
        // Bytes that nobody acknowledges may be lost on the way, but then they are sent again.
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
