//! A queue that drops, from a full buffer, packets whose loss can be repaired without a timeout.

use incast_engine::{Fault, Limit, Span, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flows::Flows;
use super::level::Level;
use super::push_out::{Search, Victim};
use super::{DropReason, Parameters, QueueDiscipline, QueueView, Site, Verdict};
use crate::packet::{Flags, Packet};

/// One FIFO with state per flow. A packet that finds no room pushes out the oldest packet that has
/// three successors of the same flow, so that the loss causes three duplicate ACKs. If possible,
/// each window loses only one packet. With `early`, the switch does not search the queue: an
/// arriving packet is dropped if the queue is beyond a threshold and three packets of the same flow
/// are ahead (after RAPID and RAPID-ED: Xu et al., IEEE JSAC 37(8), 2019).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Number of later packets of the same flow that must follow a dropped packet, 1 to 3. This
    /// number should be the number of duplicate ACKs that signal a loss (RFC 5681 §3.2), minus the
    /// number that limited transmit adds (RFC 3042).
    #[schemars(range(min = 1, max = 3))]
    pub followers: u8,
    /// Whether to drop early instead of searching the queue (RAPID-ED).
    pub early: bool,
    /// With `early`: shortest queue length at which packets are dropped, in bytes, packets or as a
    /// share of the buffer.
    pub threshold: Level,
    /// Labels of packets that are never dropped early, as a bit mask; one of these labels is
    /// enough.
    pub label: u16,
    /// With `early`: whether the packet that is being sent counts as part of the queue. Default:
    /// `network.buffer_counts_in_service`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts_in_service: Option<bool>,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            followers: DUPACKS as u8,
            early: false,
            threshold: Level::Share(250_000),
            label: 0,
            counts_in_service: None,
        }
    }
}

impl Parameters for Params {
    const ACTS_AT_DEPARTURE: bool = true;

    fn levels(&self) -> Vec<(&'static str, Level)> {
        if self.early { vec![("threshold", self.threshold)] } else { Vec::new() }
    }

    fn check(&self, site: &Site) -> Result<(), Fault> {
        if self.early { self.threshold.check("threshold", site) } else { Ok(()) }
    }

    fn marks(&self) -> bool {
        false
    }

    fn prefers(&self, labels: u16) -> bool {
        self.label & labels != 0
    }
}

/// Number of duplicate ACKs that signal a loss.
const DUPACKS: usize = 3;

/// Rounds of a search. The first round searches for a packet with three successors in a window
/// without another loss. The second round searches for such a packet in a window with a loss. The
/// third round takes any data packet except retransmissions.
const SAFE: u8 = 0;
const SECOND: u8 = 1;
const ANY: u8 = 2;

/// State of a flow.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    epoch: u8,
    /// One past the highest byte seen.
    seen: u64,
    /// First bytes of the three latest data packets that joined the queue, oldest first, without
    /// retransmissions.
    last: [u64; DUPACKS],
    /// Number of waiting data packets.
    waiting: u32,
    /// The last lost byte. `None` if there is no loss, or if this byte has been retransmitted.
    lost: Option<u64>,
    /// The end of the window being repaired: the highest byte seen when the first retransmission
    /// arrived.
    recover: Option<u64>,
    /// The highest byte seen when the last retransmission arrived. The next dropped packet must
    /// begin after this byte. A careful sender requires an ACK of more than `recover` before it
    /// counts duplicate ACKs again (RFC 6582 §3.2, step 2).
    settled: u64,
}

impl Flow {
    /// Notes the arrival of a packet, which may be dropped later.
    fn arrive(&mut self, packet: &Packet) {
        if packet.epoch != self.epoch {
            // The flow has a new connection.
            *self = Self { epoch: packet.epoch, waiting: self.waiting, ..Self::default() };
        }
        if packet.payload == 0 {
            self.seen = self.seen.max(packet.seq_end());
            return;
        }
        if is_again(packet) {
            let Some(lost) = self.lost else { return };
            self.recover.get_or_insert(self.seen);
            if (packet.seq..packet.seq_end()).contains(&lost) {
                self.lost = None;
                self.recover = None;
                self.settled = self.seen;
            }
            return;
        }
        if packet.seq > self.seen && self.seen > 0 {
            // The bytes between `seen` and this packet were lost before they reached this port, or
            // were dropped here.
            self.lose(packet.seq - 1);
        }
        self.seen = self.seen.max(packet.seq_end());
    }

