//! A timer that expired more than once: behind the loss only one long wait is seen.
//!
//! The timer doubles each time (RFC 6298 §5.5), so a wait of three times the usual one is two
//! timeouts, one of seven times is three. All but the first are for a retransmission that was lost.

use crate::stall::{Cause, Ended, Stall};

const NEAR: f64 = 0.25;
const MOST: i32 = 10;

/// Splits the waits that are sums of doubled ones.
pub fn split(stalls: Vec<Stall>) -> Vec<Stall> {
    let hidden = |stall: &&Stall| {
        !stall.upstream && stall.ended == Ended::Timeout && stall.cause != Ok(Cause::Handshake)
    };
    let Some(least) = stalls.iter().filter(hidden).map(Stall::length).min() else { return stalls };
    let mut parts = Vec::with_capacity(stalls.len());
    for stall in stalls {
        let count = if hidden(&&stall) { expiries(stall.length(), least) } else { 1 };
        let unit = stall.length() / ((1 << count) - 1);
        let mut start = stall.start;
        for part in 0..count {
            let end = if part + 1 == count { stall.end } else { start + (unit << part) };
            let cause = if part == 0 { stall.cause } else { Ok(Cause::LostRetransmission) };
            let confidence = if count == 1 { stall.confidence } else { stall.confidence.min(0.7) };
            parts.push(Stall { start, end, cause, confidence, ..stall.clone() });
            start = end;
        }
    }
    parts
}

/// How often a timer of `least` has expired in a wait.
fn expiries(length: i64, least: i64) -> i32 {
    let units = length as f64 / least.max(1) as f64;
    let count = ((units + 1.0).log2().round() as i32).clamp(1, MOST);
    let whole = f64::from((1 << count) - 1);
    if (units - whole).abs() < NEAR * whole { count } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::expiries;

    #[test]
    fn doubled_waits_are_counted() {
        let counts = [200, 390, 600, 640, 1000, 1400, 3100].map(|length| expiries(length, 200));
        assert_eq!(counts, [1, 1, 2, 2, 1, 3, 4]);
    }
}
