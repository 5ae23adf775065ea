//! What blocks wait for, as far as applications and clients have to do with it.

use incast_net::Trigger;

use super::Core;
use crate::probe::Probe;

impl<P: Probe> Core<P> {
    /// A block begins in which `flow` has a part: what is sent now has not been waited for.
    pub(crate) fn begin_wait(&mut self, flow: u32) {
        self.trigger = Trigger::Arrival;
        self.waits.begin(self.queue.now(), flow);
    }

    /// The block in which `flow` has a part is complete.
    pub(crate) fn end_wait(&mut self, flow: u32) {
        self.waits.end(flow);
    }
}
