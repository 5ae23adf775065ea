//! Flow control of switches: the packets that they hold from each input, and the signals that stop
//! neighbours.

use crate::buffer::Pool;
use crate::flow_control::{Controls, FlowControl, Ingress, Signal};
use crate::packets::Occupancy;
use crate::port::PortId;
use crate::topology::SwitchId;

/// The flow control of all switches of a network.
pub(crate) struct Guard {
    /// The switches' inputs, indexed by the port that sends to the input.
    inputs: Vec<Ingress>,
    /// The scheme of each switch.
    controls: Vec<Controls>,
    /// The switch at the end of each port's link; `None` if a host is there.
    ends: Vec<Option<SwitchId>>,
    /// Signals that have not been sent yet, each with the port that must receive it.
    signals: Vec<(PortId, Signal)>,
}

/// A packet that is counted at an input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted {
    /// The port that sent the packet to the switch.
    pub feeder: PortId,
    /// The packet's class.
    pub class: usize,
    /// The packet's size when it was admitted, bytes.
    pub size: u32,
}

impl Guard {
    /// The flow control of switches with these schemes.
    pub(crate) fn new(controls: Vec<Controls>, ends: &[Option<SwitchId>]) -> Self {
        let inputs = vec![Ingress::default(); ends.len()];
        Self { inputs, controls, ends: ends.to_vec(), signals: Vec::new() }
    }

    /// Notes that a packet has joined a queue of the switch.
    pub(crate) fn enter(&mut self, packet: Counted, pools: &[Pool]) {
        let held = &mut self.inputs[packet.feeder.0 as usize].held[packet.class];
        *held = *held + one(packet.size);
        self.decide(packet, pools, |control, input, class, pool| {
            control.entered(input, class, pool)
        });
    }

    /// Notes that a packet has left the switch, or was dropped after its admission.
    pub(crate) fn leave(&mut self, packet: Counted, pools: &[Pool]) {
        let held = &mut self.inputs[packet.feeder.0 as usize].held[packet.class];
        *held = *held - one(packet.size);
        self.decide(packet, pools, FlowControl::left);
    }

    fn decide(
        &mut self,
        packet: Counted,
        pools: &[Pool],
        ask: impl FnOnce(&mut Controls, &Ingress, usize, Option<&Pool>) -> Option<Signal>,
    ) {
        let feeder = packet.feeder.0 as usize;
        let Some(switch) = self.ends[feeder] else { return };
        let input = &mut self.inputs[feeder];
        let pool = pools.get(switch.0 as usize);
        let control = &mut self.controls[switch.0 as usize];
        if let Some(signal) = ask(control, input, packet.class, pool) {
            input.stopped = if signal.stops {
                input.stopped | signal.classes
            } else {
                input.stopped & !signal.classes
            };
            self.signals.push((packet.feeder, signal));
        }
    }

    /// The next signal to send.
    pub(crate) fn pop_signal(&mut self) -> Option<(PortId, Signal)> {
        self.signals.pop()
    }

    /// Whether there are signals to send.
    #[inline]
    pub(crate) fn has_signals(&self) -> bool {
        !self.signals.is_empty()
    }

    /// The packets from `feeder` that the switch at the end of its link holds.
    pub(crate) fn input(&self, feeder: PortId) -> &Ingress {
        &self.inputs[feeder.0 as usize]
    }
}

fn one(size: u32) -> Occupancy {
    Occupancy { packets: 1, bytes: u64::from(size) }
}
