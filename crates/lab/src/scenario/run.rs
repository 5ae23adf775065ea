//! The `[run]` table.

use std::borrow::Cow;
use std::fmt;

use incast_engine::Span;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::ScenarioError;

/// How often and how long a scenario runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// One run per seed.
    pub seeds: Vec<u64>,
    /// Simulated time after which a run is given up.
    pub time_limit: Span,
}

/// How often and how long the scenario runs.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "Run")]
pub(super) struct RunDocument {
    /// Seeds of the random streams, one run each: a number n means 1 to n, a list exactly these.
    seeds: Seeds,
    /// Simulated time after which a run is given up, seconds.
    time_limit: Span,
}

impl RunDocument {
    pub(super) fn build(self) -> Result<Run, ScenarioError> {
        let Self { seeds: Seeds(seeds), time_limit } = self;
        let fail = |key, message| Err(ScenarioError::new(key, message));
        if let Some(twice) = seeds.iter().enumerate().find(|(at, seed)| seeds[..*at].contains(seed))
        {
            return fail("run.seeds", format!("seed {} stands in the list twice", twice.1));
        }
        if seeds.is_empty() {
            return fail(
                "run.seeds",
                "no seed, no run; write e.g. 20 for the seeds 1 to 20".to_owned(),
            );
        }
        if time_limit.is_zero() {
            return fail("run.time_limit", "0 is no time to run; write e.g. \"1000s\"".to_owned());
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
#[derive(Serialize)]
struct Seeds(Vec<u64>);

/// More runs of one point than anybody waits for: a slip of the pen.
const MOST_SEEDS: u64 = 1_000_000;

struct SeedsVisitor;

impl<'de> Visitor<'de> for SeedsVisitor {
    type Value = Seeds;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of seeds, or a list of seeds")
    }

    fn visit_u64<E: Error>(self, count: u64) -> Result<Seeds, E> {
        if count > MOST_SEEDS {
            return Err(E::custom(format_args!("{count} seeds are more than {MOST_SEEDS}")));
        }
        Ok(Seeds((1..=count).collect()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Seeds, A::Error> {
        let mut seeds = Vec::new();
        while let Some(seed) = list.next_element()? {
            seeds.push(seed);
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
                { "type": "array", "items": { "type": "integer", "minimum": 0 }, "minItems": 1 },
            ],
        })
    }
}
