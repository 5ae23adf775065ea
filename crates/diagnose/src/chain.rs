//! Timers that expired more than once. If the packets are lost before the vantage point, the
//! capture shows only one long wait.
//!
//! The timer doubles each time (RFC 6298 §5.5), so a wait of three times the usual timer is two
//! timeouts, and a wait of seven times is three timeouts. All timeouts except the first are for a
//! lost retransmission. The timer may have been doubled before, so a wait of six times the usual
//! timer (2 + 4) also counts as two timeouts.

use std::collections::BTreeMap;

use crate::stall::{Cause, Ended, Stall};
use crate::time::Span;

/// Largest relative difference between a wait and a sum of doubled timers.
const NEAR: f64 = 0.1;
/// Largest number of doublings of a timer.
const MOST: i32 = 8;
/// The usual timer is the shortest length that at least this percentage of the waits have.
const SHARE: usize = 5;
/// No common stack has a shorter timer by default (Linux: 200 ms), so shorter waits may be waits
/// for a probe or waits in a queue. A shorter timer is accepted only if at least `WAITS` waits and
/// `PROOF` percent of all waits agree.
const COMMON: Span = Span::from_millis(150);
const WAITS: usize = 4;
const PROOF: usize = 40;
/// Number of bins per power of two; waits in the same bin agree.
const BINS: f64 = 8.0;

/// Splits the waits that are sums of doubled timers.
pub fn split(stalls: Vec<Stall>) -> Vec<Stall> {
    let hidden = |stall: &&Stall| {
        !stall.upstream
            && stall.ended == Ended::Timeout
            && stall.cause.is_ok_and(|cause| cause != Cause::Handshake)
    };
    // The wait for a lost window counts from the last packet that was seen. The timer may have
    // started earlier, and then these waits are shorter than other waits for the same timer.
    let whole = |stall: &&Stall| hidden(stall) && stall.cause != Ok(Cause::FullWindow);
    let shows = |stall: &&Stall| hidden(stall) && stall.shows_a_timer();
    let usual = usual(stalls.iter().filter(shows))
        .max(usual(stalls.iter().filter(|stall| shows(stall) && whole(stall))));
    let Some(usual) = usual else { return stalls };
    let mut parts = Vec::with_capacity(stalls.len());
    for stall in stalls {
        let most = if hidden(&&stall) { most_expiries(&stall) } else { 1 };
        let count = expiries(stall.length(), usual, most);
        let unit = stall.length() / ((1 << count) - 1);
        let mut start = stall.start;
        for part in 0..count {
            let end = if part + 1 == count { stall.end } else { start + unit * (1 << part) };
            let cause = if part == 0 { stall.cause } else { Ok(Cause::LostRetransmission) };
            let known = count == 1 || stall.missing.is_some();
            let confidence = if known { stall.confidence } else { stall.confidence.min(0.7) };
            parts.push(Stall { start, end, cause, confidence, ..stall.clone() });
            start = end;
        }
    }
    parts
}

/// The usual timer of some stalls.
fn usual<'a>(stalls: impl Iterator<Item = &'a Stall>) -> Option<Span> {
    let mut timer = Timer::default();
    stalls.for_each(|stall| timer.take(stall.length()));
    timer.usual()
}

/// The timer that most waits have in common.
#[derive(Clone, Debug, Default)]
pub struct Timer {
    /// For each rounded length, the number of waits and the shortest of these.
    waits: BTreeMap<i32, (usize, Span)>,
    count: usize,
    usual: Option<Span>,
}

impl Timer {
    /// Adds a wait.
    pub fn take(&mut self, length: Span) {
        let bin = ((length.as_nanos().max(1) as f64).log2() * BINS).floor() as i32;
        let (count, least) = self.waits.entry(bin).or_insert((0, length));
        *count += 1;
        *least = (*least).min(length);
        self.count += 1;
        let enough = (self.count * SHARE).div_ceil(100);
        let certain = (self.count * PROOF).div_ceil(100).max(WAITS);
        let usual = |(count, least): &&(usize, Span)| {
            *count >= if *least < COMMON { certain.max(enough) } else { enough }
        };
        self.usual = self.waits.values().find(usual).map(|(_, least)| *least);
    }

    /// The shortest length that enough waits have in common.
    pub fn usual(&self) -> Option<Span> {
        self.usual
    }
}

/// Largest possible number of expiries of a timer in a wait. At each expiry except the last, the
/// packet that the timer sent was lost.
fn most_expiries(stall: &Stall) -> i32 {
    let Some(missing) = stall.missing else { return MOST };
    let first = match stall.cause {
        Ok(Cause::LackOfDupacks | Cause::Tail) => 1,
        _ => 0,
    };
    (missing as i32 + first).clamp(1, MOST)
}

