//! After RAPID: a switch that discards what can be repaired without a timeout (Xu et al. 2019).
//!
//! What is public of the text is its abstract: the switch "considers the number of packets of each
//! incast flow" in it, and chooses what it discards so that fast retransmissions follow and not
//! timeouts; RAPID-ED does so by early detection. The rules are those of the discipline `rapid`,
//! which owes nothing to the hosts. That a sender labels the end of its data is ours.

use incast_engine::Fault;
use incast_net::queue::{Level, QueueConfig, rapid};
use incast_tcp::hooks::{Advice, SendView, SenderHook, TxPlan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::label;
use crate::requirement::{Ability, QueueRequirement};
use crate::seam::{Installation, Place, Remedy, Situation, Slot};

/// Losses that three packets follow, chosen by the switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "RapidRemedy")]
pub struct Params {
    /// Packets of its flow that have to follow one that goes, 1 to 3: the duplicate ACKs that mean a
    /// loss, less what senders add by limited transmit.
    #[schemars(range(min = 1, max = 3))]
    pub followers: u8,
    /// The switch drops early and searches nothing (RAPID-ED).
    pub early: bool,
    /// It does so from this length of the queue on: bytes, packets or a share of the buffer.
    pub threshold: Level,
    /// Senders label the last three segments of what they have to send, and the switch does not
    /// drop these early: nothing would follow that tells of the loss.
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

    fn check(&self) -> Result<(), Fault> {
        if (1..=3).contains(&self.followers) {
            return Ok(());
        }
        Err(Fault::new("followers", format!("{} is out of range; write 1 to 3", self.followers)))
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

/// Segments at the end of the data that fewer than three others follow.
const LAST: u64 = 3;

struct LabelLast;

impl SenderHook for LabelLast {
    fn shape(&self, view: &SendView, plan: &TxPlan) -> Advice {
        let is_last = plan.seq + LAST * u64::from(view.mss) >= view.written;
        Advice { label: if is_last { label::LAST } else { 0 }, ..Advice::NONE }
    }
}
