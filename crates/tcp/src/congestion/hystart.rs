//! Detectors that end slow start before a loss: `HyStart++` (RFC 9406) and the hybrid slow start of
//! Linux's CUBIC. Every congestion control with slow start can use these detectors.

use std::fmt;

use incast_engine::{Fault, Span, Time};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::view::FRACTION;
use super::{AckSample, PathView};

/// Detector that ends slow start before the first loss.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Params(Config);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case")]
#[schemars(rename = "Hystart")]
enum Config {
    /// Only a loss ends slow start.
    Off(Off),
    /// Growth of the round trip ends slow start after a conservative phase (RFC 9406, `HyStart++`).
    Rfc9406(PlusPlus),
    /// Slow start ends when the round trip grows, or with a train of ACKs that lasts half a round
    /// trip (Ha and Rhee 2011, as in Linux's CUBIC).
    Linux(Hybrid),
}

const NAMES: [&str; 3] = ["off", "rfc9406", "linux"];

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Off {}

/// Parameters of RFC 9406 §4.3.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct PlusPlus {
    /// Lower bound of the threshold for growth of the round trip, seconds (`MIN_RTT_THRESH`: 4 ms).
    min_thresh: Span,
    /// Upper bound of the threshold for growth of the round trip, seconds (`MAX_RTT_THRESH`: 16
    /// ms).
    max_thresh: Span,
    /// Divisor, at least 1: the threshold is the last round's smallest round trip divided by this
    /// number (`MIN_RTT_DIVISOR`: 8).
    #[schemars(range(min = 1))]
    divisor: u32,
    /// Round-trip samples that a round needs, at least 1 (`N_RTT_SAMPLE`: 8).
    #[schemars(range(min = 1))]
    samples: u32,
    /// Divisor of growth in the conservative phase, at least 1 (`CSS_GROWTH_DIVISOR`: 4).
    #[schemars(range(min = 1))]
    css_divisor: u32,
    /// Length of the conservative phase, rounds, at least 1 (`CSS_ROUNDS`: 5).
    #[schemars(range(min = 1))]
    css_rounds: u32,
    /// L: maximum growth per ACK, segments, at least 1 (RFC 9406 §4.3 without pacing: 8).
    #[schemars(range(min = 1))]
    limit: u32,
}

impl Default for PlusPlus {
    fn default() -> Self {
        Self {
            min_thresh: Span::from_millis(4),
            max_thresh: Span::from_millis(16),
            divisor: 8,
            samples: 8,
            css_divisor: 4,
            css_rounds: 5,
            limit: 8,
        }
    }
}

/// The `hystart_*` parameters of Linux's `tcp_cubic`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Hybrid {
    /// Lower bound of the threshold for growth of the round trip, seconds (Linux: 4 ms).
    min_thresh: Span,
    /// Upper bound of the threshold for growth of the round trip, seconds (Linux: 16 ms).
    max_thresh: Span,
    /// Divisor, at least 1: the threshold is the smallest round trip divided by this number (Linux:
    /// 8).
    #[schemars(range(min = 1))]
    divisor: u32,
    /// Round-trip samples that a round needs, at least 1 (Linux: 8).
    #[schemars(range(min = 1))]
    samples: u32,
    /// Windows of fewer segments than this number stay in slow start (`hystart_low_window`: 16).
    low_window: u32,
    /// Largest gap between the ACKs of a train, seconds (`hystart_ack_delta_us`: 2 ms).
    ack_spacing: Span,
    /// Divisor, at least 1 (Linux: 2; ns-3.37: 1). A train of ACKs ends slow start when it has
    /// lasted longer than the smallest round trip plus the extra time, divided by this number.
    #[schemars(range(min = 1))]
    train_divisor: u32,
    /// Upper bound of the extra time, seconds (Linux: 1 ms, of which `train_divisor` leaves 0.5
    /// ms). The extra time is the time that four offloaded bursts of 64 KiB take at Linux's pacing
    /// rate for the window.
    offload_allowance: Span,
}

impl Default for Hybrid {
    fn default() -> Self {
        Self {
            min_thresh: Span::from_millis(4),
            max_thresh: Span::from_millis(16),
            divisor: 8,
            samples: 8,
            low_window: 16,
            ack_spacing: Span::from_millis(2),
            train_divisor: 2,
            offload_allowance: Span::from_millis(1),
        }
    }
}

impl Params {
    /// Only a loss ends slow start.
    pub const OFF: Self = Self(Config::Off(Off {}));

    /// RFC 9406 with its constants.
    pub fn rfc9406() -> Self {
        Self(Config::Rfc9406(PlusPlus::default()))
    }

