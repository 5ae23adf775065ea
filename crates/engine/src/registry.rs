//! Common parts of registries: entries, entries from elsewhere, and errors in parameters.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize as _, Deserializer};
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

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
    /// The parameter: its dotted key below the table that is checked.
    pub key: Cow<'static, str>,
    /// The given value and the accepted values.
    pub message: String,
}

impl Fault {
    /// `key` is wrong for the reason in `message`.
    pub fn new(key: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { key: key.into(), message: message.into() }
    }

    /// This error in the table above, which has the parameter's table at `key`.
    #[must_use]
    pub fn below(self, key: &str) -> Self {
        Self { key: format!("{key}.{}", self.key).into(), ..self }
    }
}

/// Builds an instance at a site.
type Build<T, Site> = dyn Fn(&Site) -> Box<T> + Send + Sync;

/// An entry that is defined elsewhere, in another crate or in a test: its name, and what builds an
/// instance of it at a site.
pub struct Foreign<T: ?Sized, Site: ?Sized = ()> {
    name: &'static str,
    build: Arc<Build<T, Site>>,
}

impl<T: ?Sized, Site: ?Sized> Foreign<T, Site> {
    /// An entry called `name`.
    pub fn new(
        name: &'static str,
        build: impl Fn(&Site) -> Box<T> + Send + Sync + 'static,
    ) -> Self {
        Self { name, build: Arc::new(build) }
    }

    /// The name of the entry.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// A new instance at this site.
    pub fn build(&self, site: &Site) -> Box<T> {
        (self.build)(site)
    }
}

impl<T: ?Sized, Site: ?Sized> Clone for Foreign<T, Site> {
    fn clone(&self) -> Self {
        Self { name: self.name, build: Arc::clone(&self.build) }
    }
}

impl<T: ?Sized, Site: ?Sized> fmt::Debug for Foreign<T, Site> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Two entries are equal if the same factory builds them.
impl<T: ?Sized, Site: ?Sized> PartialEq for Foreign<T, Site> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.build, &other.build)
    }
}

/// Writes a table with the name of the entry.
impl<T: ?Sized, Site: ?Sized> Serialize for Foreign<T, Site> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        name_only(self.name, serializer)
    }
}

/// An entry that is defined elsewhere, with its parameters: its name, and the instance that all
/// users share.
pub struct Elsewhere<T: ?Sized> {
    name: &'static str,
    entry: Arc<T>,
}

impl<T: ?Sized> Elsewhere<T> {
    /// An entry called `name`.
    pub fn new(name: &'static str, entry: Arc<T>) -> Self {
        Self { name, entry }
    }

    /// The name of the entry.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The entry.
    pub fn entry(&self) -> &T {
        &self.entry
    }
}

impl<T: ?Sized> Clone for Elsewhere<T> {
    fn clone(&self) -> Self {
        Self { name: self.name, entry: Arc::clone(&self.entry) }
    }
}

impl<T: ?Sized> fmt::Debug for Elsewhere<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Two entries are equal if they share an instance.
impl<T: ?Sized> PartialEq for Elsewhere<T> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.entry, &other.entry)
    }
}

/// Writes a table with the name of the entry.
impl<T: ?Sized> Serialize for Elsewhere<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        name_only(self.name, serializer)
    }
}

/// Writes the table of an entry that is defined elsewhere.
fn name_only<S: Serializer>(name: &str, serializer: S) -> Result<S::Ok, S::Error> {
    let mut table = serializer.serialize_struct("Foreign", 1)?;
    table.serialize_field("entry", name)?;
    table.end()
}

/// The parameters of an entry that [`parts!`](crate::parts) declares.
pub trait Parameters<Part: ?Sized, Site: ?Sized> {
    /// Finds the first invalid parameter.
    ///
    /// # Errors
    /// The key of this parameter, and the reason why its value is invalid.
    fn check(&self) -> Result<(), Fault> {
        Ok(())
    }

    /// A new instance with these parameters at this site.
    fn build(&self, site: &Site) -> Box<Part>;
}

/// Reads an entry of a registry, as a table. An entry that is given by its name becomes a table with
/// only this name.
///
/// # Errors
/// The value cannot be read.
pub fn named<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    let given = Value::deserialize(deserializer)?;
    Ok(if given.is_string() { json!({ "name": given }) } else { given })
}

/// Declares the registry of a kind of part: the names that a scenario uses, and the modules of the
/// parts. Each module has a type `Params` that implements [`Parameters`].
#[macro_export]
macro_rules! parts {
    (
        $(#[$about:meta])*
        $config:ident of $part:ident at $site:ty:
        $($name:literal => $variant:ident($module:ident): $summary:literal;)+
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(tag = "name", expecting = "a table", remote = "Self")]
        pub enum $config {
            $(#[doc = $summary] #[serde(rename = $name)] $variant($module::Params),)+
            /// An entry that is defined elsewhere.
            #[serde(rename = "foreign", skip_deserializing)]
            #[schemars(skip)]
            Foreign($crate::Foreign<dyn $part, $site>),
        }

        impl serde::Serialize for $config {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                Self::serialize(self, serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $config {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let table = $crate::registry::named(deserializer)?;
                Self::deserialize(table).map_err(serde::de::Error::custom)
            }
        }

        /// The list of the entries.
        pub const ENTRIES: &[$crate::Entry] =
            &[$($crate::Entry { name: $name, summary: $summary },)+];

        impl $config {
            /// Finds the first invalid parameter.
            ///
            /// # Errors
            /// The key of this parameter, and the reason why its value is invalid.
            pub fn check(&self) -> Result<(), $crate::Fault> {
                match self {
                    $(Self::$variant(params) => {
                        $crate::Parameters::<dyn $part, $site>::check(params)
                    })+
                    Self::Foreign(_) => Ok(()),
                }
            }

            /// A new instance at this site.
            pub fn build(&self, site: &$site) -> Box<dyn $part> {
                match self {
                    $(Self::$variant(params) => $crate::Parameters::build(params, site),)+
                    Self::Foreign(entry) => entry.build(site),
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_from_elsewhere_builds_has_a_name_and_equals_itself() {
        let entry = || {
            Foreign::<dyn Fn() -> u32, u32>::new("seven", |site| {
                let sum = 3 + site;
                Box::new(move || sum)
            })
        };
        let (seven, again) = (entry(), entry());
        assert_eq!((seven.build(&4)(), seven.name()), (7, "seven"));
        assert!(seven == seven.clone() && seven != again, "another factory");
        assert_eq!(format!("{seven:?}"), "seven");
        assert_eq!(json!(seven), json!({ "entry": "seven" }));
    }

    #[test]
    fn an_instance_from_elsewhere_is_shared_and_equals_itself() {
        let entry = || Elsewhere::<dyn Fn() -> u32 + Send>::new("eight", Arc::new(|| 8));
        let (eight, again) = (entry(), entry());
        assert_eq!((eight.entry()(), eight.name()), (8, "eight"));
        assert!(eight == eight.clone() && eight != again, "another instance");
        assert_eq!(
            (format!("{eight:?}"), json!(eight)),
            ("eight".into(), json!({ "entry": "eight" }))
        );
    }
}
