//! Controlled delay (RFC 8289): drops or marks packets at departure if the waiting time is too
//! long.

use incast_engine::{Fault, Size, Span, Stream, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DropReason, Parameters, QueueDiscipline, QueueView, Site, Verdict};
use crate::packet::Packet;

/// Controlled delay (RFC 8289). The RFC's 5 ms and 100 ms are for Internet round trips (§4). The
/// defaults are shorter in proportion to the round trips of a data centre, where packets never wait
/// for 5 ms in a shallow buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Acceptable waiting time, in seconds: 5 to 10 % of `interval` (RFC 8289 §4).
    pub target: Span,
    /// Time, in seconds, for which the waiting time must stay above `target` before packets are
    /// dropped or marked. This time should be about the longest round trip (RFC 8289 §4).
    pub interval: Span,
    /// Queue length, in bytes, up to which no packet is dropped. This queue length should be the
    /// size of a full packet (MAXPACKET in RFC 8289 §5).
    pub max_packet: Size,
    /// Whether ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            target: Span::from_micros(50),
            interval: Span::from_millis(1),
            max_packet: Size(1500),
            ecn: false,
        }
    }
}

impl Parameters for Params {
    const ACTS_AT_DEPARTURE: bool = true;

    fn check(&self, _: &Site) -> Result<(), Fault> {
        if self.interval.is_zero() {
            return Err(Fault::new("interval", "must be longer than 0; write e.g. \"1ms\""));
        }
        if self.target > self.interval {
            let message = "must be at most interval, and should be 5 to 10 % of it, e.g. \"50us\"";
            return Err(Fault::new("target", message));
        }
        Ok(())
    }

    fn marks(&self) -> bool {
        self.ecn
    }
}

/// The state of controlled delay; see [`Params`]. The fields have the names of RFC 8289 §5.
#[derive(Clone, Debug)]
pub struct Codel {
    params: Params,
    first_above_time: Option<Time>,
    drop_next: Time,
    count: u64,
    last_count: u64,
    dropping: bool,
    /// The action after the previous packet was dropped.
    after_drop: AfterDrop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AfterDrop {
    /// No action, because the previous packet was sent.
    Nothing,
    /// Schedule the next drop, if the waiting time is still too long.
    Schedule,
    /// Send this packet, because the drop state begins with only one drop.
    Send,
}

impl Codel {
    pub(super) fn new(params: &Params, _: &Site) -> Self {
        Self {
            params: params.clone(),
            first_above_time: None,
            drop_next: Time::ZERO,
            count: 0,
            last_count: 0,
            dropping: false,
            after_drop: AfterDrop::Nothing,
        }
    }

    /// Whether a packet that waited for `waited` may be dropped (§5, `dodequeue`).
    fn may_drop(&mut self, waited: Span, view: &QueueView) -> bool {
        if waited < self.params.target || view.bytes <= self.params.max_packet.0 {
            self.first_above_time = None;
            return false;
        }
        if let Some(time) = self.first_above_time {
            return view.now >= time;
        }
        self.first_above_time = Some(view.now + self.params.interval);
        false
    }

    /// §5, `control_law`: `t + interval / sqrt(count)`, in whole picoseconds, rounded down.
    fn control_law(&self, t: Time) -> Time {
        let interval = u128::from(self.params.interval.as_picos());
        let squared = interval * interval / u128::from(self.count.max(1));
        t + Span::from_picos(squared.isqrt() as u64)
    }

    /// Begins a drop state with its first drop or mark (§5, `deque`). If the last drop state ended
    /// recently, the new state begins near the last drop rate.
    fn begin(&mut self, now: Time) {
        self.dropping = true;
        let delta = self.count.saturating_sub(self.last_count);
        let recently = now.saturating_since(self.drop_next) < self.params.interval * 16;
        self.count = if delta > 1 && recently { delta } else { 1 };
        self.drop_next = self.control_law(now);
        self.last_count = self.count;
    }

