//! The `[run]` table.

use std::borrow::Cow;
use std::fmt;

use incast_engine::Span;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::ScenarioError;

/// Seeds and time limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// One run per seed.
    pub seeds: Vec<u64>,
    /// Simulated time after which a run is aborted.
    pub time_limit: Span,
}

/// Seeds and time limit.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "Run")]
pub(super) struct RunDocument {
    /// Seeds of the random streams, with one run per seed. A number n means the seeds 1 to n; a
    /// list contains the seeds themselves.
    seeds: Seeds,
    /// Simulated time after which a run is aborted, in seconds.
    time_limit: Span,
}

impl RunDocument {
    pub(super) fn build(self) -> Result<Run, ScenarioError> {
        let Self { seeds: Seeds(seeds), time_limit } = self;
        let fail = |key, message| Err(ScenarioError::new(key, message));
        let mut sorted = seeds.clone();
        sorted.sort_unstable();
        let mut pairs = sorted.iter().zip(sorted.iter().skip(1));
        if let Some((twice, _)) = pairs.find(|(one, next)| one == next) {
            return fail("run.seeds", format!("seed {twice} is in the list twice"));
        }
        if let Some(large) = sorted.last().filter(|seed| **seed > LARGEST_SEED) {
            let message = format!("seed {large} is too large; write at most {LARGEST_SEED}");
            return fail("run.seeds", message);
        }
        if seeds.is_empty() {
            return fail(
                "run.seeds",
                "must not be empty; write e.g. 20 for the seeds 1 to 20".to_owned(),
            );
        }
        if time_limit.is_zero() {
            return fail(
                "run.time_limit",
                "must be longer than 0; write e.g. \"1000s\"".to_owned(),
            );
        }
        Ok(Run { seeds, time_limit })
    }
}

impl From<&Run> for RunDocument {
    fn from(run: &Run) -> Self {
        Self { seeds: Seeds(run.seeds.clone()), time_limit: run.time_limit }
    }
}

/// A list of seeds, or their number.
struct Seeds(Vec<u64>);

/// An upper bound that catches typing errors.
const MOST_SEEDS: u64 = 1_000_000;
/// The largest number that TOML and a column of results can hold.
const LARGEST_SEED: u64 = i64::MAX as u64;

/// Writes a number of seeds instead of a list if possible, because every point of a plan repeats
/// the seeds.
impl Serialize for Seeds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(seeds) = self;
        if !seeds.is_empty() && (1..).zip(seeds).all(|(number, seed): (u64, _)| *seed == number) {
            serializer.serialize_u64(seeds.len() as u64)
        } else {
            seeds.serialize(serializer)
        }
    }
}

struct SeedsVisitor;

impl<'de> Visitor<'de> for SeedsVisitor {
    type Value = Seeds;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of seeds, or a list of seeds")
    }

    fn visit_u64<E: Error>(self, count: u64) -> Result<Seeds, E> {
        if count > MOST_SEEDS {
            let message = format_args!("{count} seeds are too many; write at most {MOST_SEEDS}");
            return Err(E::custom(message));
        }
        Ok(Seeds((1..=count).collect()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Seeds, A::Error> {
        let mut seeds = Vec::new();
        while let Some(seed) = list.next_element()? {
            seeds.push(seed);
            if seeds.len() as u64 > MOST_SEEDS {
                let message = format_args!("there are too many seeds; write at most {MOST_SEEDS}");
                return Err(A::Error::custom(message));
            }
        }
        Ok(Seeds(seeds))
    }
}

impl<'de> Deserialize<'de> for Seeds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SeedsVisitor)
    }
}

impl JsonSchema for Seeds {
    fn schema_name() -> Cow<'static, str> {
        "Seeds".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "integer", "minimum": 1, "maximum": MOST_SEEDS },
                {
                    "type": "array",
                    "items": { "type": "integer", "minimum": 0, "maximum": u64::MAX },
                    "minItems": 1,
                    "maxItems": MOST_SEEDS,
                },
            ],
        })
    }
}
