//! A timer that expired more than once: behind the loss only one long wait is seen.
//!
//! The timer doubles each time (RFC 6298 §5.5), so a wait of three times the usual one is two
//! timeouts, one of seven times is three. All but the first are for a retransmission that was lost.
//! The timer may have been doubled before: six times the usual one is two timeouts as well.

use crate::stall::{Cause, Ended, Stall};

/// How far a wait may be from such a sum.
const NEAR: f64 = 0.1;
/// A timer doubles no more often.
const MOST: i32 = 8;
/// The usual timer is the shortest that so many waits of a hundred agree on.
const SHARE: usize = 5;

/// Splits the waits that are sums of doubled ones.
pub fn split(stalls: Vec<Stall>) -> Vec<Stall> {
    let hidden = |stall: &&Stall| {
        !stall.upstream && stall.ended == Ended::Timeout && stall.cause != Ok(Cause::Handshake)
    };
    let Some(usual) = usual(stalls.iter().filter(hidden).map(Stall::length).collect()) else {
        return stalls;
    };
    let mut parts = Vec::with_capacity(stalls.len());
    for stall in stalls {
        let most = if hidden(&&stall) { most_expiries(&stall) } else { 1 };
        let count = expiries(stall.length(), usual, most);
        let unit = stall.length() / ((1 << count) - 1);
        let mut start = stall.start;
        for part in 0..count {
            let end = if part + 1 == count { stall.end } else { start + (unit << part) };
            let cause = if part == 0 { stall.cause } else { Ok(Cause::LostRetransmission) };
            let known = count == 1 || stall.missing.is_some();
            let confidence = if known { stall.confidence } else { stall.confidence.min(0.7) };
            parts.push(Stall { start, end, cause, confidence, ..stall.clone() });
            start = end;
        }
    }
    parts
}

/// The usual timer: the shortest wait that is not alone.
fn usual(mut lengths: Vec<i64>) -> Option<i64> {
    lengths.sort_unstable();
    let enough = (lengths.len() * SHARE / 100).max(1);
    let agree = |&length: &i64| {
        let near = |other: &&i64| (**other - length) as f64 <= NEAR * length as f64;
        lengths.iter().skip_while(|other| **other < length).take_while(near).count() >= enough
    };
    lengths.iter().copied().find(agree)
}

/// How often a timer may have expired in a wait: each time but the last, a packet was lost.
fn most_expiries(stall: &Stall) -> i32 {
    let Some(missing) = stall.missing else { return MOST };
    let first = match stall.cause {
        Ok(Cause::LackOfDupacks | Cause::Tail) => 1,
        _ => 0,
    };
    (missing as i32 + first).clamp(1, MOST)
}

/// How often a timer that is `usual` at first has expired in a wait.
fn expiries(length: i64, usual: i64, most: i32) -> i32 {
    let units = length as f64 / usual.max(1) as f64;
    let sums = (1..=most).flat_map(|count| (0..MOST).map(move |doubled| (count, doubled)));
    let error = |(count, doubled): (i32, i32)| {
        let whole = f64::from(((1 << count) - 1) << doubled);
        (units - whole).abs() / whole
    };
    sums.map(|sum| (error(sum), sum.0))
        .filter(|(error, _)| *error < NEAR)
        .min_by(|one, other| one.0.total_cmp(&other.0))
        .map_or(1, |(_, count)| count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubled_waits_are_counted() {
        let lengths = [200, 390, 600, 640, 1000, 1200, 1400, 2800, 3000];
        assert_eq!(lengths.map(|length| expiries(length, 200, MOST)), [1, 1, 2, 2, 1, 2, 3, 3, 4]);
        assert_eq!(expiries(600, 200, 1), 1, "no packet was lost");
    }

    #[test]
    fn one_short_wait_of_many_is_not_the_timer() {
        let mut lengths = vec![3];
        lengths.extend(200..240);
        assert_eq!(usual(lengths), Some(200));
        assert_eq!(usual(vec![70]), Some(70));
        assert_eq!(usual(Vec::new()), None);
    }
}
