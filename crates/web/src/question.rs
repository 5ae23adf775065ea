//! The questions that may be asked.

use serde::Deserialize;
use serde_json::Value;

/// A question in JSON: `"version"`, or a table with one key, such as `{"plan": SCENARIO}`.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// The version of the engine.
    Version,
    /// The entries of a registry.
    Entries(String),
    /// The document in a string of TOML; see `document.rs`.
    Document(String),
    /// The resolved points of a scenario, with or without a sweep, and its seeds.
    Plan(Value),
    /// The numbers that follow from a scenario without a sweep.
    Facts(Value),
    /// One run of a scenario without a sweep.
    Run {
        /// The scenario.
        scenario: Value,
        /// The seed.
        seed: u64,
        /// The names of the traces.
        #[serde(default)]
        traces: Vec<String>,
        /// Whether the path of every packet is wanted, too.
        #[serde(default)]
        journeys: bool,
    },
}
