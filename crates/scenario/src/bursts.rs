//! Sources that are on and off by turns, as ns-2's exponential traffic.

use incast_engine::{Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ScenarioError;

/// Bursts and pauses of exponentially distributed lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Bursts {
    /// Rate within a burst, bits per second. No default.
    pub rate: Rate,
    /// Mean length of a burst, seconds.
    #[serde(default = "half_a_second")]
    pub burst: Span,
    /// Mean length of a pause, seconds.
    #[serde(default = "half_a_second")]
    pub idle: Span,
}

/// ns-2's default for both.
pub(super) fn half_a_second() -> Span {
    Span::from_millis(500)
}

impl Bursts {
    /// Refuses what never sends; `key` is the table's.
    pub(super) fn check(self, key: &str) -> Result<Self, ScenarioError> {
        if self.rate.0 == 0 {
            let message = "a burst needs a rate above 0, e.g. \"1Mbps\"";
            return Err(ScenarioError::new(format!("{key}.rate"), message));
        }
        if self.burst.is_zero() {
            let message = "0 is no time to send in; write e.g. \"500ms\"";
            return Err(ScenarioError::new(format!("{key}.burst"), message));
        }
        Ok(self)
    }
}
