//! Initial and maximum windows: `initial_window`, `window_unit`, `initial_ssthresh`,
//! `receive_window`.

use incast_engine::quantity::MOST_BYTES;
use incast_engine::{Fault, Name, OrName, Window};
use incast_tcp::Config;
use incast_tcp::config::WindowUnit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An initial window that depends on the segment size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum InitialWindow {
    Rfc5681,
    Rfc6928,
}

impl Name for InitialWindow {
    const NAMES: &'static [(&'static str, Self, &'static str)] = &[
        (
            "rfc5681",
            Self::Rfc5681,
            "4 segments for an MSS up to 1095 bytes, 3 segments up to 2190 bytes, else 2 segments.",
        ),
        ("rfc6928", Self::Rfc6928, "min(10 MSS, max(2 MSS, 14600)) bytes."),
    ];
}

impl InitialWindow {
    fn bytes(self, mss: u32) -> u64 {
        let mss = u64::from(mss);
        match self {
            // RFC 5681 §3.1.
            Self::Rfc5681 if mss > 2190 => 2 * mss,
            Self::Rfc5681 if mss > 1095 => 3 * mss,
            Self::Rfc5681 => 4 * mss,
            // RFC 6928 §2, equation 1.
            Self::Rfc6928 => (10 * mss).min(14_600.max(2 * mss)),
        }
    }
}

/// A slow-start threshold by name: the largest window that the receiver may advertise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum SsthreshName {
    ReceiveWindow,
}

impl Name for SsthreshName {
    const NAMES: &'static [(&'static str, Self, &'static str)] =
        &[("receive_window", Self::ReceiveWindow, "The value of `receive_window`.")];
}

#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Windows {
    /// Congestion window of a new connection, in segments or bytes, or a name.
    pub(super) initial_window: OrName<InitialWindow, Window>,
    /// Unit of the congestion window, the slow-start threshold and the outstanding data. With
    /// `packets`, a short segment counts as a full segment (Linux).
    pub(super) window_unit: WindowUnit,
    /// Slow-start threshold of a new connection, in segments or bytes, or a name (RFC 5681 §3.1:
    /// arbitrarily high).
    pub(super) initial_ssthresh: OrName<SsthreshName, Window>,
    /// The receiver's buffer, which is the largest advertised window, in segments or bytes.
    pub(super) receive_window: Window,
}

/// Windows are advertised in 32 bits.
const MAX_WINDOW: u64 = u32::MAX as u64;

impl Windows {
    /// Refuses windows that no header can advertise, and thresholds that are too large. `mss` is in
    /// bytes.
    pub(super) fn check(&self, mss: u32) -> Result<(), Fault> {
        let windows =
            [("initial_window", self.initial(mss)), ("receive_window", self.receive(mss))];
        for (key, value) in windows {
            if !(1..=MAX_WINDOW).contains(&value) {
                let message = format!(
                    "{value} bytes are out of range; write segments, e.g. 10, or \"1B\" to \
                     \"{MAX_WINDOW}B\""
                );
                return Err(Fault::new(key, message));
            }
        }
        let threshold = self.ssthresh(mss);
        if threshold > MOST_BYTES {
            let most = MOST_BYTES / u64::from(mss);
            let message = format!(
                "{threshold} bytes are out of range; write at most {most} segments, or \"100TB\""
            );
            return Err(Fault::new("initial_ssthresh", message));
        }
        Ok(())
    }

    /// The initial window, bytes.
    pub(super) fn initial(&self, mss: u32) -> u64 {
        match self.initial_window {
            OrName::Name(name) => name.bytes(mss),
            OrName::Quantity(window) => window.bytes(mss),
        }
    }

    /// The initial slow-start threshold, bytes.
    pub(super) fn ssthresh(&self, mss: u32) -> u64 {
        match self.initial_ssthresh {
            OrName::Name(SsthreshName::ReceiveWindow) => self.receive(mss),
            OrName::Quantity(window) => window.bytes(mss),
        }
    }

    /// The largest window that is advertised, bytes.
    pub(super) fn receive(&self, mss: u32) -> u64 {
        self.receive_window.bytes(mss)
    }

    pub(super) fn of(tcp: &Config) -> Self {
        Self {
            initial_window: OrName::Quantity(Window::Bytes(tcp.initial_window)),
            window_unit: tcp.window_unit,
            initial_ssthresh: OrName::Quantity(Window::Bytes(tcp.initial_ssthresh)),
            receive_window: Window::Bytes(tcp.receive_window),
        }
    }
}
