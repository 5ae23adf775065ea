//! The packets that a connection must send besides lost and new data, in order of urgency.

use incast_engine::Time;
use incast_net::Packet;

use super::Connection;

/// The open demands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Demands(u16);

impl Demands {
    const fn of(demand: Demand) -> u16 {
        1 << demand as u16
    }

    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    #[inline]
    pub fn has(self, demand: Demand) -> bool {
        self.0 & Self::of(demand) != 0
    }

    /// Whether something must be sent before data.
    #[inline]
    pub fn is_urgent(self) -> bool {
        self.0 & URGENT != 0
    }

    #[inline]
    fn take(&mut self, demand: Demand) -> bool {
        let had = self.has(demand);
        self.0 &= !Self::of(demand);
        had
    }
}

/// Declares the demands in the order of their urgency, each with the method that serves it. The
/// method returns whether a packet is sent. If no packet is sent, the next demand is served.
macro_rules! demands {
    (
        before data { $($(#[$early_doc:meta])* $early:ident => $serve_early:ident,)+ }
        after data { $($(#[$late_doc:meta])* $late:ident => $serve_late:ident,)+ }
    ) => {
        /// A packet that must be sent.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Demand {
            $($(#[$early_doc])* $early,)+
            $($(#[$late_doc])* $late,)+
        }

        const URGENT: u16 = $(Demands::of(Demand::$early))|+;

        impl Connection {
            /// Serves the demands before data.
            pub(super) fn poll_urgent(&mut self, now: Time, out: &mut Packet) -> bool {
                $(while self.owed.take(Demand::$early) {
                    if self.$serve_early(now, out) {
                        return true;
                    }
                })+
                false
            }

            /// Serves the demands after data.
            #[inline]
            pub(super) fn poll_patient(&mut self, now: Time, out: &mut Packet) -> bool {
                $(while self.owed.take(Demand::$late) {
                    if self.$serve_late(now, out) {
                        return true;
                    }
                })+
                false
            }
        }
    };
}

demands! {
    before data {
        /// An ACK that reports the marks up to the previous packet.
        FlushAck => send_flush,
        Syn => send_first_syn,
        SynAck => send_syn_ack,
        Request => send_request,
        /// The first lost segment, or else the first unacknowledged segment.
        Head => send_head,
        /// The first unacknowledged segment, if rate reduction allows a segment.
        Hole => send_hole,
        /// A segment for a partial ACK, regardless of the pipe.
        PartialAck => answer_partial_ack,
        TailProbe => send_tail_probe,
        CopyHead => copy_head,
        CopyHighest => copy_highest,
        WindowProbe => send_window_probe,
        EmptyProbe => send_empty_probe,
        FinAgain => send_fin_again,
    }
    after data {
        /// A pure ACK. It is not sent if a data packet is sent first, because the data packet
        /// carries the ACK.
        Ack => send_ack,
        /// The first delayed packet is due.
        Held => send_held,
    }
}

impl Connection {
    #[inline]
    pub(super) fn owe(&mut self, demand: Demand) {
        self.owed.0 |= Demands::of(demand);
    }

    #[inline]
    pub(super) fn waive(&mut self, demand: Demand) {
        self.owed.0 &= !Demands::of(demand);
    }
}