    /// Marks or drops a packet. A marked packet is sent. After a drop, the next packet is examined
    /// at once.
    fn hit(&mut self, packet: &Packet, after_drop: AfterDrop) -> Verdict {
        let drop = Verdict::Drop(DropReason::Late);
        let verdict = if self.params.ecn { Verdict::mark_or(packet, drop) } else { drop };
        self.after_drop = if verdict == Verdict::Mark { AfterDrop::Nothing } else { after_drop };
        verdict
    }
}

impl QueueDiscipline for Codel {
    fn offer(&mut self, _: &Packet, _: &QueueView, _: &mut Stream) -> Verdict {
        Verdict::Admit
    }

    /// The function `deque` of §5, called for each packet at the head of the queue; its loop is in
    /// the port.
    fn departing(&mut self, packet: &Packet, waited: Span, view: &QueueView) -> Verdict {
        let now = view.now;
        let may_drop = self.may_drop(waited, view);
        match std::mem::replace(&mut self.after_drop, AfterDrop::Nothing) {
            AfterDrop::Send => return Verdict::Admit,
            AfterDrop::Schedule if may_drop => self.drop_next = self.control_law(self.drop_next),
            AfterDrop::Schedule | AfterDrop::Nothing => {}
        }
        if !may_drop {
            self.dropping = false;
            return Verdict::Admit;
        }
        if !self.dropping {
            self.begin(now);
            return self.hit(packet, AfterDrop::Send);
        }
        if now < self.drop_next {
            return Verdict::Admit;
        }
        self.count += 1;
        let verdict = self.hit(packet, AfterDrop::Schedule);
        if verdict == Verdict::Mark {
            // A marked packet is sent, which ends this dequeue. The next mark is therefore due
            // later (as in Linux).
            self.drop_next = self.control_law(self.drop_next);
        }
        verdict
    }
}

#[cfg(test)]
mod tests {
    use super::super::law_tests::{SITE, data};
    use super::*;
    use crate::packet::Ecn;
    use crate::packets::Load;

    /// RFC 8289's own values.
    fn rfc() -> Params {
        Params {
            target: Span::from_millis(5),
            interval: Span::from_millis(100),
            ..Params::default()
        }
    }

    /// Dequeues a packet every 100 us from a long queue; each packet has waited for `waited`.
    /// Returns the times, in us, at which packets are marked or dropped.
    fn hits(
        codel: &mut Codel,
        packet: &Packet,
        waited: Span,
        micros: std::ops::Range<u64>,
    ) -> Vec<u64> {
        let mut times = Vec::new();
        for now in micros.step_by(100) {
            let time = Time::ZERO + Span::from_micros(now);
            let view = QueueView {
                load: Load { packets: 50, bytes: 75_000, ..Load::default() },
                now: time,
                ..QueueView::default()
            };
            while let verdict @ (Verdict::Mark | Verdict::Drop(_)) =
                codel.departing(packet, waited, &view)
            {
                times.push(now);
                if verdict == Verdict::Mark {
                    break;
                }
            }
        }
        times
    }

    const LONG: Span = Span::from_millis(20);
    const SHORT: Span = Span::from_millis(4);

    /// The first drop comes one interval after the waiting time rose above the target. Each next
    /// drop is due interval / sqrt(count) after the previous one, and happens at the first dequeue
    /// after that time. There is a dequeue every 100 us.
    #[test]
    fn drops_follow_the_control_law() {
        let mut codel = Codel::new(&rfc(), &SITE);
        let times = hits(&mut codel, &data(), LONG, 0..700_000);
        let mut due = 100_000.0;
        let mut expected = Vec::new();
        for count in 1..=times.len() {
            expected.push((due / 100.0_f64).ceil() as u64 * 100);
            due += 100_000.0 / (count as f64).sqrt();
        }
        assert_eq!(times, expected);
        // The intervals are 100, 70.7, 57.7, 50 and 44.7 ms.
        assert_eq!(times[..6], [100_000, 200_000, 270_800, 328_500, 378_500, 423_200]);
    }

