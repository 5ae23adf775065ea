//! The size of a flow.

use std::borrow::Cow;

use incast_engine::{Fault, Size, Stream};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// Bytes of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FlowSize {
    /// A constant size.
    Fixed(u64),
    /// Uniform between two sizes, both included.
    Uniform(u64, u64),
    /// Bounded Pareto between two sizes: many short flows, and most bytes in few long flows.
    Pareto {
        /// The smallest size.
        min: u64,
        /// The largest size.
        max: u64,
        /// The exponent of the tail.
        shape: f64,
    },
}

impl FlowSize {
    /// Draws a size.
    pub fn draw(self, random: &mut Stream) -> u64 {
        match self {
            Self::Fixed(bytes) => bytes,
            Self::Uniform(min, max) => min + random.below(max - min + 1),
            Self::Pareto { min, max, shape } => {
                // The inverse of the distribution function.
                let below = 1.0 - libm::pow(min as f64 / max as f64, shape);
                let tail = libm::pow(1.0 - random.unit() * below, 1.0 / shape);
                ((min as f64 / tail) as u64).clamp(min, max)
            }
        }
    }

    /// The largest size that may be drawn.
    pub const fn most(self) -> u64 {
        match self {
            Self::Fixed(bytes) => bytes,
            Self::Uniform(_, max) | Self::Pareto { max, .. } => max,
        }
    }
}

/// Bytes of a flow: a size, or a distribution.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "FlowSize")]
enum Distribution {
    /// Uniform between two sizes, both included.
    Uniform {
        /// The smallest size, bytes. No default.
        min: Size,
        /// The largest size, bytes. No default.
        max: Size,
    },
    /// Bounded Pareto between two sizes: many short flows, and most bytes in few long flows.
    Pareto {
        /// The smallest size, bytes. No default.
        min: Size,
        /// The largest size, bytes. No default.
        max: Size,
        /// The exponent of the tail, above 0.
        #[serde(default = "heavy")]
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        shape: f64,
    },
}

const fn heavy() -> f64 {
    1.1
}

impl FlowSize {
    /// Refuses an invalid size or distribution, in a key called `size`.
    pub(crate) fn check(self) -> Result<(), Fault> {
        let no_bytes = "must be at least 1 byte";
        match self {
            Self::Fixed(0) => Err(Fault::new("size", no_bytes)),
            Self::Uniform(0, _) | Self::Pareto { min: 0, .. } => {
                Err(Fault::new("size.min", no_bytes))
            }
            Self::Uniform(min, max) | Self::Pareto { min, max, .. } if max < min => Err(
                Fault::new("size.max", format!("{max} is less than min; must be at least {min}")),
            ),
            _ => Ok(()),
        }
    }
}

impl Serialize for FlowSize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Self::Fixed(bytes) => Size(bytes).serialize(serializer),
            FlowSize::Uniform(min, max) => {
                Distribution::Uniform { min: Size(min), max: Size(max) }.serialize(serializer)
            }
            FlowSize::Pareto { min, max, shape } => {
                Distribution::Pareto { min: Size(min), max: Size(max), shape }.serialize(serializer)
            }
        }
    }
}

impl<'de> Deserialize<'de> for FlowSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        if !value.is_object() {
            return serde_json::from_value(value)
                .map(|Size(bytes)| Self::Fixed(bytes))
                .map_err(D::Error::custom);
        }
        let size = match serde_json::from_value(value).map_err(D::Error::custom)? {
            Distribution::Uniform { min: Size(min), max: Size(max) } => FlowSize::Uniform(min, max),
            Distribution::Pareto { min: Size(min), max: Size(max), shape } => {
                FlowSize::Pareto { min, max, shape }
            }
        };
        Ok(size)
    }
}

impl JsonSchema for FlowSize {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "FlowSizes".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let size = generator.subschema_for::<Size>();
        let table = generator.subschema_for::<Distribution>();
        json_schema!({ "anyOf": [size, table] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_stay_within_their_bounds_and_have_the_mean_of_their_law() {
        let mut random = Stream::named(1, "sizes", 0);
        let mut mean = |size: FlowSize| {
            let draws: Vec<u64> = (0..100_000).map(|_| size.draw(&mut random)).collect();
            let (min, max) = (draws.iter().min(), draws.iter().max());
            let sum: u64 = draws.iter().sum();
            (*min.expect("some"), *max.expect("some"), sum as f64 / draws.len() as f64)
        };
        assert_eq!(mean(FlowSize::Fixed(700)), (700, 700, 700.0));
        let (min, max, average) = mean(FlowSize::Uniform(3, 5));
        assert_eq!((min, max), (3, 5));
        assert!((average - 4.0).abs() < 0.02, "{average}");
        let (l, h, a) = (1_000.0_f64, 1_000_000.0_f64, 1.2_f64);
        let expected = a / (a - 1.0) * l * (1.0 - (l / h).powf(a - 1.0)) / (1.0 - (l / h).powf(a));
        let pareto = FlowSize::Pareto { min: 1_000, max: 1_000_000, shape: 1.2 };
        let (min, max, average) = mean(pareto);
        assert!(min >= 1_000 && max <= 1_000_000);
        assert!((average / expected - 1.0).abs() < 0.1, "{average}, not {expected}");
    }
}
