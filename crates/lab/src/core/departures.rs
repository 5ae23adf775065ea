//! Hosts that keep segments until their departure times (`docs/adr/0010-departure-times.md`).

use std::collections::BTreeMap;

use incast_engine::Time;
use incast_host::{BlueprintId, EndId};
use incast_net::express::Handoff;
use incast_net::{Packet, PacketId};

use super::{Core, Event, Wires};
use crate::probe::Probe;

/// A packet that a host kept leaves before all other events of the same time, even before the end
/// of the run. The packet leaves as if it had waited in the host's port from the beginning.
const BEFORE_ALL: u64 = 0;

/// Packets that hosts keep, ordered by departure time and sequence number. The sequence number was
/// assigned when the host got the packet.
pub(super) type Kept = BTreeMap<(Time, u64), PacketId>;

impl<P: Probe> Core<P> {
    /// Lets a host keep the segments of a flow until their departure times, if no other flow uses
    /// the host's line and no remedy changes either end of the flow. All flows must be known.
    /// `blueprint` returns the blueprint of a flow, if the flow has connections.
    pub(crate) fn let_hosts_keep(&mut self, blueprint: impl Fn(u32) -> Option<BlueprintId>) {
        let routes = if self.hosts_keep { self.wires.network.lone_routes() } else { Vec::new() };
        for route in routes {
            if blueprint(route.flow()).is_some_and(|it| self.hosts.blueprint(it).is_plain()) {
                self.hosts.keep_segments(EndId(route.0));
            }
        }
    }

    /// Lets a host keep a packet until `departure`.
    pub(crate) fn keep(&mut self, departure: Time, packet: Packet) -> PacketId {
        let id = self.wires.network.packets().insert(packet);
        self.wires.transmit_timed(departure, id, &mut self.kept);
        id
    }

    /// Sends the kept packet with the earliest departure time.
    pub(crate) fn leave(&mut self) {
        let ((departure, sequence), packet) = self.kept.pop_first().expect("a packet is kept");
        debug_assert_eq!(departure, self.now(), "a packet leaves at its departure time");
        self.wires.network.packets().bring_back(packet);
        let parcel = self.wires.network.post(packet);
        let legs = self.wires.network.legs(parcel);
        self.wires.send(legs, parcel, sequence);
    }

    /// Ends the run: updates the network up to now, and removes the packets that hosts still keep.
    pub(crate) fn finish(&mut self) {
        self.settle();
        let now = self.now();
        self.hosts.withdraw_timed(now);
        for packet in std::mem::take(&mut self.kept).into_values() {
            self.wires.network.packets().release(packet);
        }
    }
}

impl<P: Probe> Wires<P> {
    /// Sends a packet with a departure time. If the host's port announces packets, the packet is
    /// announced at once. Otherwise the host keeps the packet, and an event sends it.
    #[inline(never)]
    pub(super) fn transmit_timed(&mut self, departure: Time, packet: PacketId, kept: &mut Kept) {
        let hop = self.network.host_port(self.network.packet(packet).route);
        let sequence = self.number_of_packet(hop, departure);
        if !self.network.announces(hop) {
            kept.insert((departure, sequence), packet);
            self.network.packets().set_aside(packet);
            return self.queue.push_deadline(departure, BEFORE_ALL, Event::Leave);
        }
        let parcel = self.network.post(packet);
        let legs = self.network.legs(parcel);
        let handoff = self.network.shorten(departure, legs, parcel, sequence);
        if let Handoff::Announced(Some((port, at, sequence))) = handoff {
            self.queue.push_deadline(at, sequence, Event::Entry(port));
        }
    }
}
