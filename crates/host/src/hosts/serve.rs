//! The effects of packets and deadlines on the ends.

use incast_engine::Time;
use incast_net::{Packet, Trigger};
use incast_tcp::connection::Predicted;

use super::Hosts;
use crate::ids::EndId;
use crate::stalls::Stall;

impl Hosts {
    /// Passes a packet to the receiving end. Returns the end, and the stall that the packet ends.
    #[inline]
    pub fn deliver(&mut self, now: Time, packet: &Packet) -> (EndId, Option<Stall>) {
        let id = EndId(packet.route.reverse().0);
        let end = self.end_mut(id);
        end.handle_segment(now, packet);
        if id.is_server() {
            return (id, None);
        }
        // No timer has delayed the packets that the client sends now.
        end.set_trigger(Trigger::Arrival);
        (id, self.waits.note(now, id, packet.flags.trigger()))
    }

    /// Passes a packet to the receiving end, if this end predicts the packet. A predicted packet
    /// causes no event. If a predicted packet ends a stall, the stall is counted but not reported.
    #[inline]
    pub fn predict(&mut self, now: Time, packet: &mut Packet) -> (EndId, Predicted) {
        let id = EndId(packet.route.reverse().0);
        let trigger = packet.flags.trigger();
        let answers_for = if id.is_server() { trigger } else { Trigger::Arrival };
        let predicted = self.end_mut(id).predict(now, packet, answers_for);
        if predicted != Predicted::Nothing && !id.is_server() {
            self.waits.note(now, id, trigger);
        }
        (id, predicted)
    }

    /// Handles the end's deadline if it has passed. Returns whether it has passed.
    pub fn expire(&mut self, now: Time, id: EndId) -> bool {
        let end = self.end_mut(id);
        let due = end.poll_timeout() <= now;
        if due {
            end.handle_timeout(now);
            if end.trigger() == Trigger::DelayedAck && self.waits.is_brief(now, id) {
                self.end_mut(id).set_trigger(Trigger::Arrival);
            }
        }
        due
    }
}
