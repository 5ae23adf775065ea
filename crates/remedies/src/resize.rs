//! Dynamic segment resizing (Kulkarni & Agrawal, §4.3, algorithm 4).
//!
//! A connection begins with segments so small that even a short window of bytes is many segments,
//! and brings enough duplicate ACKs to repair a loss. Whenever the congestion window reaches
//! `cwnd_dsr` segments, the segments grow so that the same window in bytes is `cwnd_dsr / 2` of
//! them, until they have the size of the MSS: 50, 100, 200, 400, 800, MSS.
//!
//! The window is counted in bytes here, so that algorithm 4's change of cwnd changes nothing.

use incast_engine::{Limit, Window};
use incast_net::queue::Fault;
use incast_tcp::hooks::{Advice, SendEvent, SendView, SenderHook, TxPlan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::seam::{Installation, Place, Remedy, Situation, Slot};

/// Segments that begin small and grow with the window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// `MSS_dsr`, payload of the first segments, bytes. Default: 50.
    #[schemars(range(min = 1))]
    pub mss_dsr: u32,
    /// The congestion window, in segments of the size at hand, at which they grow. Default: 50.
    #[schemars(range(min = 2))]
    pub cwnd_dsr: u32,
    /// Whether the window must reach or exceed that.
    pub resize: When,
    /// Congestion window of a new connection, in the first, small segments. Default: 2.
    #[schemars(range(min = 1))]
    pub initial_window: u32,
}

/// When segments grow: the text and its algorithm differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// cwnd ≥ `cwnd_dsr`: algorithm 4.
    #[default]
    Reached,
    /// cwnd > `cwnd_dsr`: "grows beyond" in the text.
    Exceeded,
}

impl Default for Params {
    fn default() -> Self {
        Self { mss_dsr: 50, cwnd_dsr: 50, resize: When::default(), initial_window: 2 }
    }
}

impl Params {
    /// The size of segments, given the present one and the window, both in bytes.
    fn resized(&self, segment: u32, cwnd: u64, mss: u32) -> u32 {
        let threshold = u64::from(self.cwnd_dsr) * u64::from(segment);
        let due = match self.resize {
            When::Reached => cwnd >= threshold,
            When::Exceeded => cwnd > threshold,
        };
        if segment >= mss || !due {
            return segment;
        }
        let size = 2 * cwnd / u64::from(self.cwnd_dsr);
        u32::try_from(size).map_or(mss, |size| size.min(mss))
    }
}

impl Remedy for Params {
    fn slots(&self) -> &'static [Slot] {
        &[Slot::Segments]
    }

    fn sets(&self) -> Value {
        let bytes = u64::from(self.initial_window) * u64::from(self.mss_dsr);
        json!({ "transport": { "initial_window": Window::Bytes(bytes) } })
    }

    /// A small segment that takes as much room as a large one only does harm.
    fn accepts_buffer(&self, limit: Limit) -> Result<(), String> {
        match limit {
            Limit::Bytes(_) => Ok(()),
            Limit::Packets(_) => Err("small segments help where a buffer is counted in bytes; \
                                      write e.g. \"32KiB\""
                .to_owned()),
        }
    }

    fn check(&self) -> Result<(), Fault> {
        let faults = [
            ("mss_dsr", self.mss_dsr >= 1, "0 is no segment; write e.g. 50"),
            (
                "cwnd_dsr",
                self.cwnd_dsr >= 2,
                "half of it must be a window; write 2 or more, e.g. 50",
            ),
            ("initial_window", self.initial_window >= 1, "0 is no window; write e.g. 2"),
        ];
        match faults.into_iter().find(|(_, holds, _)| !holds) {
            Some((key, _, message)) => Err(Fault::new(key, message)),
            None => Ok(()),
        }
    }

    fn install(&self, _: &Situation) -> Box<dyn Installation> {
        Box::new(self.clone())
    }
}

impl Installation for Params {
    fn sender(&mut self, _: Place<'_>) -> Option<Box<dyn SenderHook>> {
        Some(Box::new(Sender { segment: self.mss_dsr, params: self.clone() }))
    }
}

struct Sender {
    params: Params,
    /// Payload of a new segment.
    segment: u32,
}

impl SenderHook for Sender {
    fn on_event(&mut self, event: SendEvent<'_>, view: &SendView) -> Advice {
        if matches!(event, SendEvent::Ack(_)) {
            self.segment = self.params.resized(self.segment, view.cwnd, view.mss);
        }
        Advice::NONE
    }

    fn shape(&self, _: &SendView, _: &TxPlan) -> Advice {
        Advice { segment_size: self.segment, ..Advice::NONE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes of segments while the window grows by a byte at a time, up to `mss`.
    fn sizes(params: &Params, mss: u32) -> Vec<(u64, u32)> {
        let mut sizes = vec![(0, params.mss_dsr)];
        for cwnd in 100..100_000 {
            let segment = sizes[sizes.len() - 1].1;
            let next = params.resized(segment, cwnd, mss);
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
        assert_eq!(sizes(&Params::default(), 1024), expected);
        let beyond = Params { resize: When::Exceeded, ..Params::default() };
        assert_eq!(sizes(&beyond, 300), [(0, 50), (2_501, 100), (5_001, 200), (10_001, 300)]);
    }

    #[test]
    fn a_window_far_beyond_the_threshold_skips_sizes() {
        let params = Params::default();
        assert_eq!(params.resized(50, 20_000, 1460), 800);
        assert_eq!(params.resized(50, u64::MAX / 4, 1460), 1460);
        assert_eq!(params.resized(1460, 1 << 40, 1460), 1460);
        assert_eq!(params.resized(50, 2_499, 1460), 50);
    }
}
