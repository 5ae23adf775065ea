//! Hosts that keep segments until their departure times (`docs/adr/0010-departure-times.md`).

use super::Core;
use incast_host::{BlueprintId, EndId};

use crate::probe::Probe;

impl<P: Probe> Core<P> {
    /// Lets hosts keep segments until their departure, if no other flow uses their line and no
    /// remedy changes either end. All flows must be known. `blueprint` is that of a flow, if it has
    /// connections.
    pub(crate) fn let_hosts_keep(&mut self, blueprint: impl Fn(u32) -> Option<BlueprintId>) {
        let routes = if self.hosts_keep { self.network.lone_routes() } else { Vec::new() };
        for route in routes {
            if blueprint(route.flow()).is_some_and(|it| self.hosts.blueprint(it).is_plain()) {
                self.hosts.keep_segments(EndId(route.0));
            }
        }
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
