//! Queue disciplines. Each discipline has a file, and a line in the list below.
//!
//! A discipline only decides; the port stores packets. The port checks its buffer first. It
//! therefore offers to the discipline only packets that fit, or that fit if the discipline pushes
//! out other packets.

use std::ops::Deref;

use incast_engine::{Entry, Fault, Foreign, Here, Limit, Rate, Span, Stream, Time};

use crate::packet::{Ecn, Packet};
use crate::packets::Load;

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

/// Number of classes whose packets are counted separately, for disciplines and for flow control.
pub const CLASSES: usize = 8;

/// The waiting packets of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassLoad {
    /// In packets.
    pub packets: u32,
    /// In bytes.
    pub bytes: u32,
}

/// A discipline's view of its port, after all departures up to now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueView {
    /// The packets in the port.
    pub load: Load,
    /// Waiting packets of each of the first [`CLASSES`] classes, if there are several classes.
    pub classes: [ClassLoad; CLASSES],
    /// The current time.
    pub now: Time,
    /// The time at which the link became idle; undefined while a packet is being sent.
    pub idle_since: Time,
}

impl Deref for QueueView {
    type Target = Load;

    fn deref(&self) -> &Load {
        &self.load
    }
}

/// The properties of a port that a discipline may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// Line rate.
    pub rate: Rate,
    /// Bytes that layer 2 adds to every packet on the line.
    pub layer2_overhead: u32,
    /// The port's own buffer; `None` if the port shares a buffer without a limit of its own, or
    /// never drops.
    pub buffer: Option<Limit>,
    /// Whether the packet that is being sent occupies the buffer.
    pub counts_in_service: bool,
}

/// The parameters of a discipline.
pub trait Parameters {
    /// Whether the discipline decides at departure, reorders packets, or removes waiting packets. A
    /// port with such a discipline has departure events.
    const ACTS_AT_DEPARTURE: bool = false;

    /// Refuses the first parameter that is invalid for the switch's ports.
    ///
    /// # Errors
    /// The key of this parameter, and the reason why its value is invalid.
    fn check(&self, site: &Site) -> Result<(), Fault> {
        let _ = site;
        Ok(())
    }

    /// The thresholds on the length of the queue, each with its key.
    fn levels(&self) -> Vec<(&'static str, Level)> {
        Vec::new()
    }

    /// Whether the discipline may mark ECN-capable packets.
    fn marks(&self) -> bool {
        true
    }

    /// Whether packets with one of these labels have priority.
    fn prefers(&self, labels: u16) -> bool {
        let _ = labels;
        false
    }
}

impl Verdict {
    /// The more severe of two decisions.
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

/// A discipline's decision on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Enqueue the packet, or send it if the link is idle.
    Admit,
    /// As `Admit`, and set the congestion-experienced mark (RFC 3168).
    Mark,
    /// As `Admit`, and remove the payload.
    Trim,
    /// Drop the packet.
    Drop(DropReason),
}

/// The decision on a packet that does not fit into the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The packet is dropped.
    Drop,
    /// The payload is removed, and the header is admitted if it fits into the space for headers
    /// ([`crate::buffer::Buffer::headers`]).
    Trim,
}

impl Verdict {
    /// A mark if the packet is ECN-capable (RFC 3168 §5), otherwise `other`.
    #[inline]
    pub fn mark_or(packet: &Packet, other: Self) -> Self {
        if packet.ecn() == Ecn::NotCapable { other } else { Self::Mark }
    }
}

/// The reason why a packet was dropped. The type has the size of a time, so that
/// [`crate::Admission`] fits into two registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum DropReason {
    /// The buffer was full.
    BufferFull,
    /// The discipline's random loss.
    Random,
    /// The discipline signals congestion before the buffer is full.
    Early,
    /// The packet waited too long.
    Late,
}

/// Decides whether packets are admitted, marked, trimmed or dropped. Every port calls
/// [`QueueDiscipline::offer`]; only ports with departure events ([`Parameters::ACTS_AT_DEPARTURE`])
/// call the other methods.
pub trait QueueDiscipline {
    /// The decision on an arriving `packet` that fits into the buffer, or that will fit after other
    /// packets have been pushed out.
    fn offer(&mut self, packet: &Packet, view: &QueueView, random: &mut Stream) -> Verdict;

    /// Whether the discipline may trim packets. Ports that trim have departure events.
    fn trims(&self) -> bool {
        false
    }

    /// The decision on an arriving `packet` that does not fit into the buffer.
    fn refused(&mut self, packet: &Packet, view: &QueueView) -> Refusal {
        let _ = (packet, view);
        Refusal::Drop
    }

    /// The decision on `packet`, which waited for `waited` and is about to be sent. `view` is the
    /// queue behind `packet`. If `packet` is dropped, the next packet is examined at once.
    fn departing(&mut self, packet: &Packet, waited: Span, view: &QueueView) -> Verdict {
        let _ = (packet, waited, view);
        Verdict::Admit
    }

    /// Number of classes, each with a queue of its own.
    fn classes(&self) -> usize {
        1
    }

    /// The class of `packet`. Class 0 is served first, then the other classes in order.
    fn class(&self, packet: &Packet) -> usize {
        let _ = packet;
        0
    }

