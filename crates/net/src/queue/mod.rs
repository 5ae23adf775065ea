//! Queue disciplines: one file each, and one line in the list below.
//!
//! A discipline decides and never stores. The port asks its buffer first, so a discipline sees
//! only packets for which there is room, or for which it would make room.

use incast_engine::{Entry, Fault, Limit, Rate, Span, Stream, Time};

use crate::packet::{Ecn, Packet};

mod bernoulli;
mod codel;
mod drop_tail;
pub mod ecn_threshold;
mod flows;
pub mod label_threshold;
mod level;
mod priority;
mod push_out;
pub mod rapid;
mod red;
mod segregation;
mod selector;
mod wred;

pub use level::Level;
pub use push_out::{Search, Victim};

/// What a discipline sees of its port, with departures up to now accounted for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueView {
    /// Packets that wait; the one being sent is not among them.
    pub packets: u32,
    /// Bytes that wait (IP packets, without layer 2).
    pub bytes: u64,
    /// Size of the packet being sent, 0 if the link is idle.
    pub in_service_bytes: u32,
    /// Now.
    pub now: Time,
    /// When the link fell idle; means nothing while a packet is being sent.
    pub idle_since: Time,
}

impl QueueView {
    /// Whether no packet is being sent, and none waits for the end of a pause.
    pub fn is_idle(&self) -> bool {
        self.in_service_bytes == 0 && self.packets == 0
    }

    /// What is in the port: what waits, and the packet being sent if that counts.
    #[inline]
    pub fn occupancy(&self, counts_in_service: bool) -> Occupancy {
        let in_service = if counts_in_service { self.in_service_bytes } else { 0 };
        Occupancy {
            packets: u64::from(self.packets) + u64::from(in_service > 0),
            bytes: self.bytes + u64::from(in_service),
        }
    }

    /// What will be in the port when a packet of `size` bytes has been admitted. A link that is
    /// idle sends it at once.
    #[inline]
    pub fn occupancy_with(&self, size: u32, counts_in_service: bool) -> Occupancy {
        let before = self.occupancy(counts_in_service);
        if self.is_idle() && !counts_in_service {
            return before;
        }
        Occupancy { packets: before.packets + 1, bytes: before.bytes + u64::from(size) }
    }
}

/// How full a queue is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occupancy {
    /// In packets.
    pub packets: u64,
    /// In bytes.
    pub bytes: u64,
}

impl Occupancy {
    /// Whether it is more than `limit`, in the limit's unit.
    #[inline]
    pub fn exceeds(&self, limit: Limit) -> bool {
        match limit {
            Limit::Packets(limit) => self.packets > limit,
            Limit::Bytes(limit) => self.bytes > limit,
        }
    }

    /// Whether it is `limit` or more, in the limit's unit.
    #[inline]
    pub fn reaches(&self, limit: Limit) -> bool {
        match limit {
            Limit::Packets(limit) => self.packets >= limit,
            Limit::Bytes(limit) => self.bytes >= limit,
        }
    }
}

impl std::ops::Add for Occupancy {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { packets: self.packets + other.packets, bytes: self.bytes + other.bytes }
    }
}

impl std::ops::Sub for Occupancy {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { packets: self.packets - other.packets, bytes: self.bytes - other.bytes }
    }
}

/// What a discipline may know of its port before the first packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// Line rate.
    pub rate: Rate,
    /// Bytes that layer 2 adds to every packet on the line.
    pub layer2_overhead: u32,
    /// The port's own buffer; none if it shares one without a limit of its own, or never drops.
    pub buffer: Option<Limit>,
    /// Whether the packet that is being sent occupies the buffer.
    pub counts_in_service: bool,
}

/// The parameters of a discipline.
pub trait Parameters {
    /// Whether the discipline decides when packets depart, changes their order, or takes back what
    /// waits. It costs its port an event per packet.
    const ACTS_AT_DEPARTURE: bool = false;

    /// Finds the first parameter that makes no sense for the switch's ports.
    ///
    /// # Errors
    /// What is wrong with it.
    fn check(&self, site: &Site) -> Result<(), Fault> {
        let _ = site;
        Ok(())
    }

    /// Whether the discipline may mark ECN-capable packets.
    fn marks(&self) -> bool {
        true
    }

    /// Whether packets with one of these labels are admitted, kept or sent before others.
    fn prefers(&self, labels: u16) -> bool {
        let _ = labels;
        false
    }
}

impl Verdict {
    /// This one, and `later` on top of it.
    #[must_use]
    pub fn then(self, later: Self) -> Self {
        match (self, later) {
            (drop @ Self::Drop(_), _) | (_, drop @ Self::Drop(_)) => drop,
            (Self::Trim, _) | (_, Self::Trim) => Self::Trim,
            (Self::Admit, Self::Admit) => Self::Admit,
            _ => Self::Mark,
        }
    }
}

