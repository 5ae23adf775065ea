//! Datagrams at exponentially distributed intervals.

/// The keys of datagrams.
pub type Params = crate::datagrams::Spaced<true>;