    /// Finds the first invalid parameter.
    pub fn check(&self) -> Result<(), Fault> {
        let (min, max) = match &self.0 {
            Config::Off(_) => return Ok(()),
            Config::Rfc9406(it) => (it.min_thresh, it.max_thresh),
            Config::Linux(it) => (it.min_thresh, it.max_thresh),
        };
        if min > max {
            let message = format!("{min} exceeds max_thresh ({max}); write less");
            return Err(Fault::new("hystart.min_thresh", message));
        }
        Ok(())
    }

    pub fn build(&self) -> Option<Box<Hystart>> {
        match &self.0 {
            Config::Off(_) => None,
            Config::Rfc9406(params) => Some(Hystart::PlusPlus(Careful::new(params.clone()))),
            Config::Linux(params) => Some(Hystart::Hybrid(Train::new(params.clone()))),
        }
        .map(Box::new)
    }
}

impl Default for Params {
    fn default() -> Self {
        Self::OFF
    }
}

/// A name, or a table with its parameters.
impl<'de> Deserialize<'de> for Params {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameOrTable;
        impl<'de> Visitor<'de> for NameOrTable {
            type Value = Params;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("off, rfc9406 or linux, or a table such as { name = \"rfc9406\" }")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Params, E> {
                match name {
                    "off" => Ok(Params::OFF),
                    "rfc9406" => Ok(Params::rfc9406()),
                    "linux" => Ok(Params(Config::Linux(Hybrid::default()))),
                    _ => Err(E::unknown_variant(name, &NAMES)),
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Params, A::Error> {
                Config::deserialize(MapAccessDeserializer::new(table)).map(Params)
            }
        }
        deserializer.deserialize_any(NameOrTable)
    }
}

impl JsonSchema for Params {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "HystartParams".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let table = generator.subschema_for::<Config>();
        json_schema!({ "anyOf": [{ "enum": NAMES }, table] })
    }
}

/// The effect of an ACK in slow start.
pub struct Step {
    /// Growth of the window, 2^-16 bytes.
    pub growth: u64,
    /// Whether slow start ends: ssthresh is then set to the window.
    pub is_over: bool,
}

/// A running detector of the end of slow start.
#[derive(Clone, Debug)]
pub enum Hystart {
    PlusPlus(Careful),
    Hybrid(Train),
}

impl Hystart {
    /// Handles an ACK in slow start; `window` (cwnd) and `ssthresh` are in bytes.
    pub fn on_ack(&mut self, ack: &AckSample, path: &PathView, window: u64, ssthresh: u64) -> Step {
        match self {
            Self::PlusPlus(it) => it.on_ack(ack, path),
            Self::Hybrid(it) => it.on_ack(ack, path, window, ssthresh),
        }
    }

    /// Whether the detector also applies to the slow start after a timeout. RFC 9406 §4.2 advises
    /// against this.
    pub fn on_congestion(&mut self) -> bool {
        match self {
            Self::PlusPlus(_) => false,
            Self::Hybrid(it) => {
                *it = Train::new(it.params.clone());
                true
            }
        }
    }

    /// Whether the detector also handles ACKs that do not grow the window (Linux calls
    /// `cubictcp_acked()` for every ACK).
    pub fn sees_every_ack(&self) -> bool {
        matches!(self, Self::Hybrid(_))
    }

    /// Whether the conservative phase is on.
    pub fn is_conservative(&self) -> bool {
        matches!(self, Self::PlusPlus(it) if it.baseline.is_some())
    }
}

/// The minimum growth over `base` that ends slow start.
fn threshold(base: Span, divisor: u32, min: Span, max: Span) -> Span {
    (base / u64::from(divisor)).clamp(min, max)
}

/// The smallest round trip of a round.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    /// The round ends with the first ACK above this number.
    end: u64,
    smallest: Option<Span>,
    samples: u32,
}

impl Round {
    fn sample(&mut self, rtt: Option<Span>) {
        if let Some(rtt) = rtt {
            self.smallest = Some(self.smallest.map_or(rtt, |smallest| smallest.min(rtt)));
            self.samples += 1;
        }
    }
}

/// `HyStart++`.
#[derive(Clone, Debug)]
pub struct Careful {
    params: PlusPlus,
    round: Round,
    has_begun: bool,
    /// The smallest round trip of the previous round.
    last: Option<Span>,
    /// The round trip at the start of the conservative phase, while it is on.
    baseline: Option<Span>,
    css_rounds: u32,
}

impl Careful {
    fn new(params: PlusPlus) -> Self {
        Self {
            params,
            round: Round::default(),
            has_begun: false,
            last: None,
            baseline: None,
            css_rounds: 0,
        }
    }

