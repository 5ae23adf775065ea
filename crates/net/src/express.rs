//! Shortcuts, with which a packet needs fewer events than one per link.
//!
//! The shortcuts of a network are planned once all flows are known, and each is stored in its
//! port. Without a shortcut, a packet needs one event per link.

mod plan;

use incast_engine::Time;

use crate::packets::Parcel;
use crate::port::{Admission, Port, PortId, Shortcut, Transit};

pub(crate) use plan::{Express, plan};

/// The result of sending a packet by a shortcut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handoff {
    /// The port has no shortcut; the packet was not sent.
    Declined,
    /// The packet has passed the next port and is on the link behind it. If `Some`, the next
    /// arrival at the end of this link must be scheduled at this time.
    Relayed(Option<(PortId, Time)>),
    /// The packet was announced to a port. If `Some`,
    /// [`Network::settle`](crate::topology::Network::settle) must be scheduled at this time, with
    /// this order among simultaneous events.
    Announced(Option<(PortId, Time, u64)>),
}

/// Sends a packet through `port` to the port `next`, by the shortcut of `port`.
#[expect(
    clippy::inline_always,
    reason = "it has one caller, and its result would go through memory"
)]
#[inline(always)]
pub(crate) fn send(
    ports: &mut [Port],
    now: Time,
    [port, next]: [PortId; 2],
    parcel: Parcel,
    sequence: u64,
) -> Handoff {
    let Some(first) = ports[port.0 as usize].fifo_mut() else { return Handoff::Declined };
    let parcel = parcel.onward();
    match first.shortcut {
        Shortcut::None => Handoff::Declined,
        Shortcut::Relay => {
            let enters = first.forward(now, parcel.size());
            let Some(second) = ports[next.0 as usize].fifo_mut() else { return Handoff::Declined };
            Handoff::Relayed(match second.admit(enters, parcel.onward(), sequence) {
                Admission::Scheduled(at) => Some((next, at)),
                _ => None,
            })
        }
        Shortcut::Announce => {
            let (arrival, sequence) = first.forward_placed(now, parcel.size(), sequence);
            let Some(second) = ports[next.0 as usize].fifo_mut() else { return Handoff::Declined };
            let needs_event = second.announce(Transit { arrival, sequence, parcel });
            Handoff::Announced(needs_event.then_some((next, arrival, sequence)))
        }
    }
}
