//! Dynamic segment resizing (Kulkarni & Agrawal, §4.3, algorithm 4).
//!
//! A connection begins with very small segments, so that even a small window has many segments and
//! triggers enough duplicate ACKs to repair a loss. Whenever the congestion window reaches
//! `cwnd_dsr` segments, the segment size grows, so that the same window in bytes has `cwnd_dsr / 2`
//! segments. The size grows up to the MSS: 50, 100, 200, 400, 800, MSS.
//!
//! Algorithm 4 counts cwnd in segments, as ns-2 does ([`Unit::Segments`]). When segments grow, cwnd
//! keeps its bytes, but ssthresh and the receive window keep their number of segments. A limit of
//! 1000 segments is therefore 50 KB while segments have 50 bytes. In a TCP that counts bytes
//! ([`Unit::Bytes`]), windows do not depend on the size of segments.
//!
//! The segment size and `cwnd_dsr` may both be `auto`, which the paper leaves to future work.
//! Smaller segments help until headers fill the link. Segments should stay small until the window
//! exceeds the window that caused a loss. The window that caused the loss is this connection's
//! share of the path's capacity and of the buffer. A window of far more segments than this share
//! does not help, because `NewReno` repairs one loss per round trip.

use incast_engine::{Limit, Span};
use incast_tcp::hooks::{Advice, SendEvent, SendView, SenderHook, TxPlan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::or_auto::{Auto, OrAuto};
use crate::requirement::Requirement;
use crate::seam::{Installation, Place, Remedy, Situation, Slot};

/// Segments that start small and grow with the window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// `MSS_dsr`, the payload of the first segments, in bytes; `auto` computes it from the headers
    /// on the wire. Default: 50.
    #[schemars(extend("minimum" = 1))]
    pub mss_dsr: OrAuto<u32>,
    /// Congestion window at which segments grow, in segments of the current size; `auto` computes
    /// it from the timer, the round trip and the first loss. Default: 50.
    #[schemars(extend("minimum" = 2))]
    pub cwnd_dsr: OrAuto<u32>,
    /// Whether segments grow when the window reaches `cwnd_dsr`, or only when it exceeds
    /// `cwnd_dsr`.
    pub resize: When,
    /// Which transfers begin with small segments.
    pub begins: Begins,
    /// Unit of the windows.
    pub unit: Unit,
    /// Congestion window of a new connection, in small segments. Default: 2.
    #[schemars(range(min = 1))]
    pub initial_window: u32,
}

/// When segments grow. The paper's text and its algorithm differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// cwnd ≥ `cwnd_dsr`, as in algorithm 4.
    #[default]
    Reached,
    /// cwnd > `cwnd_dsr`: "grows beyond" in the paper's text.
    Exceeded,
}

/// The transfers that begin with small segments. The paper says "synchronized transfer".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Begins {
    /// Every connection. Segments never shrink again.
    Connection,
    /// Every block: data written when all earlier data is acknowledged.
    #[default]
    Block,
}

/// The unit of cwnd, ssthresh and the receive window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Segments of the current size, as in algorithm 4 and ns-2. When segments become small at a
    /// new block, cwnd and ssthresh keep their number of segments.
    #[default]
    Segments,
    /// Bytes, which do not depend on the size of segments.
    Bytes,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            mss_dsr: OrAuto::Quantity(50),
            cwnd_dsr: OrAuto::Quantity(50),
            resize: When::default(),
            begins: Begins::default(),
            unit: Unit::default(),
            initial_window: 2,
        }
    }
}

impl When {
    /// The next segment size, from the current size `segment` and the window `cwnd`, all in bytes.
    fn resized(self, cwnd_dsr: u32, segment: u32, cwnd: u64, mss: u32) -> u32 {
        let threshold = u64::from(cwnd_dsr) * u64::from(segment);
        let due = match self {
            Self::Reached => cwnd >= threshold,
            Self::Exceeded => cwnd > threshold,
        };
        if segment >= mss || !due {
            return segment;
        }
        let size = 2 * cwnd / u64::from(cwnd_dsr);
        u32::try_from(size).map_or(mss, |size| size.min(mss))
    }
}

/// An uncompressed header, bytes.
const FULL_HEADER: u8 = 40;
/// The smallest automatic `mss_dsr`, bytes: the paper's value.
const LEAST_SEGMENT: u32 = 50;

