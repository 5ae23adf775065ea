//! Hosts that keep segments until their departure times (`docs/adr/0010-departure-times.md`).

use super::{Core, EndId};
use crate::blueprint::BlueprintId;
use crate::probe::Probe;

impl<P: Probe> Core<P> {
    /// Lets hosts keep segments where nothing else uses their line and no remedy changes either end.
    /// The network is sealed; `blueprint` is that of a flow, if it has connections.
    pub(crate) fn let_hosts_keep(&mut self, blueprint: impl Fn(u32) -> Option<BlueprintId>) {
        for route in self.network.lone_routes() {
            if blueprint(route.flow()).is_some_and(|it| self.blueprint(it).is_plain()) {
                self.let_host_keep(EndId(route.0));
            }
        }
    }

    /// The host of `end` keeps segments until their departure times.
    pub(super) fn let_host_keep(&mut self, EndId(end): EndId) {
        let end = &mut self.ends[end as usize];
        end.keeps = true;
        end.connection.allow_departure_times();
    }

    /// The run is over: brings the network up to now, and takes back what hosts keep.
    pub(crate) fn finish(&mut self) {
        self.settle();
        let now = self.now();
        for end in self.ends.iter_mut().filter(|end| end.keeps) {
            end.connection.withdraw_timed(now);
        }
    }
}
