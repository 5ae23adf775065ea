//! TCP-EFR: fast retransmissions for losses at the tail (Sreekumari, Jung & Lee 2016).
//!
//! TCP-EFR's rules for duplicate ACKs are a recovery (`incast_tcp::recovery::efr`). Its window and
//! its switch are DCTCP's. This file combines the recovery, the window and the switch.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use incast_engine::Limit;
use incast_net::queue::{Level, QueueConfig, ecn_threshold};
use incast_tcp::congestion::ReactAt;
use incast_tcp::hooks::{Advice, SendEvent, SendView, SenderHook};
use incast_tcp::recovery::efr::{self, Inflation, Marks, Outstanding};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::requirement::{Ability, QueueRequirement, Requirement};
use crate::seam::{Installation, Measure, Outcome, Place, Remedy, Situation, Slot};

/// Fast retransmissions for tail losses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "EfrRemedy")]
pub struct Params {
    /// Data that count as outstanding when a duplicate ACK arrives. With up to three outstanding
    /// segments, one marked duplicate begins recovery.
    pub outstanding: Outstanding,
    /// Which duplicate ACK's mark counts.
    pub marks: Marks,
    /// How much an early retransmission inflates the window.
    pub inflation: Inflation,
    /// Whether the third duplicate ACK reduces the window again after a marked first duplicate has
    /// reduced it.
    pub reduce_twice: bool,
    /// DCTCP's α before the first ACK, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub alpha: f64,
    /// DCTCP's weight of a new observation in α, above 0 and at most 1.
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
    pub g: f64,
    /// When a marked ACK that is not a duplicate reduces the window.
    pub react_at: ReactAt,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            outstanding: Outstanding::default(),
            marks: Marks::default(),
            inflation: Inflation::default(),
            reduce_twice: false,
            alpha: 1.0,
            g: 1.0 / 16.0,
            react_at: ReactAt::default(),
        }
    }
}

impl Remedy for Params {
    fn slots(&self) -> &'static [Slot] {
        &[Slot::CongestionControl, Slot::LossRecovery, Slot::Queue]
    }

    fn requires(&self) -> Vec<Requirement> {
        let Self { outstanding, marks, inflation, reduce_twice, alpha, g, react_at } = *self;
        let recovery = efr::Params { outstanding, marks, inflation, reduce_twice };
        vec![
            Requirement::Efr(recovery),
            Requirement::Dctcp { alpha, g, react_at },
            Requirement::NoDelayedAck,
        ]
    }

    /// §5.2: 20 packets.
    fn queue(&self) -> Option<QueueRequirement> {
        let threshold = Level::Limit(Limit::Packets(20));
        let params = ecn_threshold::Params { threshold, ..Default::default() };
        let default = QueueConfig::EcnThreshold(params);
        Some(QueueRequirement { default, ability: Ability::Mark })
    }

    fn measures(&self) -> &'static [Measure] {
        const ACCURACY: &[Measure] = &[
            Measure {
                name: "efr.tail_repairs",
                unit: "1",
                description: "Losses repaired without a timeout although the outstanding data \
                              could not cause three duplicate ACKs.",
            },
            Measure {
                name: "efr.accuracy",
                unit: "%",
                description: "Ratio of `efr.tail_repairs` to the sum of `efr.tail_repairs` and \
                              `timeouts_lack_of_dupacks` (equation 3).",
            },
        ];
        ACCURACY
    }

    fn install(&self, _: &Situation) -> Box<dyn Installation> {
        Box::new(Efr::default())
    }
}

#[derive(Default)]
struct Efr {
    tail_repairs: Arc<AtomicU64>,
}

impl Installation for Efr {
    fn measure(&self, outcome: &Outcome) -> Vec<Option<f64>> {
        let repairs = self.tail_repairs.load(Relaxed);
        let all = repairs + outcome.timeouts_lack_of_dupacks;
        vec![Some(repairs as f64), (all > 0).then(|| 100.0 * repairs as f64 / all as f64)]
    }

    fn sender(&mut self, _: Place<'_>) -> Option<Box<dyn SenderHook>> {
        let tail_repairs = Arc::clone(&self.tail_repairs);
        Some(Box::new(Observer { tail_repairs, few: false, repairs: false }))
    }
}

