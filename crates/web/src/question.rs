//! What may be asked.

use serde::Deserialize;
use serde_json::Value;

/// A question, JSON: `"version"`, or a table with one key, such as `{"plan": SCENARIO}`.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// The version of the engine.
    Version,
    /// The entries of a registry.
    Entries(String),
    /// The document that a text in TOML has, see `document.rs`.
    Document(String),
    /// The points of a scenario with or without a sweep, resolved, and its seeds.
    Plan(Value),
    /// The numbers that follow from a scenario without a sweep.
    Facts(Value),
    /// One run of a scenario without a sweep.
    Run {
        /// The scenario.
        scenario: Value,
        /// The seed.
        seed: u64,
        /// The traces, by name.
        #[serde(default)]
        traces: Vec<String>,
        /// Whether every packet's way is wanted, too.
        #[serde(default)]
        journeys: bool,
    },
}
