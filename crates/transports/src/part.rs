//! The lists of the parts of transports.

/// Declares the list of a kind of part: the names that a scenario uses, and how the part of each
/// name is built.
macro_rules! parts {
    ($config:ident, $part:ident: $($name:literal => $variant:ident($module:ident): $summary:literal;)+) => {
        /// A part of a transport, as a scenario names it.
        #[derive(Clone, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub enum $config {
            $(#[doc = $summary] #[serde(rename = $name)] $variant,)+
            /// A part that is defined elsewhere.
            #[serde(untagged, skip_deserializing)]
            #[schemars(skip)]
            Foreign(Foreign<dyn $part>),
        }

        /// The list of the parts of this kind.
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