    /// RFC 9406 §4.2.
    fn on_ack(&mut self, ack: &AckSample, path: &PathView) -> Step {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.round.end = path.max;
        }
        if path.una > self.round.end && self.end_round(path) {
            return Step { growth: 0, is_over: true };
        }
        let most = u64::from(self.params.limit) * path.segment;
        let mut growth = ack.acked.min(most) << FRACTION;
        if self.baseline.is_some() {
            growth /= u64::from(self.params.css_divisor);
        }
        self.round.sample(ack.rtt);
        if self.round.samples >= self.params.samples
            && let Some(smallest) = self.round.smallest
        {
            self.judge(smallest);
        }
        Step { growth, is_over: false }
    }

    fn judge(&mut self, smallest: Span) {
        let PlusPlus { min_thresh, max_thresh, divisor, .. } = self.params;
        match (self.baseline, self.last) {
            (Some(baseline), _) if smallest < baseline => self.baseline = None,
            (None, Some(last))
                if smallest >= last + threshold(last, divisor, min_thresh, max_thresh) =>
            {
                self.baseline = Some(smallest);
                self.css_rounds = 0;
            }
            _ => {}
        }
    }

    /// Ends the round. Returns whether this was the last round of the conservative phase. The
    /// incomplete round in which the phase began counts as a round.
    fn end_round(&mut self, path: &PathView) -> bool {
        self.last = self.round.smallest;
        self.round = Round { end: path.max, ..Round::default() };
        self.css_rounds += u32::from(self.baseline.is_some());
        self.baseline.is_some() && self.css_rounds >= self.params.css_rounds
    }
}

/// Four bursts of the largest size of segmentation offload.
const OFFLOADED: u64 = 4 << 16;

/// Hybrid slow start.
#[derive(Clone, Debug)]
pub struct Train {
    params: Hybrid,
    round: Round,
    began: Time,
    /// The last ACK of the train.
    last_ack: Time,
    /// The smallest round trip since the last timeout.
    smallest: Option<Span>,
}

impl Train {
    fn new(params: Hybrid) -> Self {
        let round = Round::default();
        Self { params, round, began: Time::ZERO, last_ack: Time::ZERO, smallest: None }
    }

    fn on_ack(&mut self, ack: &AckSample, path: &PathView, window: u64, ssthresh: u64) -> Step {
        if let Some(rtt) = ack.rtt {
            self.smallest = Some(self.smallest.map_or(rtt, |smallest| smallest.min(rtt)));
            let low = u64::from(self.params.low_window) * path.segment;
            if window >= low && self.finds_the_end(rtt, path, window, ssthresh) {
                return Step { growth: 0, is_over: true };
            }
        }
        // In Linux, the window grows by the acknowledged segments, up to ssthresh.
        let growth = ack.acked.min(ssthresh.saturating_sub(window).max(path.segment));
        Step { growth: growth << FRACTION, is_over: false }
    }

    fn finds_the_end(&mut self, rtt: Span, path: &PathView, window: u64, ssthresh: u64) -> bool {
        let Hybrid { min_thresh, max_thresh, divisor, samples, ack_spacing, .. } = self.params;
        if path.una > self.round.end {
            self.round = Round { end: path.max, ..Round::default() };
            self.began = path.now;
            self.last_ack = path.now;
        }
        let smallest = self.smallest.unwrap_or(rtt);
        if path.now.saturating_since(self.last_ack) <= ack_spacing {
            self.last_ack = path.now;
            let longest = (smallest + self.allowance(path, window, ssthresh))
                / u64::from(self.params.train_divisor);
            if path.now.saturating_since(self.began) > longest {
                return true;
            }
        }
        // The first samples are only counted, and later samples are compared.
        let is_known = self.round.samples >= samples;
        self.round.sample(Some(rtt));
        let least = smallest + threshold(smallest, divisor, min_thresh, max_thresh);
        is_known && self.round.smallest.is_some_and(|round| round > least)
    }

    /// The time of offloaded bursts at Linux's pacing rate for the window.
    fn allowance(&self, path: &PathView, window: u64, ssthresh: u64) -> Span {
        let Some(srtt) = path.srtt else { return Span::ZERO };
        let bursts = srtt.as_picos().saturating_mul(OFFLOADED) / window.max(1);
        let doubled = window < ssthresh / 2;
        let span = if doubled { bursts / 2 } else { bursts / 12 * 10 };
        Span::from_picos(span).min(self.params.offload_allowance)
    }
}

#[cfg(test)]
#[path = "hystart_tests.rs"]
mod tests;
