//! The ground of every registry: what an entry is called, and why its parameters make no sense.

/// One entry of a registry, for `incast list` and the docs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name that a scenario writes.
    pub name: &'static str,
    /// One line for people.
    pub summary: &'static str,
}

/// Why parameters make no sense: the key, then what was given and what would be accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The parameter.
    pub key: &'static str,
    /// What is wrong with it and what to write instead.
    pub message: String,
}

impl Fault {
    /// `key` is at fault, and `message` says why.
    pub fn new(key: &'static str, message: impl Into<String>) -> Self {
        Self { key, message: message.into() }
    }
}
