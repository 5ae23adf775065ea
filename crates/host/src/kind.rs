//! The interface of transports of other families than TCP.

use std::fmt;

use incast_engine::{Fault, Rate, Span, Stream};
use incast_remedies::schedule::FullPacket;
use serde_json::Value;

use crate::guest::Guest;
use crate::ids::EndId;
use crate::nic::{Nic, NicSite};

/// A transport of another family than TCP, with its parameters.
pub trait Kind: fmt::Debug + Send + Sync {
    /// The name of the family, in lower case.
    fn family(&self) -> &'static str;
    /// Finds the first invalid parameter.
    ///
    /// # Errors
    /// The key of this parameter, and the reason why its value is invalid.
    fn check(&self) -> Result<(), Fault> {
        Ok(())
    }
    /// Payload and header of a full packet.
    fn full_packet(&self) -> FullPacket;
    /// Size of an acknowledgement without data, bytes.
    fn ack_size(&self) -> u32;
    /// The largest number of outstanding bytes of a connection.
    fn window(&self) -> u64;
    /// The shortest time after which a loss is repaired that the receiver does not report.
    fn rto(&self) -> Span;
    /// The properties that the kind needs of the network.
    fn needs(&self) -> Needs {
        Needs::default()
    }
    /// Builds one end of a flow.
    fn end(&self, seat: Seat) -> Box<dyn Guest>;
    /// The card of a host with ends of this kind; `None` if the host needs no card.
    fn nic(&self, site: NicSite) -> Option<Box<dyn Nic>> {
        let _ = site;
        None
    }
    /// The transport's table as a scenario writes it, with all keys and with values in base units.
    fn table(&self) -> Value;
}

/// The properties that a kind needs of the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The sender chooses among all shortest paths, packet by packet.
    pub paths: bool,
}

/// One end of a new flow.
#[derive(Clone, Debug)]
pub struct Seat {
    /// The end.
    pub end: EndId,
    /// Number of the connection among the connections of this flow, counted from 0.
    pub incarnation: u32,
    /// Rate of the line of the end's host.
    pub rate: Rate,
    /// Round trip of one full packet and its acknowledgement on the idle network, serialisation
    /// included.
    pub base_rtt: Span,
    /// The random stream of this end.
    pub random: Stream,
}
