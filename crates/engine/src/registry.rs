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

    /// Refuses a `value` of `key` that is not a probability.
    ///
    /// # Errors
    /// What the value is and what it may be.
    pub fn unless_probability(key: &'static str, value: f64) -> Result<(), Self> {
        if (0.0..=1.0).contains(&value) {
            return Ok(());
        }
        Err(Self::new(key, format!("{value} is out of range; must be 0 to 1, e.g. 0.01")))
    }
}
