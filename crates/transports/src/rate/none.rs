//! No rate law.

use super::RateLaw;

/// Sends at the rate of the line.
#[derive(Default)]
pub struct None;

impl RateLaw for None {}
