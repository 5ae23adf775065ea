//! Sizes of packets: `mss`, `header_size`, `ack_size`.

use incast_engine::{Fault, Size};
use incast_tcp::Config;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Segments {
    /// Payload of a full segment, in bytes, 1 to 65535 (SMSS, RFC 5681 §2).
    pub(super) mss: Size,
    /// TCP/IP header of a data segment, in bytes, 0 to 255. Default with `timestamps`: 52.
    pub(super) header_size: Size,
    /// Size of a packet without payload (ACK, SYN, FIN), in bytes, 1 to 255. Default with
    /// `timestamps`: 52.
    pub(super) ack_size: Size,
}

/// The largest payload, because a packet stores the length of its payload in 16 bits.
const MAX_SEGMENT: u64 = u16::MAX as u64;

impl Segments {
    pub(super) fn check(&self) -> Result<(), Fault> {
        for (key, Size(value), least, most) in [
            ("mss", self.mss, 1, MAX_SEGMENT),
            ("header_size", self.header_size, 0, 255),
            ("ack_size", self.ack_size, 1, 255),
        ] {
            if !(least..=most).contains(&value) {
                let message = format!("{value} is out of range; must be {least} to {most} bytes");
                return Err(Fault::new(key, message));
            }
        }
        Ok(())
    }

    /// Payload of a full segment, in bytes.
    pub(super) fn mss(&self) -> u32 {
        self.mss.0.try_into().unwrap_or(u32::MAX)
    }

    pub(super) fn of(tcp: &Config) -> Self {
        Self {
            mss: Size(tcp.mss.into()),
            header_size: Size(tcp.header.into()),
            ack_size: Size(tcp.ack_size.into()),
        }
    }
}
