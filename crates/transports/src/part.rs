//! The lists of the parts of transports.

use std::fmt;
use std::sync::Arc;

/// Builds a part that is defined elsewhere, for each end that needs it.
pub struct Foreign<T: ?Sized> {
    name: &'static str,
    build: Arc<dyn Fn() -> Box<T> + Send + Sync>,
}

impl<T: ?Sized> Foreign<T> {
    /// A part called `name`.
    pub fn new(name: &'static str, build: impl Fn() -> Box<T> + Send + Sync + 'static) -> Self {
        Self { name, build: Arc::new(build) }
    }

    pub(crate) fn build(&self) -> Box<T> {
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

impl<T: ?Sized> serde::Serialize for Foreign<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}

/// Declares the list of a part: the names that a scenario uses, and how each is built.
macro_rules! parts {
    ($config:ident, $part:ident: $($name:literal => $variant:ident($module:ident): $summary:literal;)+) => {
        /// A part of a transport, as a scenario names it.
        #[derive(Clone, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub enum $config {
            $(#[doc = $summary] #[serde(rename = $name)] $variant,)+
            /// A part that is defined elsewhere.
            #[serde(untagged, skip_deserializing)]
            #[schemars(skip)]
            Foreign($crate::part::Foreign<dyn $part>),
        }

        /// The list of this part.
        pub const ENTRIES: &[Entry] = &[$(Entry { name: $name, summary: $summary },)+];

        impl $config {
            /// A new part for one end.
            pub fn build(&self) -> Box<dyn $part> {
                match self {
                    $(Self::$variant => Box::new($module::$variant::default()),)+
                    Self::Foreign(factory) => factory.build(),
                }
            }
        }
    };
}
pub(crate) use parts;
