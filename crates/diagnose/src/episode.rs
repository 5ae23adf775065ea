//! Episodes of incast: flows begin together, fill the link, and wait while the link is idle.

use incast_capture::read::Address;

use crate::burst::Burst;
use crate::load::Load;
use crate::stall::{Cause, Ended, Stall};
use crate::time::{Span, Time};

/// An episode.
#[derive(Clone, Debug)]
pub struct Episode {
    pub start: Time,
    pub end: Time,
    pub receiver: Address,
    pub fan_in: usize,
    /// Number of hosts that send flows of the episode, including hosts that did not wait.
    pub hosts: usize,
    /// Whether a retransmission or a filled hole shows a loss, even in an incomplete capture.
    pub proven: bool,
    pub bytes: i64,
    /// Time in which at least one flow waited and the link was idle.
    pub lost: Span,
    /// The numbers of the episode's stalls.
    pub stalls: Vec<usize>,
}

/// A burst that stays below this share of the peak does not fill the link. If the capture is taken
/// before the queue, the peak is the sum over all senders, so this share is small.
const FULL: f64 = 0.1;
/// A burst of fewer bytes overflows no queue, because the queues of switches hold ten full packets
/// or more.
const LEAST: i64 = 16_384;
/// A smaller burst still counts if at least this number of packets of one window were lost,
/// according to IP identifications.
const WINDOW: u32 = 4;

/// The episode of a burst, if the burst is an episode.
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

/// Whether data were lost. A sender may also send a probe because the receiver delays an ACK. If
/// the cause is unknown, a filled hole or a retransmission still shows the loss; otherwise, there
/// is no evidence.
fn is_for_a_loss(stall: &Stall) -> bool {
    match stall.cause {
        Ok(cause) => !matches!(cause, Cause::Spurious | Cause::AckLoss),
        Err(_) => stall.proven && stall.ended == Ended::Timeout,
    }
}

/// The length of the union of these spans.
fn union(mut spans: Vec<(Time, Time)>) -> Span {
    spans.sort_unstable();
    let mut total = Span::ZERO;
    let mut covered = Time::EVER;
    for (start, end) in spans {
        total += (end - start.max(covered)).max(Span::ZERO);
        covered = covered.max(end);
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::burst::Member;
    use crate::event::Message;
    use crate::stall::tests::stall;
    use crate::time::tests::{at, ns};

    /// A burst of flows with `bytes` bytes each, which fills a tenth of the link, and in which one
    /// flow waits.
    fn burst(flows: u64, bytes: i64) -> Burst {
        let message = |end| Some(Message { bytes, last: at(end), ..Message::default() });
        let member = |flow: u64| Member { key: (flow, 0), message: message(300 + flow as i64) };
        let mut burst = Burst::default();
        burst.start = at(5);
        burst.members = (0..flows).map(member).collect();
        burst.peak = 1000;
        burst.stalls = vec![0];
        burst.idle = vec![0];
        burst
    }

    fn found(burst: &Burst, stall: Stall) -> Option<Episode> {
        let mut load = Load::default();
        load.take(at(0), 10_000);
        of(burst, &[stall], Address::default(), &load, 3)
    }

    fn lost() -> Stall {
        stall(100, 250, Cause::FullWindow)
    }

    #[test]
    fn flows_that_fill_the_link_and_wait_while_it_idles_are_an_episode() {
        let episode = found(&burst(4, 5000), lost()).expect("an episode");
        assert_eq!((episode.start, episode.end, episode.lost), (at(5), at(303), ns(150)));
        assert_eq!((episode.fan_in, episode.bytes, episode.proven), (4, 20_000, true));
        assert_eq!(episode.stalls, [0]);
    }

    #[test]
    fn a_burst_that_does_not_fill_the_link_is_none() {
        let mut thin = burst(4, 5000);
        thin.peak = 999;
        assert!(found(&thin, lost()).is_none());
    }

    #[test]
    fn fewer_flows_than_asked_for_are_none() {
        assert!(found(&burst(3, 6000), lost()).is_some());
        assert!(found(&burst(2, 9000), lost()).is_none());
    }

    #[test]
    fn a_wait_on_a_link_that_does_not_idle_is_none() {
        let mut busy = burst(4, 5000);
        busy.idle.clear();
        assert!(found(&busy, lost()).is_none());
    }

    #[test]
    fn few_bytes_overflow_no_queue_unless_a_window_is_known_to_be_lost() {
        assert!(found(&burst(4, 4096), lost()).is_some());
        let few = burst(4, 4095);
        assert!(found(&few, lost()).is_none());
        let missing = |count| found(&few, Stall { missing: Some(count), ..lost() }).is_some();
        assert!(missing(4) && !missing(3));
    }

    #[test]
    fn a_wait_without_a_loss_is_none() {
        let of = |stall| found(&burst(4, 5000), stall).is_some();
        assert!(!of(stall(100, 250, Cause::Spurious)) && !of(stall(100, 250, Cause::AckLoss)));
        for cause in [Cause::Handshake, Cause::LostRetransmission, Cause::Tail] {
            assert!(of(stall(100, 250, cause)), "{}", cause.name());
        }
    }

    #[test]
    fn a_wait_whose_cause_is_unknown_counts_if_a_timer_has_sent_what_was_lost() {
        let of = |stall| found(&burst(4, 5000), stall).is_some();
        let unknown = Stall { cause: Err("unknown"), ..lost() };
        assert!(of(unknown.clone()));
        assert!(!of(Stall { proven: false, ..unknown.clone() }));
        assert!(!of(Stall { ended: Ended::Probe, ..unknown }));
    }

    #[test]
    fn a_lost_window_that_nobody_has_seen_proves_nothing() {
        let unseen = Stall { proven: false, ..lost() };
        assert!(!found(&burst(4, 5000), unseen).expect("an episode").proven);
    }

    #[test]
    fn spans_that_overlap_count_once() {
        let spans = [(10, 20), (0, 5), (15, 30), (16, 17)];
        assert_eq!(union(spans.map(|(start, end)| (at(start), at(end))).into()), ns(25));
    }
}