/// A discipline's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Put it into the queue, or on the line.
    Admit,
    /// The same with the congestion-experienced mark (RFC 3168).
    Mark,
    /// Put its header into the queue, or on the line, without the payload.
    Trim,
    /// Throw it away.
    Drop(DropReason),
}

/// What becomes of a packet that the buffer has no room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is dropped.
    Drop,
    /// Its payload is cut off, and the header admitted if there is room for that.
    Trim,
}

impl Verdict {
    /// Signals congestion by a mark to a packet that can carry one (RFC 3168 §5), else in the way
    /// `other`.
    #[inline]
    pub fn mark_or(packet: &Packet, other: Self) -> Self {
        if packet.ecn() == Ecn::NotCapable { other } else { Self::Mark }
    }
}

/// Why a packet was dropped. As wide as a time, so that an answer to an offer fits two registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum DropReason {
    /// The buffer had no room.
    BufferFull,
    /// The discipline's random loss.
    Random,
    /// The discipline signals congestion before the buffer is full.
    Early,
    /// It waited for too long.
    Late,
}

/// Decides what happens to packets. Only [`QueueDiscipline::offer`] is asked by every port; the
/// rest by ports with departure events, which [`Parameters::ACTS_AT_DEPARTURE`] brings about.
pub trait QueueDiscipline {
    /// The fate of an arriving `packet`, which the buffer has room for, or will have when others
    /// have been pushed out.
    fn offer(&mut self, packet: &Packet, view: &QueueView, random: &mut Stream) -> Verdict;

    /// The buffer has no room for an arriving `packet`.
    fn refused(&mut self, packet: &Packet, view: &QueueView) -> Refusal {
        let _ = (packet, view);
        Refusal::Drop
    }

    /// The fate of `packet`, which waited for `waited` and is about to be sent; `view` is what
    /// waits behind it. If it is dropped, the next one comes up at once.
    fn departing(&mut self, packet: &Packet, waited: Span, view: &QueueView) -> Verdict {
        let _ = (packet, waited, view);
        Verdict::Admit
    }

    /// Number of classes, each with a queue of its own.
    fn classes(&self) -> usize {
        1
    }

    /// The class of `packet`. Class 0 is served first, and the others while it is empty.
    fn class(&self, packet: &Packet) -> usize {
        let _ = packet;
        0
    }

    /// How those that wait are searched when an arriving `packet` finds no room and may push others
    /// out; none if it may not.
    fn pushes_out(&self, packet: &Packet) -> Option<Search> {
        let _ = packet;
        None
    }

    /// Whether `packet`, which waits, may be pushed out in this round of the search, from 0.
    fn gives_way(&self, packet: &Packet, round: u8) -> bool {
        let _ = (packet, round);
        false
    }

    /// Whether [`QueueDiscipline::asks_for_pause`] may ever say anything.
    fn may_ask_for_pause(&self) -> bool {
        false
    }

    /// How long the neighbours upstream are to stop sending to this port, now that a packet has
    /// joined what waits; none if they may go on (IEEE 802.3 annex 31B).
    fn asks_for_pause(&mut self, view: &QueueView) -> Option<Span> {
        let _ = view;
        None
    }

    /// `packet` was pushed out.
    fn on_pushed_out(&mut self, packet: &Packet) {
        let _ = packet;
    }
}