    /// How to search for the waiting packets that an arriving `packet` pushes out if it does not
    /// fit. `None` if `packet` may not push out other packets.
    fn pushes_out(&self, packet: &Packet) -> Option<Search> {
        let _ = packet;
        None
    }

    /// Whether the waiting `packet` may be pushed out in round `round` of the search, counted from
    /// 0.
    fn gives_way(&self, packet: &Packet, round: u8) -> bool {
        let _ = (packet, round);
        false
    }

    /// Called when `packet` was pushed out.
    fn on_pushed_out(&mut self, packet: &Packet) {
        let _ = packet;
    }
}

macro_rules! queue_disciplines {
    ($($name:literal => $variant:ident($place:ident $module:ident): $summary:literal;)+) => {
        /// A queue discipline and its parameters, as a scenario names it.
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(tag = "name")]
        pub enum QueueConfig {
            $(#[doc = $summary] #[serde(rename = $name)] $variant($module::Params),)+
            /// A discipline that is defined elsewhere.
            #[serde(rename = "foreign", skip_deserializing)]
            #[schemars(skip)]
            Foreign(Foreign<dyn QueueDiscipline + Send>),
        }

        /// The list of disciplines.
        pub const ENTRIES: &[Entry] = &[$(Entry { name: $name, summary: $summary },)+];

        /// A running discipline.
        pub enum Discipline {
            $(#[doc = $summary] $variant($place<$module::$variant>),)+
            /// A discipline from another crate, or from a test that drops selected packets.
            Custom(Box<dyn QueueDiscipline + Send>),
        }

        impl QueueConfig {
            /// The discipline with these parameters, for the port at `site`.
            pub fn build(&self, site: &Site) -> Discipline {
                match self {
                    $(Self::$variant(params) => {
                        let discipline = $module::$variant::new(params, site);
                        Discipline::$variant($place::<$module::$variant>::from(discipline))
                    })+
                    Self::Foreign(discipline) => Discipline::Custom(discipline.build(&())),
                }
            }

            /// Whether the discipline decides at departure, reorders packets, or removes waiting
            /// packets.
            pub fn acts_at_departure(&self) -> bool {
                match self {
                    $(Self::$variant(_) => <$module::Params as Parameters>::ACTS_AT_DEPARTURE,)+
                    Self::Foreign(_) => true,
                }
            }

            /// Refuses the first parameter that is invalid for the port at `site`.
            ///
            /// # Errors
            /// The key of this parameter, and the reason why its value is invalid.
            pub fn check(&self, site: &Site) -> Result<(), Fault> {
                match self {
                    $(Self::$variant(params) => params.check(site),)+
                    Self::Foreign(_) => Ok(()),
                }
            }

            /// The thresholds on the length of the queue, each with its key.
            pub fn levels(&self) -> Vec<(&'static str, Level)> {
                match self {
                    $(Self::$variant(params) => params.levels(),)+
                    Self::Foreign(_) => Vec::new(),
                }
            }

            /// Whether the discipline may mark ECN-capable packets.
            pub fn marks(&self) -> bool {
                match self {
                    $(Self::$variant(params) => params.marks(),)+
                    Self::Foreign(_) => true,
                }
            }

            /// Whether packets with one of these labels have priority.
            pub fn prefers(&self, labels: u16) -> bool {
                match self {
                    $(Self::$variant(params) => params.prefers(labels),)+
                    Self::Foreign(_) => false,
                }
            }

            /// The name of this discipline in the list.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)+
                    Self::Foreign(discipline) => discipline.name(),
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

            fn trims(&self) -> bool {
                match self {
                    $(Self::$variant(discipline) => discipline.trims(),)+
                    Self::Custom(discipline) => discipline.trims(),
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
    "drop-tail" => DropTail(Here drop_tail): "First in, first out; a packet that does not fit is dropped.";
    "bernoulli" => Bernoulli(Box bernoulli): "Drop-tail that also loses each packet with a fixed probability.";
    "ecn-threshold" => EcnThreshold(Box ecn_threshold): "Marks packets that arrive while the queue is longer than a threshold (DCTCP's switch).";
    "red" => Red(Box red): "Random early detection: drops or marks with a probability that grows with the average queue.";
    "wred" => Wred(Box wred): "RED with one average queue, and separate thresholds for classes of packets.";
    "codel" => Codel(Box codel): "Controlled delay: drops or marks, at departure, packets that have waited for too long.";
    "priority" => Priority(Box priority): "Strict priority by class: the most urgent waiting packet is sent first.";
    "segregation" => Segregation(Box segregation): "Bursty flows and steady flows wait in separate queues (Khalid et al.).";
    "label-threshold" => LabelThreshold(Box label_threshold): "Above a threshold, admits only packets with a label (PLATO's switch).";
    "push-out" => PushOut(Box push_out): "When the buffer is full, drops a waiting packet without \
                                          a label to admit a packet with a label (PLATO's naive \
                                          switch).";
    "rapid" => Rapid(Box rapid): "When the buffer is full, drops a waiting packet that is followed by three packets of its flow (after RAPID, Xu et al.).";
}

impl Default for QueueConfig {
    fn default() -> Self {
        Self::DropTail(drop_tail::Params::default())
    }
}

#[cfg(test)]
mod law_tests;
