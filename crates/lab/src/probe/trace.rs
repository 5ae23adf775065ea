//! The traces that are requested, and the traces that a run records.

use std::fmt;

use incast_engine::Time;
use incast_host::milestone::EventRow;
use incast_host::{End, EndId};
use incast_net::topology::Network;
use incast_net::{Packet, PortId};

use super::{Detail, KINDS, Kind, Listener, Probe, Table, Trace, TraceKind};

/// Receives parts of the traces' tables during the run.
pub type Sink = Box<dyn FnMut(Table) + Send>;

/// The sink of the trace, if there is one.
#[derive(Default)]
pub struct Spillway(Option<Sink>);

impl fmt::Debug for Spillway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Spillway").field(&self.0.is_some()).finish()
    }
}

/// The traces that a run records.
#[derive(Clone, Debug, Default)]
pub struct TraceRequest {
    asked: Vec<(&'static str, Detail)>,
    pub(super) outside: Vec<(Kind, Detail)>,
}

impl TraceRequest {
    /// Parses names such as `queue`, `cwnd:full`, `events`.
    ///
    /// # Errors
    /// The error is one line with the unknown name and the accepted names.
    pub fn parse<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let mut request = Self::default();
        for name in names {
            let full = name.strip_suffix(":full");
            let detail = full.map_or(Detail::Binned, |_| Detail::Full);
            let Some(kind) = KINDS.iter().find(|kind| kind.name == full.unwrap_or(name)) else {
                let known = KINDS.map(|kind| kind.name).join(", ");
                return Err(format!(
                    "trace {name:?} is unknown; choose from {known}, each with or without :full"
                ));
            };
            request.asked.push((kind.name, detail));
        }
        Ok(request)
    }

    /// Adds a trace of a kind that is not in the list.
    #[must_use]
    pub fn with<K: TraceKind>(mut self, detail: Detail) -> Self {
        self.outside.push((Kind::of::<K>(), detail));
        self
    }

    /// Whether no trace is requested.
    pub fn is_empty(&self) -> bool {
        self.asked.is_empty() && self.outside.is_empty()
    }

    /// The resolution of the trace called `name`, if this trace is requested.
    pub(super) fn detail(&self, name: &str) -> Option<Detail> {
        self.asked.iter().rev().find(|(asked, _)| *asked == name).map(|(_, detail)| *detail)
    }
}

/// Declares the kinds of traces, and the listener that records the requested traces.
macro_rules! kinds {
    ($($name:ident: $kind:ty,)+) => {
        /// The kinds of traces.
        pub const KINDS: [Kind; [$(stringify!($name)),+].len()] = [$(Kind::of::<$kind>()),+];

        /// The recorded traces.
        #[derive(Debug, Default)]
        pub struct Trace {
            $(#[doc = concat!("See [`", stringify!($kind), "`].")] pub $name: Option<$kind>,)+
            /// Traces of kinds that are not in the list ([`TraceRequest::with`]).
            pub outside: Vec<Box<dyn Recorder>>,
            /// A capture of the packets.
            pub(crate) tap: Option<$crate::tap::Tap>,
            spillway: $crate::probe::trace::Spillway,
        }

        impl Trace {
            /// Empty traces.
            pub fn new(request: &TraceRequest, setting: &Setting) -> Self {
                let detail = |name: &str| request.detail(name);
                let outside = request.outside.iter();
                Self {
                    $($name: detail(<$kind>::NAME).map(|detail| <$kind>::new(detail, setting)),)+
                    outside: outside.map(|(kind, detail)| (kind.build)(*detail, setting)).collect(),
                    tap: None,
                    spillway: $crate::probe::trace::Spillway::default(),
                }
            }

            /// Completes the traces at the end of the run.
            pub fn finish(&mut self, now: Time, network: &mut Network) {
                self.each(|trace| trace.finish(now, network));
                if let Some(tap) = &mut self.tap {
                    tap.finish();
                }
            }

            /// The recorded tables, one per kind.
            pub fn tables(&self) -> Vec<Table> {
                let listed = [$(self.$name.as_ref().map(|trace| trace.table())),+];
                let outside = self.outside.iter().map(|trace| trace.table());
                listed.into_iter().flatten().chain(outside).collect()
            }

            /// Calls `call` with each recorder. The kinds are known at compile time, so the calls
            /// are direct.
            #[inline(always)]
            fn each(&mut self, mut call: impl FnMut(&mut dyn Recorder)) {
                $(if let Some(trace) = &mut self.$name { call(trace) })+
                for trace in &mut self.outside { call(trace.as_mut()) }
            }
        }
    };
}
pub(super) use kinds;

impl Trace {
    /// Passes parts of the tables to `sink` during the run. The parts of a series are in the order
    /// of their times.
    pub fn spill_to(&mut self, sink: Sink) {
        self.spillway = Spillway(Some(sink));
    }
}

impl Probe for Trace {
    fn spill(&mut self, network: &Network) {
        let Some(mut sink) = self.spillway.0.take() else { return };
        self.each(|trace| {
            if let Some(part) = trace.spill(network) {
                sink(part);
            }
        });
        self.spillway = Spillway(Some(sink));
    }
}

impl Listener for Trace {
    fn before_offer(&mut self, now: Time, port: PortId, network: &mut Network) {
        self.each(|trace| trace.before_offer(now, port, network));
    }

    fn after_offer(&mut self, now: Time, port: PortId, packet: &Packet, network: &Network) {
        self.each(|trace| trace.after_offer(now, port, packet, network));
        if let Some(tap) = &mut self.tap {
            tap.after_offer(now, port, packet, network);
        }
    }

    fn before_departure(&mut self, now: Time, port: PortId, network: &mut Network) {
        self.each(|trace| trace.before_departure(now, port, network));
    }

    fn on_late_drop(&mut self, now: Time, port: PortId, packet: &Packet) {
        self.each(|trace| trace.on_late_drop(now, port, packet));
        if let Some(tap) = &mut self.tap {
            tap.on_late_drop(now, port, packet);
        }
    }

    fn after_departure(&mut self, now: Time, port: PortId, network: &Network) {
        self.each(|trace| trace.after_departure(now, port, network));
    }

    fn before_arrival(&mut self, now: Time, port: PortId, network: &mut Network) {
        self.each(|trace| trace.before_arrival(now, port, network));
    }

    fn on_drop(&mut self, now: Time, port: PortId, packet: &Packet) {
        self.each(|trace| trace.on_drop(now, port, packet));
        if let Some(tap) = &mut self.tap {
            tap.on_drop(now, port, packet);
        }
    }

    fn on_arrival(&mut self, now: Time, port: PortId, packet: &Packet) {
        self.each(|trace| trace.on_arrival(now, port, packet));
        if let Some(tap) = &mut self.tap {
            tap.on_arrival(now, port, packet);
        }
    }

    fn on_served(&mut self, now: Time, id: EndId, end: &End) {
        self.each(|trace| trace.on_served(now, id, end));
    }

    fn on_event(&mut self, row: EventRow) {
        self.each(|trace| trace.on_event(row));
        if let Some(tap) = &mut self.tap {
            tap.on_event(row);
        }
    }
}