/// Automatic `mss_dsr`, bytes. This payload is as long as two and a half headers, so that headers
/// take at most 2/7 of the link.
fn first_segment(header: u8) -> u32 {
    (u32::from(header) * 5 / 2).max(LEAST_SEGMENT)
}

/// The smallest automatic `cwnd_dsr` after a loss, if the timer allows it.
const LEAST_SEGMENTS: u32 = 100;

/// How `auto` chooses `cwnd_dsr`.
#[derive(Clone, Copy, Debug)]
struct Rule {
    /// The largest `cwnd_dsr` that the timer and the round trip allow.
    most: u32,
    /// The last window without a loss, bytes.
    window: u64,
    has_lost: bool,
}

impl Rule {
    /// To repair a window of n segments may take n round trips. The number of timeouts is at best
    /// proportional to 1/n. The sum of both costs is smallest if n is proportional to √(RTO / RTT).
    /// The limit is ten times this root.
    fn new(rto_min: Span, base_rtt: Span) -> Self {
        let timeouts = rto_min.as_picos().saturating_mul(100) / base_rtt.as_picos().max(1);
        let most = u32::try_from(timeouts.isqrt()).unwrap_or(u32::MAX).max(2);
        Self { most, window: 0, has_lost: false }
    }

    /// Returns the new `cwnd_dsr` at the first loss, and `None` otherwise. The new value is the
    /// number of segments of size `segment` in the last window without a loss, within limits.
    fn learn(&mut self, timed_out: bool, view: &SendView, segment: u32) -> Option<u32> {
        if self.has_lost {
            return None;
        }
        self.has_lost = timed_out || view.in_recovery;
        if self.has_lost {
            let segments = u32::try_from(self.window / u64::from(segment)).unwrap_or(u32::MAX);
            return Some(segments.max(LEAST_SEGMENTS).min(self.most));
        }
        self.window = view.cwnd.min(view.receive_window);
        None
    }
}

impl Remedy for Params {
    fn slots(&self) -> &'static [Slot] {
        &[Slot::Segments]
    }

    fn requires(&self) -> Vec<Requirement> {
        let segment = self.mss_dsr.quantity_or_else(|Auto| first_segment(FULL_HEADER));
        let bytes = u64::from(self.initial_window) * u64::from(segment);
        vec![Requirement::InitialWindow(bytes)]
    }

    /// Small segments are harmful if a small segment occupies as much buffer space as a large
    /// segment.
    fn accepts_buffer(&self, limit: Limit) -> Result<(), String> {
        match limit {
            Limit::Bytes(_) => Ok(()),
            Limit::Packets(_) => Err("small segments help where a buffer is counted in bytes; \
                                      write e.g. \"32KiB\""
                .to_owned()),
        }
    }

    fn install(&self, situation: &Situation) -> Box<dyn Installation> {
        Box::new(Resizing { params: self.clone(), base_rtt: situation.base_rtt })
    }
}

/// The remedy, installed in the senders of a client's servers.
struct Resizing {
    params: Params,
    base_rtt: Span,
}

impl Installation for Resizing {
    fn sender(&mut self, place: Place<'_>) -> Option<Box<dyn SenderHook>> {
        let rule = Rule::new(place.config.rto.min, self.base_rtt);
        Some(Box::new(Sender::new(&self.params, rule)))
    }
}

struct Sender {
    resize: When,
    begins: Begins,
    unit: Unit,
    /// `MSS_dsr` of a new block.
    first: u32,
    /// Payload of a new segment.
    segment: u32,
    /// The smallest header sent. `segment` depends on this header until segments grow.
    header: Option<u8>,
    cwnd_dsr: u32,
    rule: Option<Rule>,
}

impl Sender {
    fn new(params: &Params, rule: Rule) -> Self {
        let (segment, header) = match params.mss_dsr {
            OrAuto::Name(Auto) => (first_segment(FULL_HEADER), Some(FULL_HEADER)),
            OrAuto::Quantity(bytes) => (bytes, None),
        };
        let (cwnd_dsr, rule) = match params.cwnd_dsr {
            OrAuto::Name(Auto) => (rule.most, Some(rule)),
            OrAuto::Quantity(segments) => (segments, None),
        };
        let Params { resize, begins, unit, .. } = *params;
        Self { resize, begins, unit, first: segment, segment, header, cwnd_dsr, rule }
    }

