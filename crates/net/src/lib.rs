//! Packets, ports, links, queue disciplines, buffers and topologies.
//!
//! A [`Port`] is an output port with its link. The port stores, counts and sends packets. A
//! [`queue::QueueDiscipline`] and a [`buffer::Buffer`] only decide about packets.

mod body;
pub mod buffer;
pub mod express;
pub mod flow_control;
pub mod packet;
pub mod packets;
pub mod port;
pub mod queue;
pub mod sack;
mod switch;
pub mod topology;

pub use packet::{Ecn, Flags, Packet, RouteId, Trigger};
pub use packets::{PacketId, Packets, Parcel};
pub use port::{Admission, Port, PortConfig, PortId, Service};
pub use sack::SackBlocks;