/// Counts tail repairs. Gives no advice.
struct Observer {
    tail_repairs: Arc<AtomicU64>,
    /// Whether at most three segments were outstanding when the first duplicate ACK arrived.
    few: bool,
    /// Whether recovery repairs a loss for which at most three segments were outstanding.
    repairs: bool,
}

impl SenderHook for Observer {
    fn on_event(&mut self, event: SendEvent<'_>, view: &SendView) -> Advice {
        match event {
            SendEvent::Timeout => self.repairs = false,
            SendEvent::Ack { .. } if view.in_recovery => {
                if view.dupacks == 1 {
                    self.few = is_few(view);
                }
                self.repairs |= self.few;
            }
            SendEvent::Ack { .. } => {
                if std::mem::take(&mut self.repairs) {
                    self.tail_repairs.fetch_add(1, Relaxed);
                }
                match view.dupacks {
                    0 => self.few = false,
                    1 => self.few = is_few(view),
                    _ => {}
                }
            }
            SendEvent::Sent(_) => {}
        }
        Advice::NONE
    }
}

/// Whether at most three segments are outstanding. If one of these segments is lost, three
/// duplicate ACKs cannot arrive.
fn is_few(view: &SendView) -> bool {
    (view.max - view.una).div_ceil(u64::from(view.mss)) <= 3
}

#[cfg(test)]
mod tests {
    use incast_engine::{Span, Time};
    use incast_net::Packet;

    use super::*;

    /// A sender with this many outstanding segments, the last of which is short.
    fn view(outstanding: u64, dupacks: u32, in_recovery: bool) -> SendView {
        SendView {
            now: Time::ZERO,
            una: 1001,
            next: 1 + 1000 * outstanding + 10,
            max: 1 + 1000 * outstanding + 10,
            written: 1 << 20,
            cwnd: 1 << 20,
            ssthresh: 1 << 20,
            receive_window: 1 << 20,
            mss: 1000,
            in_recovery,
            dupacks,
            head_transmissions: 1,
            head_sent_at: Time::ZERO,
            srtt: None,
            rto: Span::ZERO,
            doublings: 0,
        }
    }

    /// The number of tail repairs counted during `events`. An event is the state after an ACK: the
    /// number of outstanding segments, the number of duplicate ACKs, and whether the sender is in
    /// recovery. `None` is a timeout.
    fn counted(events: &[Option<(u64, u32, bool)>]) -> u64 {
        let tail_repairs = Arc::<AtomicU64>::default();
        let count = Arc::clone(&tail_repairs);
        let mut observer = Observer { tail_repairs, few: false, repairs: false };
        let ack = Packet::default();
        for event in events {
            let advice = match *event {
                Some((outstanding, dupacks, in_recovery)) => {
                    let view = view(outstanding, dupacks, in_recovery);
                    observer.on_event(SendEvent::Ack { packet: &ack, may_send: false }, &view)
                }
                None => observer.on_event(SendEvent::Timeout, &view(1, 0, false)),
            };
            assert_eq!(advice, Advice::NONE);
        }
        count.load(Relaxed)
    }

    #[test]
    fn the_repair_of_a_tail_counts_when_it_is_over() {
        let over = Some((1, 0, false));
        for outstanding in 1..=5 {
            let few = u64::from(outstanding <= 3);
            // Recovery begins at the first duplicate ACK (`at_once`) or at a later one (`later`).
            let at_once = [Some((outstanding, 1, true)), Some((outstanding, 0, true)), over, over];
            assert_eq!(counted(&at_once), few, "{outstanding}");
            assert_eq!(counted(&at_once[..2]), 0, "the repair is not over");
            let later = [Some((outstanding, 1, false)), Some((5, 2, true)), over];
            assert_eq!(counted(&later), few, "{outstanding}");
        }
    }

    #[test]
    fn neither_a_timeout_nor_duplicates_without_recovery_are_repairs() {
        let over = Some((1, 0, false));
        assert_eq!(counted(&[Some((2, 1, true)), None, over]), 0);
        assert_eq!(counted(&[Some((2, 1, false)), Some((2, 2, false)), over]), 0);
        // The second time, more than three segments are outstanding.
        assert_eq!(counted(&[Some((2, 1, false)), over, Some((9, 3, true)), over]), 0);
        assert_eq!(counted(&[Some((2, 1, true)), over, Some((2, 1, true)), over]), 2);
    }
}
