//! Hosts that keep segments until their departure times (`docs/adr/0010-departure-times.md`).

use incast_engine::Time;
use incast_host::{BlueprintId, EndId};
use incast_net::{Packet, PacketId};

use super::Core;
use crate::probe::Probe;

impl<P: Probe> Core<P> {
    /// Lets hosts keep segments until their departure, if no other flow uses their line and no
    /// remedy changes either end. All flows must be known. `blueprint` returns the blueprint of a
    /// flow, if the flow has connections.
    pub(crate) fn let_hosts_keep(&mut self, blueprint: impl Fn(u32) -> Option<BlueprintId>) {
        let routes = if self.hosts_keep { self.network.lone_routes() } else { Vec::new() };
        for route in routes {
            if blueprint(route.flow()).is_some_and(|it| self.hosts.blueprint(it).is_plain()) {
                self.hosts.keep_segments(EndId(route.0));
            }
        }
    }

    /// Lets a host keep a packet until `departure`.
    pub(crate) fn keep(&mut self, departure: Time, packet: Packet) -> PacketId {
        let id = self.network.packets().insert(packet);
        let Self { queue, network, probe, order, kept, .. } = self;
        super::Wires { queue, network, probe, order }.transmit_timed(departure, id, kept);
        id
    }

    /// Sends the first packet that hosts keep.
    pub(crate) fn leave(&mut self) {
        let ((departure, sequence), packet) = self.kept.pop_first().expect("a packet is kept");
        debug_assert_eq!(departure, self.now(), "a packet leaves at its departure time");
        let parcel = self.network.post(packet);
        let hop = self.network.next_hop(parcel).expect("a route has at least one port");
        self.wires().offer(hop, parcel, sequence);
    }

    /// Ends the run: updates the network up to now, and removes the packets that hosts keep.
    pub(crate) fn finish(&mut self) {
        self.settle();
        let now = self.now();
        self.hosts.withdraw_timed(now);
        for packet in std::mem::take(&mut self.kept).into_values() {
            self.network.packets().release(packet);
        }
    }
}
