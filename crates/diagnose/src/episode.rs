//! Episodes of incast: flows that begin together, fill the link, and wait while it idles.

use incast_capture::read::Address;

use crate::burst::Burst;
use crate::load::Load;
use crate::stall::{Cause, Ended, Stall};

/// An episode.
#[derive(Clone, Debug)]
pub struct Episode {
    pub start: i64,
    pub end: i64,
    pub receiver: Address,
    pub fan_in: usize,
    /// How many hosts its waiting and other flows come from.
    pub hosts: usize,
    /// Whether a loss shows that an incomplete capture shows as well.
    pub proven: bool,
    pub bytes: i64,
    /// Time in which at least one flow waited and the link was idle.
    pub lost: i64,
    /// The numbers of its stalls.
    pub stalls: Vec<usize>,
}

/// A burst that stays below this share of the peak does not fill the link. Before a queue the peak
/// is that of all senders together, so the share is small.
const FULL: f64 = 0.1;
/// Fewer bytes overflow no queue: those of switches hold ten full packets and more.
const LEAST: i64 = 16_384;
/// Unless so many packets of one window were lost, as their identifications show.
const WINDOW: u32 = 4;

/// The episode that a burst is, if it is one.
pub fn of(
    burst: &Burst,
    stalls: &[Stall],
    receiver: Address,
    load: &Load,
    least: usize,
) -> Option<Episode> {
    let waits = |&&stall: &&usize| stalls.get(stall).is_some_and(is_for_a_loss);
    let idle: Vec<usize> = burst.idle.iter().filter(waits).copied().collect();
    let fills = burst.peak as f64 >= FULL * load.peak() as f64;
    let messages = burst.members.iter().filter_map(|member| member.message);
    let bytes: i64 = messages.clone().map(|message| message.bytes).sum();
    let whole = |&at: &usize| stalls[at].missing.is_some_and(|missing| missing >= WINDOW);
    let overflows = bytes >= LEAST || idle.iter().any(whole);
    if burst.members.len() < least || idle.is_empty() || !fills || !overflows {
        return None;
    }
    let end = messages.map(|message| message.last).max().unwrap_or(burst.start);
    let spans = idle.iter().map(|&stall| (stalls[stall].start, stalls[stall].end)).collect();
    Some(Episode {
        start: burst.start,
        end,
        receiver,
        fan_in: burst.members.len(),
        hosts: burst.hosts(),
        proven: idle.iter().any(|&at| stalls[at].proven),
        bytes,
        lost: union(spans),
        stalls: burst.stalls.clone(),
    })
}

/// Whether data was lost. A probe may also be sent because an ACK is held. Where the cause cannot be
/// told, a hole that was filled or a repeat still shows the loss; else it is no evidence.
fn is_for_a_loss(stall: &Stall) -> bool {
    match stall.cause {
        Ok(cause) => !matches!(cause, Cause::Spurious | Cause::AckLoss),
        Err(_) => stall.proven && stall.ended == Ended::Timeout,
    }
}

/// The length of the union of spans.
fn union(mut spans: Vec<(i64, i64)>) -> i64 {
    spans.sort_unstable();
    let mut total = 0;
    let mut covered = i64::MIN;
    for (start, end) in spans {
        total += (end - start.max(covered)).max(0);
        covered = covered.max(end);
    }
    total
}

#[cfg(test)]
mod tests {
    use super::union;

    #[test]
    fn spans_that_overlap_count_once() {
        assert_eq!(union(vec![(10, 20), (0, 5), (15, 30), (16, 17)]), 25);
    }
}