    #[test]
    fn a_short_wait_resets_the_interval_and_ends_the_drop_state() {
        let mut codel = Codel::new(&rfc(), &SITE);
        assert!(hits(&mut codel, &data(), LONG, 0..100_000).is_empty());
        assert!(hits(&mut codel, &data(), SHORT, 100_000..100_100).is_empty());
        assert_eq!(hits(&mut codel, &data(), LONG, 100_100..300_000), [200_100]);
        assert!(codel.dropping);
        assert!(hits(&mut codel, &data(), SHORT, 300_000..300_100).is_empty());
        assert!(!codel.dropping);
    }

    #[test]
    fn a_drop_state_that_comes_back_soon_starts_where_it_ended() {
        let begin_again = |pause: u64| {
            let mut codel = Codel::new(&rfc(), &SITE);
            let drops = hits(&mut codel, &data(), LONG, 0..700_000).len() as u64;
            assert_eq!((codel.count, codel.last_count), (drops, 1));
            hits(&mut codel, &data(), SHORT, 700_000..700_100);
            let start = 700_000 + pause;
            let again = hits(&mut codel, &data(), LONG, start..start + 100_100);
            assert_eq!(again, [start + 100_000]);
            (codel.count, drops - 1)
        };
        let (count, delta) = begin_again(100);
        assert_eq!(count, delta);
        // After 16 intervals, the last drop rate is forgotten.
        assert_eq!(begin_again(1_700_000).0, 1);
    }

    /// RFC 8289 §5: `now - drop_next < 16 * INTERVAL`.
    #[test]
    fn rfc8289_5_for_sixteen_intervals_the_last_rate_is_remembered() {
        let mut ended = Codel::new(&rfc(), &SITE);
        hits(&mut ended, &data(), LONG, 0..700_000);
        hits(&mut ended, &data(), SHORT, 700_000..700_100);
        let (drops, forgotten) = (ended.count, ended.drop_next + rfc().interval * 16);
        let begin = |now| {
            let mut codel = ended.clone();
            codel.begin(now);
            (codel.count, codel.last_count, codel.drop_next)
        };
        let before = Time::ZERO + Span::from_picos(forgotten.as_picos() - 1);
        let rate = libm::sqrt((drops - 1) as f64);
        let (count, last_count, next) = begin(before);
        assert_eq!((count, last_count), (drops - 1, drops - 1));
        assert!(((next - before).as_secs_f64() - 0.1 / rate).abs() < 1e-9);
        assert_eq!(begin(forgotten), (1, 1, forgotten + rfc().interval));
    }

    #[test]
    fn the_last_full_packet_is_never_dropped() {
        let mut codel = Codel::new(&rfc(), &SITE);
        for millis in 0..300 {
            let now = Time::ZERO + Span::from_millis(millis);
            let view = QueueView {
                load: Load { packets: 1, bytes: 1500, ..Load::default() },
                now,
                ..QueueView::default()
            };
            assert_eq!(codel.departing(&data(), LONG, &view), Verdict::Admit);
        }
    }

    #[test]
    fn marks_come_when_drops_would_and_the_packet_is_sent() {
        let capable = data().with_ecn(Ecn::Capable);
        let params = Params { ecn: true, ..rfc() };
        let marks = hits(&mut Codel::new(&params, &SITE), &capable, LONG, 0..700_000);
        let drops = hits(&mut Codel::new(&rfc(), &SITE), &capable, LONG, 0..700_000);
        assert_eq!(marks, drops);
        let not_capable = hits(&mut Codel::new(&params, &SITE), &data(), LONG, 0..700_000);
        assert_eq!(not_capable, drops);
    }

    #[test]
    fn parameters_make_sense() {
        let fault = |params: Params| params.check(&SITE).expect_err("it is invalid").key;
        assert!(Params::default().check(&SITE).is_ok());
        assert_eq!(fault(Params { interval: Span::ZERO, ..rfc() }), "interval");
        assert_eq!(fault(Params { target: Span::from_secs(1), ..rfc() }), "target");
    }
}
