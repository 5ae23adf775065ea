//! Flat tables: a table of a document whose keys belong to several types. Each type defines its
//! keys with their meanings, ranges and checks.

use serde::Deserialize;
use serde::de::value::Error as Refusal;
use serde::de::{DeserializeOwned, Deserializer, Error, Visitor};
use serde_json::{Map, Value};

use super::document::MISSING_KEY;

/// The keys of `T`, from its `Deserialize`.
pub(super) fn keys<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut keys: &'static [&'static str] = &[];
    // The result is always an error, after the keys have been recorded.
    let _refused = T::deserialize(Listener(&mut keys));
    keys
}

/// Records the keys that a struct expects.
struct Listener<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Listener<'_> {
    type Error = Refusal;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Refusal> {
        Err(Refusal::custom("only the keys are wanted"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        *self.0 = fields;
        self.deserialize_any(visitor)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// A table of a document, from which types take their keys.
pub(super) struct Keys {
    given: Map<String, Value>,
    /// The first error. Missing keys are reported only if there is no other error.
    fault: Option<String>,
}

impl Keys {
    /// Reads a table, and refuses keys that are not in `known`.
    pub(super) fn read<'de, D: Deserializer<'de>>(
        deserializer: D,
        known: &[&[&'static str]],
    ) -> Result<Self, D::Error> {
        let given = match Value::deserialize(deserializer)? {
            Value::Object(given) => given,
            other => {
                return Err(D::Error::custom(format!("invalid type: {other}, expected a table")));
            }
        };
        let known = known.concat();
        let unknown = given.keys().find(|key| !known.contains(&key.as_str()));
        let fault = unknown
            .map(|key| format!("unknown field `{key}`, expected one of `{}`", known.join("`, `")));
        Ok(Self { given, fault })
    }

    /// Takes the keys of `T`.
    pub(super) fn take<T: DeserializeOwned>(&mut self) -> Option<T> {
        let own = keys::<T>().iter();
        let own = own.filter_map(|key| Some(((*key).to_owned(), self.given.remove(*key)?)));
        let own: Map<String, Value> = own.collect();
        let fault = match serde_json::from_value(Value::Object(own)) {
            Ok(table) => return Some(table),
            Err(fault) => fault.to_string(),
        };
        let is_graver =
            |known: &String| known.starts_with(MISSING_KEY) && !fault.starts_with(MISSING_KEY);
        if self.fault.as_ref().is_none_or(is_graver) {
            self.fault = Some(fault);
        }
        None
    }

    /// Refuses the table if there was an error.
    pub(super) fn refuse<E: Error>(self) -> Result<(), E> {
        self.fault.map_or(Ok(()), |fault| Err(E::custom(fault)))
    }
}

/// Declares a flat table of several types.
macro_rules! flat {
    (
        $(#[$about:meta])*
        $visibility:vis struct $name:ident {
            $($(#[$meaning:meta])* $field:ident: $type:ty,)+
        }
    ) => {
        #[derive(Clone, PartialEq, serde::Serialize, schemars::JsonSchema)]
        #[schemars(deny_unknown_fields)]
        $(#[$about])*
        $visibility struct $name {
            $($(#[$meaning])* #[serde(flatten)] pub(super) $field: $type,)+
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let known = [$($crate::flat::keys::<$type>(),)+];
                let mut keys = $crate::flat::Keys::read(deserializer, &known)?;
                $(let $field = keys.take::<$type>();)+
                keys.refuse()?;
                let table = || Some(Self { $($field: $field?,)+ });
                Ok(table().expect("keys that could not be read were refused"))
            }
        }
    };
}
pub(super) use flat;
