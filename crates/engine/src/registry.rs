//! Common parts of registries: entries, and errors in parameters.

/// An entry of a registry, for `incast list` and the docs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name of the entry in scenarios.
    pub name: &'static str,
    /// A description of one line.
    pub summary: &'static str,
}

/// Storage of an entry's state inside its owner. Large states are in a `Box` instead, so that
/// owners of other entries stay small.
pub type Here<T> = T;

/// An error in a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The parameter.
    pub key: &'static str,
    /// The given value and the accepted values.
    pub message: String,
}

impl Fault {
    /// `key` is wrong for the reason in `message`.
    pub fn new(key: &'static str, message: impl Into<String>) -> Self {
        Self { key, message: message.into() }
    }
}
