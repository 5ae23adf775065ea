//! Common parts of registries: entries, and errors in parameters.

/// One entry of a registry, for `incast list` and the docs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name that a scenario writes.
    pub name: &'static str,
    /// One line for people.
    pub summary: &'static str,
}

/// Where the state of an entry lies: `Here`, in its owner, or in a `Box`, which keeps owners small
/// that use another entry.
pub type Here<T> = T;

/// An error in a parameter: the key, then the given and the accepted values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The parameter.
    pub key: &'static str,
    /// What is wrong with it and what to write instead.
    pub message: String,
}

impl Fault {
    /// `key` is wrong for the reason in `message`.
    pub fn new(key: &'static str, message: impl Into<String>) -> Self {
        Self { key, message: message.into() }
    }
}
