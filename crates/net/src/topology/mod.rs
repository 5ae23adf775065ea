//! Topologies: which ports exist and which of them a route crosses.

mod network;

pub use network::{Attachment, HostId, Network};

use crate::queue::Entry;

/// The topologies that exist.
pub const ENTRIES: &[Entry] =
    &[Entry { name: "star", summary: "Every host on a link of its own to one switch." }];
