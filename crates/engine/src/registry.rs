//! Common parts of registries: entries, entries from elsewhere, and errors in parameters.

use std::fmt;
use std::sync::Arc;

use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

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

/// An entry that is defined elsewhere, in another crate or in a test: its name, and what builds it.
pub struct Foreign<T: ?Sized> {
    name: &'static str,
    build: Arc<dyn Fn() -> Box<T> + Send + Sync>,
}

impl<T: ?Sized> Foreign<T> {
    /// An entry called `name`.
    pub fn new(name: &'static str, build: impl Fn() -> Box<T> + Send + Sync + 'static) -> Self {
        Self { name, build: Arc::new(build) }
    }

    /// The name of the entry.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// A new instance.
    pub fn build(&self) -> Box<T> {
        (self.build)()
    }
}

impl<T: ?Sized> Clone for Foreign<T> {
    fn clone(&self) -> Self {
        Self { name: self.name, build: Arc::clone(&self.build) }
    }
}

impl<T: ?Sized> fmt::Debug for Foreign<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Two entries are equal if the same factory builds them.
impl<T: ?Sized> PartialEq for Foreign<T> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.build, &other.build)
    }
}

/// Writes a table with the name of the entry.
impl<T: ?Sized> Serialize for Foreign<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut table = serializer.serialize_struct("Foreign", 1)?;
        table.serialize_field("entry", self.name)?;
        table.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_from_elsewhere_builds_has_a_name_and_equals_itself() {
        let seven = Foreign::<dyn Fn() -> u32>::new("seven", || Box::new(|| 7));
        assert_eq!((seven.build()(), seven.name()), (7, "seven"));
        let again = Foreign::<dyn Fn() -> u32>::new("seven", || Box::new(|| 7));
        assert!(seven == seven.clone() && seven != again, "another factory");
        assert_eq!(format!("{seven:?}"), "seven");
        assert_eq!(serde_json::json!(seven), serde_json::json!({ "entry": "seven" }));
    }
}
