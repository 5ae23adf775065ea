//! Datagrams at equal intervals.

/// The keys of datagrams.
pub type Params = crate::datagrams::Spaced<false>;