    /// Notes that a packet joins the queue.
    fn join(&mut self, packet: &Packet) {
        if packet.payload == 0 {
            return;
        }
        self.waiting += 1;
        if !is_again(packet) {
            self.last.rotate_left(1);
            self.last[DUPACKS - 1] = packet.seq;
        }
    }

    fn leave(&mut self, packet: &Packet) {
        if packet.payload > 0 {
            self.waiting = self.waiting.saturating_sub(1);
        }
    }

    /// Notes that all missing packets up to the byte `last` must be retransmitted.
    fn lose(&mut self, last: u64) {
        self.lost = Some(self.lost.map_or(last, |lost| lost.max(last)));
    }

    /// Whether the waiting `packet` may be dropped, because it has enough successors of its flow.
    fn may_lose(&self, packet: &Packet, followers: usize) -> bool {
        let before = self.last[DUPACKS - followers];
        packet.epoch == self.epoch && packet.seq > self.settled && packet.seq < before
    }

    /// Whether the sender repairs a loss of `packet` together with other losses.
    fn is_repaired_with_others(&self, packet: &Packet) -> bool {
        self.lost.is_some() && self.recover.is_none_or(|recover| packet.seq < recover)
    }
}

/// Whether the packet is a retransmission.
fn is_again(packet: &Packet) -> bool {
    packet.flags.contains(Flags::RETRANSMISSION)
}

/// See [`Params`].
#[derive(Clone, Debug)]
pub struct Rapid {
    followers: usize,
    early: Option<Limit>,
    label: u16,
    counts_in_service: bool,
    flows: Flows<Flow>,
}

impl Rapid {
    pub(super) fn new(params: &Params, site: &Site) -> Self {
        Self {
            followers: usize::from(params.followers).clamp(1, DUPACKS),
            early: params.early.then(|| params.threshold.at(site)),
            label: params.label,
            counts_in_service: params.counts_in_service.unwrap_or(site.counts_in_service),
            flows: Flows::default(),
        }
    }
}

impl QueueDiscipline for Rapid {
    fn offer(&mut self, packet: &Packet, view: &QueueView, _: &mut Stream) -> Verdict {
        let flow = self.flows.entry(packet.route.flow());
        flow.arrive(packet);
        let is_late = |threshold| view.occupancy(self.counts_in_service).reaches(threshold);
        let may_go = packet.payload > 0 && !is_again(packet) && packet.label & self.label == 0;
        // The ACKs of the flow's waiting packets make the sender send packets that will follow this
        // packet.
        if may_go
            && self.early.is_some_and(is_late)
            && flow.waiting as usize >= self.followers
            && flow.lost.is_none()
            && packet.seq > flow.settled
        {
            flow.lose(packet.seq_end() - 1);
            return Verdict::Drop(DropReason::Early);
        }
        flow.join(packet);
        Verdict::Admit
    }

    fn departing(&mut self, packet: &Packet, _: Span, _: &QueueView) -> Verdict {
        self.flows.entry(packet.route.flow()).leave(packet);
        Verdict::Admit
    }

    fn pushes_out(&self, packet: &Packet) -> Option<Search> {
        if self.early.is_some() {
            return None;
        }
        let is_precious = packet.payload == 0 || is_again(packet);
        let rounds = if is_precious { ANY } else { SECOND } + 1;
        Some(Search { first: Victim::Oldest, rounds })
    }

    fn gives_way(&self, packet: &Packet, round: u8) -> bool {
        let Some(flow) = self.flows.get(packet.route.flow()) else { return false };
        if packet.payload == 0 || is_again(packet) {
            return false;
        }
        match round {
            SAFE => flow.lost.is_none() && flow.may_lose(packet, self.followers),
            SECOND => flow.is_repaired_with_others(packet) && flow.may_lose(packet, self.followers),
            _ => true,
        }
    }

    fn on_pushed_out(&mut self, packet: &Packet) {
        let flow = self.flows.entry(packet.route.flow());
        flow.leave(packet);
        if flow.epoch == packet.epoch {
            flow.lose(packet.seq_end() - 1);
        }
    }
}
