//! Queue disciplines: one file each, and one line in the list below.
//!
//! A discipline decides and never stores. The port asks its buffer first, so a discipline sees
//! only packets for which there is room.

use incast_engine::Stream;

use crate::packet::Packet;

mod bernoulli;
mod drop_tail;

/// What a discipline sees of its port, with departures up to now accounted for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueView {
    /// Packets that wait; the one being sent is not among them.
    pub packets: u32,
    /// Bytes that wait (IP packets, without layer 2).
    pub bytes: u64,
    /// Size of the packet being sent, 0 if the link is idle.
    pub in_service_bytes: u32,
}

/// A discipline's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Put it into the queue.
    Admit,
    /// Put it into the queue with the congestion-experienced mark (RFC 3168).
    Mark,
    /// Throw it away.
    Drop(DropReason),
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// The buffer had no room.
    BufferFull,
    /// The discipline's random loss.
    Random,
}

/// Decides what happens to an arriving packet.
pub trait QueueDiscipline {
    /// The fate of `packet`, which the buffer has room for.
    fn offer(&mut self, packet: &Packet, view: &QueueView, random: &mut Stream) -> Verdict;
}

/// One entry of a registry, for `incast list` and the docs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name that a scenario writes.
    pub name: &'static str,
    /// One line for people.
    pub summary: &'static str,
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
            /// The discipline with these parameters.
            pub fn build(&self) -> Discipline {
                match self {
                    $(Self::$variant(params) => Discipline::$variant($module::$variant::new(params)),)+
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
        }
    };
}

queue_disciplines! {
    "drop-tail" => DropTail(drop_tail): "First in, first out; what does not fit is dropped.";
    "bernoulli" => Bernoulli(bernoulli): "Drop-tail that also loses each packet with a fixed probability.";
}

#[cfg(test)]
mod law_tests {
    use super::*;

    #[test]
    fn every_entry_is_found_by_its_name_and_is_deterministic() {
        for entry in ENTRIES {
            let config: QueueConfig =
                serde_json::from_value(serde_json::json!({ "name": entry.name })).unwrap();
            let verdicts = || -> Vec<Verdict> {
                let mut discipline = config.build();
                let mut random = Stream::named(3, "law", 0);
                let packet = Packet { payload: 1460, header: 40, ..Packet::default() };
                (0..200)
                    .map(|packets| {
                        let view = QueueView { packets, ..QueueView::default() };
                        discipline.offer(&packet, &view, &mut random)
                    })
                    .collect()
            };
            assert_eq!(verdicts(), verdicts(), "{}", entry.name);
        }
    }
}