    fn on_header(&mut self, header: u8) {
        if let Some(smallest) = self.header
            && header < smallest
        {
            self.header = Some(header);
            self.segment = first_segment(header);
            self.first = self.segment;
        }
    }

    fn on_window(&mut self, timed_out: bool, view: &SendView) {
        if let Some(rule) = &mut self.rule
            && let Some(cwnd_dsr) = rule.learn(timed_out, view, self.segment)
        {
            self.cwnd_dsr = cwnd_dsr;
        }
        if timed_out {
            return;
        }
        if self.begins == Begins::Block && view.una == view.written {
            // The block is complete. The next block does not use earlier losses.
            self.segment = self.first;
            return;
        }
        let size = self.resize.resized(self.cwnd_dsr, self.segment, view.cwnd, view.mss);
        if size != self.segment {
            self.segment = size;
            self.header = None;
        }
    }
}

impl SenderHook for Sender {
    fn on_event(&mut self, event: SendEvent<'_>, view: &SendView) -> Advice {
        match event {
            SendEvent::Sent(packet) => self.on_header(packet.header),
            SendEvent::Ack { .. } => self.on_window(false, view),
            SendEvent::Timeout => self.on_window(true, view),
        }
        Advice::NONE
    }

    fn shape(&self, view: &SendView, _: &TxPlan) -> Advice {
        let advice = Advice { segment_size: self.segment, ..Advice::NONE };
        match self.unit {
            Unit::Bytes => advice,
            Unit::Segments => {
                // A ceiling below `cwnd_dsr` segments would keep segments small for ever, because
                // cwnd may grow only while all of it is used.
                let full = view.receive_window.div_ceil(view.mss.into());
                let segments = full.max(self.cwnd_dsr.into());
                Advice {
                    counts_segments: true,
                    window_ceiling: segments * u64::from(self.segment),
                    ..advice
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use incast_engine::Time;

    use super::*;

    /// Sizes of segments from `first` on while the window grows by a byte at a time, up to `mss`.
    fn sizes(resize: When, cwnd_dsr: u32, first: u32, mss: u32) -> Vec<(u64, u32)> {
        let mut sizes = vec![(0, first)];
        for cwnd in 100..100_000 {
            let segment = sizes[sizes.len() - 1].1;
            let next = resize.resized(cwnd_dsr, segment, cwnd, mss);
            if next != segment {
                sizes.push((cwnd, next));
            }
        }
        sizes
    }

    #[test]
    fn the_segments_double_up_to_the_mss() {
        let expected =
            [(0, 50), (2_500, 100), (5_000, 200), (10_000, 400), (20_000, 800), (40_000, 1024)];
        assert_eq!(sizes(When::Reached, 50, 50, 1024), expected);
        let beyond = [(0, 50), (2_501, 100), (5_001, 200), (10_001, 300)];
        assert_eq!(sizes(When::Exceeded, 50, 50, 300), beyond);
    }

    #[test]
    fn a_window_far_beyond_the_threshold_skips_sizes() {
        let resized = |segment, cwnd| When::Reached.resized(50, segment, cwnd, 1460);
        assert_eq!(resized(50, 20_000), 800);
        assert_eq!(resized(50, u64::MAX / 4), 1460);
        assert_eq!(resized(1460, 1 << 40), 1460);
        assert_eq!(resized(50, 2_499), 50);
    }

    fn view(cwnd: u64, in_recovery: bool) -> SendView {
        SendView {
            now: Time::ZERO,
            una: 1000,
            next: 2000,
            max: 2000,
            written: 100_000,
            cwnd,
            ssthresh: 1 << 30,
            receive_window: 100_000,
            mss: 1000,
            in_recovery,
            dupacks: 0,
            srtt: None,
            rto: Span::from_millis(200),
            doublings: 0,
            head_sent_at: Time::ZERO,
            head_transmissions: 1,
        }
    }

    fn auto() -> Sender {
        let params = Params {
            mss_dsr: OrAuto::Name(Auto),
            cwnd_dsr: OrAuto::Name(Auto),
            ..Params::default()
        };
        Sender::new(&params, Rule::new(Span::from_millis(200), Span::from_micros(200)))
    }

    #[test]
    fn segments_are_small_again_once_all_that_was_written_is_acknowledged() {
        let sizes = |begins: Begins| {
            let rule = Rule::new(Span::from_millis(200), Span::from_micros(200));
            let mut sender = Sender::new(&Params { begins, ..Params::default() }, rule);
            let busy = view(20_000, false);
            let done = SendView { una: busy.written, ..busy };
            [busy, done, done, busy, busy].map(|view| {
                sender.on_window(false, &view);
                sender.segment
            })
        };
        assert_eq!(sizes(Begins::Connection), [800; 5]);
        assert_eq!(sizes(Begins::Block), [800, 50, 50, 800, 800]);
    }

    #[test]
    fn a_window_in_segments_has_the_receivers_number_of_the_present_size() {
        let ceiling = |unit: Unit, receive_window: u64| {
            let rule = Rule::new(Span::from_millis(200), Span::from_micros(200));
            let sender = Sender::new(&Params { unit, ..Params::default() }, rule);
            let plan = TxPlan { seq: 0, retransmission: false, requested: false };
            let view = SendView { receive_window, ..view(2000, false) };
            let advice = sender.shape(&view, &plan);
            (advice.segment_size, advice.counts_segments, advice.window_ceiling)
        };
        assert_eq!(ceiling(Unit::Segments, 99_500), (50, true, 5000), "rounded up to a segment");
        assert_eq!(ceiling(Unit::Segments, 3000), (50, true, 2500), "cwnd_dsr segments");
        assert_eq!(ceiling(Unit::Bytes, 99_500), (50, false, u64::MAX));
    }

    #[test]
    fn auto_begins_with_two_and_a_half_headers_and_follows_them_until_segments_grow() {
        let mut sender = auto();
        assert_eq!(sender.segment, 100);
        sender.on_header(40);
        assert_eq!(sender.segment, 100);
        sender.on_header(30);
        assert_eq!(sender.segment, 75);
        sender.on_header(4);
        sender.on_header(40);
        assert_eq!(sender.segment, 50, "at least 50 bytes, and never larger again");
        sender.on_window(false, &view(50 * 316, false));
        assert_eq!(sender.segment, 100);
        sender.on_header(3);
        assert_eq!(sender.segment, 100, "grown segments do not shrink");
    }

    #[test]
    fn auto_waits_for_ten_roots_of_the_round_trips_in_a_timer() {
        let most = |rto, rtt| Rule::new(Span::from_micros(rto), Span::from_micros(rtt)).most;
        assert_eq!(most(200_000, 200), 316);
        assert_eq!(most(200_000, 800), 158);
        assert_eq!(most(200, 200), 10);
        assert_eq!(most(0, 200), 2, "half of it must be at least a segment");
        assert!(most(200_000, 0) > 1_000_000);
        let mut sender = auto();
        sender.on_window(false, &view(31_599, false));
        assert_eq!(sender.segment, 100);
        sender.on_window(false, &view(31_600, false));
        assert_eq!(sender.segment, 200);
    }

    #[test]
    fn after_the_first_loss_auto_waits_for_the_window_that_was_too_large() {
        let after = |cwnd: u64, timed_out: bool| {
            let mut sender = auto();
            sender.on_window(false, &view(cwnd, false));
            sender.on_window(timed_out, &view(cwnd / 2, !timed_out));
            let learned = sender.cwnd_dsr;
            // A second loss has no effect.
            sender.on_window(false, &view(cwnd, false));
            sender.on_window(true, &view(cwnd / 8, false));
            assert_eq!(sender.cwnd_dsr, learned);
            learned
        };
        assert_eq!(after(20_000, false), 200);
        assert_eq!(after(20_000, true), 200);
        assert_eq!(after(2_000, false), 100, "not for less than a hundred segments");
        assert_eq!(after(31_599, false), 315);
        // The part of cwnd above the receive window was not used. Segments have grown to 632 bytes.
        assert_eq!(after(1 << 20, false), 100);
        let fine = Rule::new(Span::from_micros(200), Span::from_micros(200));
        let params = Params { cwnd_dsr: OrAuto::Name(Auto), ..Params::default() };
        let mut sender = Sender::new(&params, fine);
        sender.on_window(true, &view(1_000, false));
        assert_eq!(sender.cwnd_dsr, 10, "no more than the timer allows");
    }
}
