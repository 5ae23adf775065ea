//! A full buffer that chooses losses which their senders can repair without a timeout.

use incast_engine::{Fault, Limit, Span, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flows::Flows;
use super::level::Level;
use super::push_out::{Search, Victim};
use super::{DropReason, Parameters, QueueDiscipline, QueueView, Site, Verdict};
use crate::packet::{Flags, Packet};

/// One FIFO that knows whose packets wait in it. One that finds no room pushes out the oldest one that
/// three later ones of its own flow follow, so that the loss shows as three duplicate ACKs, and only
/// one per window as long as that is possible. With `early` the switch searches nothing: it drops
/// what arrives beyond a threshold if three of its flow are ahead (after RAPID and RAPID-ED: Xu et
/// al., IEEE JSAC 37(8), 2019).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Packets of its flow that have to follow one that goes, 1 to 3: the duplicate ACKs that mean a
    /// loss (RFC 5681 §3.2), less what senders add by limited transmit (RFC 3042).
    #[schemars(range(min = 1, max = 3))]
    pub followers: u8,
    /// Drop early and search nothing (RAPID-ED).
    pub early: bool,
    /// From this length of the queue on, with `early`: bytes, packets or a share of the buffer.
    pub threshold: Level,
    /// Labels whose packets are never dropped early: a bit each, and one of them is enough.
    pub label: u16,
    /// Whether the packet that is being sent counts as part of the queue, with `early`. Default:
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

    fn check(&self, site: &Site) -> Result<(), Fault> {
        if !(1..=DUPACKS).contains(&usize::from(self.followers)) {
            let message = format!("{} is out of range; write 1 to 3", self.followers);
            return Err(Fault::new("followers", message));
        }
        if self.early { self.threshold.check("threshold", site) } else { Ok(()) }
    }

    fn marks(&self) -> bool {
        false
    }

    fn prefers(&self, labels: u16) -> bool {
        self.label & labels != 0
    }
}

/// Duplicate ACKs that mean a loss.
const DUPACKS: usize = 3;

/// Rounds of a search: a loss that three packets follow, in a window without another; the same in a
/// window with one; whatever has not been sent before.
const SAFE: u8 = 0;
const SECOND: u8 = 1;
const ANY: u8 = 2;

/// What is known of a flow.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    epoch: u8,
    /// One past the last byte that was seen.
    seen: u64,
    /// First bytes of the packets that arrived last, the oldest first; retransmissions do not count.
    last: [u64; DUPACKS],
    /// Packets of data that wait.
    waiting: u32,
    /// The last byte that was lost, until it is sent again.
    lost: Option<u64>,
    /// What had been seen when the first retransmission came: the window being repaired ends here.
    recover: Option<u64>,
    /// What had been seen when the last retransmission came. The next loss lies beyond the packet
    /// that begins here: a careful sender wants more than `recover` acknowledged before it counts
    /// duplicates again (RFC 6582 §3.2, step 2).
    settled: u64,
}

impl Flow {
    /// A packet arrives, whatever becomes of it.
    fn arrive(&mut self, packet: &Packet) {
        if packet.epoch != self.epoch {
            // Another connection.
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
            // What lies between was lost on the way, or found no room.
            self.lose(packet.seq - 1);
        }
        self.seen = self.seen.max(packet.seq_end());
    }

    /// A packet that was seen joins the queue.
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

    /// Everything up to `last` that is missing has to be sent again.
    fn lose(&mut self, last: u64) {
        self.lost = Some(self.lost.map_or(last, |lost| lost.max(last)));
    }

    /// Whether `packet`, which waits, may be lost: so many others of its flow wait behind it.
    fn may_lose(&self, packet: &Packet, followers: usize) -> bool {
        let before = self.last[DUPACKS - followers];
        packet.epoch == self.epoch && packet.seq > self.settled && packet.seq < before
    }

    /// Whether the sender repairs a loss of `packet` while it repairs others.
    fn is_repaired_with_others(&self, packet: &Packet) -> bool {
        self.lost.is_some() && self.recover.is_none_or(|recover| packet.seq < recover)
    }
}

/// Whether it was sent before.
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
        // Their ACKs call for the packets that will follow it.
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