macro_rules! queue_disciplines {
    ($($name:literal => $variant:ident($module:ident): $summary:literal;)+) => {
        /// A queue discipline and its parameters, as a scenario names it.
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(tag = "name")]
        pub enum QueueConfig {
            $(#[doc = $summary] #[serde(rename = $name)] $variant($module::Params),)+
        }

        /// The disciplines that exist.
        pub const ENTRIES: &[Entry] = &[$(Entry { name: $name, summary: $summary },)+];

        /// A discipline at work.
        pub enum Discipline {
            $(#[doc = $summary] $variant($module::$variant),)+
            /// One that lives out of tree: an experiment, or a test that drops what it likes.
            Custom(Box<dyn QueueDiscipline + Send>),
        }

        impl QueueConfig {
            /// The discipline with these parameters, for the port at `site`.
            pub fn build(&self, site: &Site) -> Discipline {
                match self {
                    $(Self::$variant(params) => {
                        Discipline::$variant($module::$variant::new(params, site))
                    })+
                }
            }

            /// Whether it decides when packets depart, changes their order, or takes back what
            /// waits.
            pub fn acts_at_departure(&self) -> bool {
                match self {
                    $(Self::$variant(_) => <$module::Params as Parameters>::ACTS_AT_DEPARTURE,)+
                }
            }

            /// Finds the first parameter that makes no sense for the port at `site`.
            ///
            /// # Errors
            /// What is wrong with it.
            pub fn check(&self, site: &Site) -> Result<(), Fault> {
                match self {
                    $(Self::$variant(params) => params.check(site),)+
                }
            }

            /// Whether the discipline may mark ECN-capable packets.
            pub fn marks(&self) -> bool {
                match self {
                    $(Self::$variant(params) => params.marks(),)+
                }
            }

            /// Whether packets with one of these labels are admitted, kept or sent before others.
            pub fn prefers(&self, labels: u16) -> bool {
                match self {
                    $(Self::$variant(params) => params.prefers(labels),)+
                }
            }

            /// Its name in the list.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)+
                }
            }
        }

        impl QueueDiscipline for Discipline {
            #[inline]
            fn offer(&mut self, packet: &Packet, view: &QueueView, random: &mut Stream) -> Verdict {
                match self {
                    $(Self::$variant(discipline) => discipline.offer(packet, view, random),)+
                    Self::Custom(discipline) => discipline.offer(packet, view, random),
                }
            }

            fn refused(&mut self, packet: &Packet, view: &QueueView) -> Refusal {
                match self {
                    $(Self::$variant(discipline) => discipline.refused(packet, view),)+
                    Self::Custom(discipline) => discipline.refused(packet, view),
                }
            }

            fn departing(&mut self, packet: &Packet, waited: Span, view: &QueueView) -> Verdict {
                match self {
                    $(Self::$variant(discipline) => discipline.departing(packet, waited, view),)+
                    Self::Custom(discipline) => discipline.departing(packet, waited, view),
                }
            }

            fn classes(&self) -> usize {
                match self {
                    $(Self::$variant(discipline) => discipline.classes(),)+
                    Self::Custom(discipline) => discipline.classes(),
                }
            }

            fn class(&self, packet: &Packet) -> usize {
                match self {
                    $(Self::$variant(discipline) => discipline.class(packet),)+
                    Self::Custom(discipline) => discipline.class(packet),
                }
            }

            fn pushes_out(&self, packet: &Packet) -> Option<Search> {
                match self {
                    $(Self::$variant(discipline) => discipline.pushes_out(packet),)+
                    Self::Custom(discipline) => discipline.pushes_out(packet),
                }
            }

            fn gives_way(&self, packet: &Packet, round: u8) -> bool {
                match self {
                    $(Self::$variant(discipline) => discipline.gives_way(packet, round),)+
                    Self::Custom(discipline) => discipline.gives_way(packet, round),
                }
            }

            fn may_ask_for_pause(&self) -> bool {
                match self {
                    $(Self::$variant(discipline) => discipline.may_ask_for_pause(),)+
                    Self::Custom(discipline) => discipline.may_ask_for_pause(),
                }
            }

            fn asks_for_pause(&mut self, view: &QueueView) -> Option<Span> {
                match self {
                    $(Self::$variant(discipline) => discipline.asks_for_pause(view),)+
                    Self::Custom(discipline) => discipline.asks_for_pause(view),
                }
            }

            fn on_pushed_out(&mut self, packet: &Packet) {
                match self {
                    $(Self::$variant(discipline) => discipline.on_pushed_out(packet),)+
                    Self::Custom(discipline) => discipline.on_pushed_out(packet),
                }
            }
        }
    };
}

queue_disciplines! {
    "drop-tail" => DropTail(drop_tail): "First in, first out; what does not fit is dropped.";
    "bernoulli" => Bernoulli(bernoulli): "Drop-tail that also loses each packet with a fixed probability.";
    "ecn-threshold" => EcnThreshold(ecn_threshold): "Marks what arrives while the queue is longer than a threshold (DCTCP's switch).";
    "red" => Red(red): "Random early detection: drops or marks at random, the more the longer the average queue.";
    "wred" => Wred(wred): "RED on one average, with thresholds of their own for classes of packets.";
    "codel" => Codel(codel): "Controlled delay: drops or marks at departure what has waited for too long.";
    "priority" => Priority(priority): "Strict priority by class; departures are in the order of urgency.";
    "segregation" => Segregation(segregation): "Flows that burst wait apart from flows that send steadily (Khalid et al.).";
    "label-threshold" => LabelThreshold(label_threshold): "Beyond a threshold only packets with a label enter (PLATO's switch).";
    "push-out" => PushOut(push_out): "A full buffer throws out what has no label for what has one (PLATO's naive switch).";
    "rapid" => Rapid(rapid): "A full buffer throws out what three packets of its flow follow (after RAPID, Xu et al.).";
}

impl Default for QueueConfig {
    fn default() -> Self {
        Self::DropTail(drop_tail::Params::default())
    }
}

#[cfg(test)]
mod law_tests;
