//! PLATO: labels that keep the ACK clock alive (Shukla et al. 2014).
//!
//! One segment per round trip and its ACK have a label. They are the heartbeat, which the switch
//! still admits when it drops other packets. The heartbeat keeps ACKs arriving, so the loss of
//! other segments causes duplicate ACKs. Retransmissions also have priority and are not lost again.
//! If the heartbeat returns to a sender that cannot send data, the sender probes with empty packets
//! (dummies) whether data are still in flight. The answer to the third dummy has the effect of a
//! retransmission timeout. [`State::next`] is figure 7 of the paper.

mod machine;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use incast_net::queue::{QueueConfig, label_threshold};
use incast_net::{Flags, Packet};
use incast_tcp::hooks::{
    ANSWER, Advice, ReceiveView, ReceiverHook, SendEvent, SendView, SenderHook, TxPlan,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::label;
use crate::requirement::{Ability, QueueRequirement, Requirement};
use crate::seam::{Installation, Measure, Outcome, Place, Remedy, Situation, Slot};
use machine::{Action, Input, Outlook, State};

/// Labels that keep the ACK clock alive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Whether one bit means both "admit" to the switch and "answer with a label" to the receiver,
    /// as in the paper. A retransmission then triggers a labelled ACK, which is a second heartbeat,
    /// and the answer to a dummy is an ordinary ACK. If false, each meaning has its own bit.
    pub single_bit: bool,
    /// Whether the timeout after the third dummy doubles the RTO, as any other timeout does. If
    /// false, the RTO does not change, because no timer has expired.
    pub dummy_doubles_rto: bool,
    /// Whether the answer to a dummy counts as a duplicate ACK, as the paper calls it. With
    /// `single_bit`, the answer always counts.
    pub dummy_counts_as_dupack: bool,
    /// Whether SYN and SYN-ACK also have priority at the switch.
    pub label_handshake: bool,
}

impl Remedy for Params {
    fn slots(&self) -> &'static [Slot] {
        &[Slot::Queue]
    }

    /// §III.B: "we assume that limited transmit is in effect".
    fn requires(&self) -> Vec<Requirement> {
        vec![Requirement::LimitedTransmit]
    }

    fn queue(&self) -> Option<QueueRequirement> {
        let label = label::PRIORITY;
        let params = label_threshold::Params { label, ..Default::default() };
        let default = QueueConfig::LabelThreshold(params);
        Some(QueueRequirement { default, ability: Ability::Prefer(label) })
    }

    fn measures(&self) -> &'static [Measure] {
        const COUNTS: &[Measure] = &[
            Measure { name: "plato.dummies", unit: "1", description: "Dummies sent." },
            Measure {
                name: "plato.early_timeouts",
                unit: "1",
                description: "Timeouts after the third dummy, also counted in `timeouts`.",
            },
        ];
        COUNTS
    }

    fn install(&self, _: &Situation) -> Box<dyn Installation> {
        Box::new(Plato { params: self.clone(), counts: Arc::default() })
    }
}

/// The counters of all senders of a client.
#[derive(Default)]
struct Counts {
    dummies: AtomicU64,
    early_timeouts: AtomicU64,
}

struct Plato {
    params: Params,
    counts: Arc<Counts>,
}

impl Installation for Plato {
    fn measure(&self, _: &Outcome) -> Vec<Option<f64>> {
        let Counts { dummies, early_timeouts } = &*self.counts;
        [dummies, early_timeouts].map(|count| Some(count.load(Relaxed) as f64)).to_vec()
    }

    fn sender(&mut self, _: Place<'_>) -> Option<Box<dyn SenderHook>> {
        let (params, counts) = (self.params.clone(), Arc::clone(&self.counts));
        Some(Box::new(Sender { params, counts, state: State::Label, rewound: false, turn: 0 }))
    }

    fn receiver(&mut self, _: Place<'_>) -> Option<Box<dyn ReceiverHook>> {
        Some(Box::new(Receiver(self.params.clone())))
    }
}

impl Params {
    /// The label that requests a labelled ACK.
    fn heartbeat(&self) -> u16 {
        if self.single_bit { label::PRIORITY } else { label::HEARTBEAT }
    }

    fn handshake(&self) -> Advice {
        let label = if self.label_handshake { label::PRIORITY } else { 0 };
        Advice { label, ..Advice::NONE }
    }
}

struct Sender {
    params: Params,
    counts: Arc<Counts>,
    state: State,
    /// Whether the timer has expired. The next segment is then a retransmission, but becomes the
    /// heartbeat nevertheless.
    rewound: bool,
    /// The bit [`label::TURN`] of the dummies of the current stall.
    turn: u16,
}