/// Number of times, at most `most`, that a timer expired in a wait. The timer's first length is
/// `usual`, or `usual` after some doublings.
pub fn expiries(length: Span, usual: Span, most: i32) -> i32 {
    let units = length.share_of(usual);
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
    use crate::stall::tests::stall;
    use crate::time::tests::{MS, ns};

    #[test]
    fn doubled_waits_are_counted() {
        let lengths = [200, 390, 600, 640, 1000, 1200, 1400, 2800, 3000];
        assert_eq!(
            lengths.map(|length| expiries(ns(length), ns(200), MOST)),
            [1, 1, 2, 2, 1, 2, 3, 3, 4]
        );
        assert_eq!(expiries(ns(600), ns(200), 1), 1, "no packet was lost");
    }

    /// A wait of this length.
    fn wait(length: Span, cause: Cause) -> Stall {
        stall(0, length.as_nanos(), cause)
    }

    /// Waits of these lengths with the same cause. The packets were lost before the vantage point.
    fn waits(lengths: &[i64], cause: Cause) -> Vec<Stall> {
        lengths.iter().map(|&length| wait(length * MS, cause)).collect()
    }

    fn parts(stalls: Vec<Stall>) -> Vec<(i64, Result<Cause, &'static str>)> {
        split(stalls)
            .iter()
            .map(|stall| (stall.length().as_nanos() / MS.as_nanos(), stall.cause))
            .collect()
    }

    const LACK: Result<Cause, &str> = Ok(Cause::LackOfDupacks);
    const AGAIN: Result<Cause, &str> = Ok(Cause::LostRetransmission);

    #[test]
    fn a_wait_of_several_timers_is_split_and_all_but_the_first_were_lost_again() {
        let told = parts(waits(&[200, 200, 1400], Cause::LackOfDupacks));
        assert_eq!(told, [(200, LACK), (200, LACK), (200, LACK), (400, AGAIN), (800, AGAIN)]);
        let guessed = split(waits(&[200, 600], Cause::LackOfDupacks));
        assert_eq!(
            guessed.iter().map(|stall| stall.confidence).collect::<Vec<_>>(),
            [1.0, 0.7, 0.7]
        );
    }

    #[test]
    fn a_wait_has_no_more_timers_than_packets_were_lost() {
        let count = |missing, cause| {
            let long = Stall { missing: Some(missing), ..wait(1400 * MS, cause) };
            split(vec![wait(200 * MS, cause), long]).len() - 1
        };
        assert_eq!([0, 1, 2].map(|missing| count(missing, Cause::LackOfDupacks)), [1, 1, 3]);
        assert_eq!([1, 2, 3].map(|missing| count(missing, Cause::LostRetransmission)), [1, 1, 3]);
    }

    #[test]
    fn a_wait_is_whole_if_its_loss_was_seen_or_a_probe_or_a_syn_ended_it() {
        let whole =
            |long: Stall| split(vec![wait(200 * MS, Cause::LackOfDupacks), long]).len() == 2;
        let long = wait(600 * MS, Cause::LackOfDupacks);
        assert!(!whole(long.clone()));
        assert!(whole(Stall { upstream: true, ..long.clone() }));
        assert!(whole(Stall { ended: Ended::Probe, ..long }));
        assert!(whole(wait(600 * MS, Cause::Handshake)));
    }

    #[test]
    fn waits_for_lost_windows_may_be_shorter_than_the_timer() {
        let mut stalls = waits(&[150, 150], Cause::FullWindow);
        stalls.extend(waits(&[450, 450], Cause::LackOfDupacks));
        assert_eq!(split(stalls).len(), 4, "the longer ones are one timer each");
    }

    #[test]
    fn without_a_timer_nothing_is_split() {
        assert_eq!(split(waits(&[600], Cause::Handshake)).len(), 1);
    }

    #[test]
    fn one_short_wait_of_many_is_not_the_timer() {
        let mut timer = Timer::default();
        assert_eq!(timer.usual(), None);
        timer.take(3 * MS);
        assert_eq!(timer.usual(), None, "it needs proof");
        (200..240).for_each(|length| timer.take(length * MS));
        assert_eq!(timer.usual(), Some(200 * MS));
    }

    #[test]
    fn a_short_timer_needs_many_waits_that_agree() {
        let mut timer = Timer::default();
        (0..3).for_each(|_| timer.take(10 * MS));
        assert_eq!(timer.usual(), None);
        timer.take(10 * MS);
        assert_eq!(timer.usual(), Some(10 * MS));
        (0..7).for_each(|wait| timer.take(MS * (1 << wait)));
        assert_eq!(timer.usual(), None, "4 of 11");
    }

    #[test]
    fn a_length_counts_for_the_timer_by_a_twentieth_of_the_waits() {
        let usual = |short: usize, long: usize| {
            let mut timer = Timer::default();
            (0..short).for_each(|_| timer.take(160 * MS));
            (0..long).for_each(|_| timer.take(1000 * MS));
            timer.usual()
        };
        assert_eq!([usual(1, 19), usual(1, 20)], [Some(160 * MS), Some(1000 * MS)]);
        assert_eq!([usual(2, 38), usual(2, 39)], [Some(160 * MS), Some(1000 * MS)]);
    }

    #[test]
    fn a_timer_below_150_ms_is_proven_by_two_fifths_of_the_waits() {
        let usual = |length: Span, short: usize, long: usize| {
            let mut timer = Timer::default();
            (0..short).for_each(|_| timer.take(length));
            (0..long).for_each(|_| timer.take(1000 * MS));
            timer.usual()
        };
        let least = 150 * MS;
        assert_eq!(usual(least, 1, 9), Some(least));
        let short = least - ns(1);
        assert_eq!([usual(short, 4, 6), usual(short, 4, 7)], [Some(short), Some(1000 * MS)]);
        assert_eq!(usual(short, 3, 0), None);
    }

    #[test]
    fn waits_of_whole_windows_teach_the_timer_if_others_do_not() {
        let mut stalls = waits(&[200, 200], Cause::FullWindow);
        stalls.extend(waits(&[600], Cause::FullWindow));
        let told = parts(stalls);
        let window = Ok(Cause::FullWindow);
        assert_eq!(told, [(200, window), (200, window), (200, window), (400, AGAIN)]);
    }
}
