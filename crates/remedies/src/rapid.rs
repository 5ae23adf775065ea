//! A remedy modelled on RAPID: the switch drops packets whose loss can be repaired without a
//! timeout (Xu et al. 2019).
//!
//! Only the abstract is public. According to the abstract, the switch "considers the number of
//! packets of each incast flow" in its buffer, and chooses drops that lead to fast retransmissions
//! instead of timeouts. RAPID-ED chooses drops by early detection. The rules are in the queue
//! discipline `rapid`, which needs no change to hosts. The labels at the end of a sender's data are
//! an addition of this project.

use incast_net::queue::{Level, QueueConfig, rapid};
use incast_tcp::hooks::{Advice, SendView, SenderHook, TxPlan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::label;
use crate::requirement::{Ability, QueueRequirement};
use crate::seam::{Installation, Place, Remedy, Situation, Slot};

/// The switch drops only packets with three successors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "RapidRemedy")]
pub struct Params {
    /// Number of later packets of the same flow that must follow a dropped packet, 1 to 3. This
    /// number should be the number of duplicate ACKs that signal a loss, minus the number of
    /// duplicate ACKs that limited transmit adds.
    #[schemars(range(min = 1, max = 3))]
    pub followers: u8,
    /// Whether the switch drops early instead of searching its queue (RAPID-ED).
    pub early: bool,
    /// With `early`: shortest queue length at which packets are dropped, in bytes, packets or as a
    /// share of the buffer.
    pub threshold: Level,
    /// Whether senders label the last three segments of their data. The switch does not drop
    /// labelled segments early, because too few later segments would reveal their loss.
    pub label_last: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self { followers: 3, early: false, threshold: Level::Share(250_000), label_last: false }
    }
}

impl Remedy for Params {
    fn slots(&self) -> &'static [Slot] {
        &[Slot::Queue]
    }

    fn queue(&self) -> Option<QueueRequirement> {
        let Self { followers, early, threshold, label_last } = *self;
        let label = label_last.then_some(label::LAST);
        let default = QueueConfig::Rapid(rapid::Params {
            followers,
            early,
            threshold,
            label: label.unwrap_or_default(),
            ..Default::default()
        });
        Some(QueueRequirement { default, ability: Ability::Rapid(label) })
    }

    fn install(&self, _: &Situation) -> Box<dyn Installation> {
        Box::new(Rapid { labels: self.label_last })
    }
}

struct Rapid {
    labels: bool,
}

impl Installation for Rapid {
    fn sender(&mut self, _: Place<'_>) -> Option<Box<dyn SenderHook>> {
        self.labels.then(|| Box::new(LabelLast) as Box<dyn SenderHook>)
    }
}

/// Number of segments at the end of the data that have fewer than three successors.
const LAST: u64 = 3;

struct LabelLast;

impl SenderHook for LabelLast {
    fn shape(&self, view: &SendView, plan: &TxPlan) -> Advice {
        let is_last = plan.seq + LAST * u64::from(view.mss) >= view.written;
        Advice { label: if is_last { label::LAST } else { 0 }, ..Advice::NONE }
    }
}