impl Sender {
    /// Whether the segment is the heartbeat. A retransmission is the heartbeat only after a
    /// timeout.
    fn labels(&self, view: &SendView, plan: &TxPlan) -> bool {
        let waits = matches!(self.state, State::Label | State::Wait | State::Arrested(_));
        waits && !plan.requested && (plan.seq == view.next || self.rewound)
    }

    fn input(&self, ack: &Packet) -> Input {
        if ack.label & self.params.heartbeat() == 0 {
            return Input::Ack;
        }
        if self.params.single_bit {
            // With one bit, only the sender's state shows whether the ACK answers a segment or a
            // dummy.
            let arrested = matches!(self.state, State::Arrested(_));
            return if arrested { Input::DummyAck } else { Input::LabelledAck };
        }
        match (ack.label & label::DUMMY != 0, ack.label & label::TURN == self.turn) {
            (false, _) => Input::LabelledAck,
            (true, true) => Input::DummyAck,
            // The ACK answers a dummy of an earlier stall.
            (true, false) => Input::Ack,
        }
    }

    fn step(&mut self, input: Input, outlook: Outlook) -> Advice {
        let (state, action) = self.state.next(input, outlook);
        if matches!(state, State::Arrested(_)) && !matches!(self.state, State::Arrested(_)) {
            self.turn ^= label::TURN;
        }
        self.state = state;
        match action {
            Action::None => {}
            Action::Dummy => {
                self.counts.dummies.fetch_add(1, Relaxed);
            }
            Action::Expire => {
                self.counts.early_timeouts.fetch_add(1, Relaxed);
            }
        }
        match action {
            Action::None => Advice::NONE,
            Action::Dummy if self.params.single_bit => {
                Advice { empty_probe: label::PRIORITY, ..Advice::NONE }
            }
            Action::Dummy => {
                let label = label::PRIORITY | label::HEARTBEAT | label::DUMMY | self.turn;
                Advice { empty_probe: label, ..Advice::NONE }
            }
            Action::Expire => {
                self.rewound = true;
                let keep_rto = !self.params.dummy_doubles_rto;
                Advice { expire_timer: true, keep_rto, ..Advice::NONE }
            }
        }
    }
}

/// The outlook that is passed with inputs other than ACKs. The result does not depend on it.
const ANY: Outlook = Outlook::MaySend;

impl SenderHook for Sender {
    fn on_event(&mut self, event: SendEvent<'_>, view: &SendView) -> Advice {
        match event {
            SendEvent::Ack { packet, may_send } => {
                let outlook = match view {
                    _ if may_send => Outlook::MaySend,
                    _ if view.una == view.max => Outlook::Done,
                    _ if view.in_recovery => Outlook::Recovery,
                    _ => Outlook::Stuck,
                };
                self.step(self.input(packet), outlook)
            }
            SendEvent::Timeout => {
                self.rewound = true;
                self.step(Input::Timeout, ANY)
            }
            SendEvent::Sent(packet) => {
                let repair = packet.flags.contains(Flags::RETRANSMISSION) && !self.rewound;
                if packet.label & self.params.heartbeat() == 0 || (self.params.single_bit && repair)
                {
                    return Advice::NONE;
                }
                self.rewound = false;
                self.step(Input::LabelSent, ANY)
            }
        }
    }

    fn shape(&self, view: &SendView, plan: &TxPlan) -> Advice {
        let mut label = 0;
        if plan.retransmission {
            label |= label::PRIORITY;
        }
        if self.labels(view, plan) {
            label |= label::PRIORITY | self.params.heartbeat();
        }
        Advice { label, ..Advice::NONE }
    }

    fn handshake(&self) -> Advice {
        self.params.handshake()
    }
}

struct Receiver(Params);

impl ReceiverHook for Receiver {
    fn on_segment(&mut self, packet: &Packet, _: &ReceiveView) -> Advice {
        if packet.label & self.0.heartbeat() == 0 {
            return Advice::NONE;
        }
        let echo = label::PRIORITY | label::HEARTBEAT | label::DUMMY | label::TURN;
        let is_dummy = packet.label & label::DUMMY != 0;
        let answer = if is_dummy && !self.0.dummy_counts_as_dupack { ANSWER } else { 0 };
        Advice { label: packet.label & echo | answer, ..Advice::NONE }
    }

    fn handshake(&self) -> Advice {
        self.0.handshake()
    }
}
