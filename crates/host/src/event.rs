//! What an end reports.

use incast_tcp::TimeoutReport;

/// A report of an end, of any family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The connection is open.
    Established,
    /// The client's request arrived.
    Request,
    /// The data up to `End::notify_at` has arrived in order.
    Received,
    /// A retransmission timer expired. TCP reports its state before its reaction to the timeout;
    /// this state shows the cause of the timeout. Other families report no state.
    Timeout(Option<TimeoutReport>),
    /// Loss recovery began.
    FastRetransmit,
    /// Loss recovery ended.
    RecoveryExit,
}

impl From<incast_tcp::Event> for Event {
    #[inline]
    fn from(event: incast_tcp::Event) -> Self {
        match event {
            incast_tcp::Event::Established => Self::Established,
            incast_tcp::Event::Request => Self::Request,
            incast_tcp::Event::Received => Self::Received,
            incast_tcp::Event::Timeout(report) => Self::Timeout(Some(report)),
            incast_tcp::Event::FastRetransmit => Self::FastRetransmit,
            incast_tcp::Event::RecoveryExit => Self::RecoveryExit,
        }
    }
}
