//! Common parts of registries: entries, and errors in parameters.

/// An entry of a registry, for `incast list` and the docs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name in scenarios.
    pub name: &'static str,
    /// A description of one line.
    pub summary: &'static str,
}

/// Storage of an entry's state: `Here` is in its owner. Large states are in a `Box`, so that owners
/// of other entries stay small.
pub type Here<T> = T;

/// An error in a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The parameter.
    pub key: &'static str,
    /// The given value, and what it must be.
    pub message: String,
}

impl Fault {
    /// `key` is wrong for the reason in `message`.
    pub fn new(key: &'static str, message: impl Into<String>) -> Self {
        Self { key, message: message.into() }
    }
}
