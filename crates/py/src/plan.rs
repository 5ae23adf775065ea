//! The plan of a scenario: every point, in a form that a hundred thousand of them fit into memory.

use std::collections::BTreeMap;

use incast_scenario::{Point, ScenarioError, plan_in_turn};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::error::{in_scenario, not_json};

/// Points between two looks at signals: a few milliseconds.
const WATCH_INTERVAL: usize = 16;

/// Why there is no plan.
enum Stop {
    Wrong(ScenarioError),
    Raised(PyErr),
}

impl From<ScenarioError> for Stop {
    fn from(error: ScenarioError) -> Self {
        Self::Wrong(error)
    }
}

/// Points, whose tables repeat, written down once.
#[derive(Default)]
struct Written {
    tables: BTreeMap<String, usize>,
    points: Vec<String>,
}

impl Written {
    fn add(&mut self, point: &Point) {
        let resolved = point.scenario.resolved();
        let tables = resolved.as_object().into_iter().flatten().map(|(key, table)| {
            let number = self.tables.len();
            let number = *self.tables.entry(table.to_string()).or_insert(number);
            (key.clone(), number.into())
        });
        let resolved = Value::Object(tables.collect());
        self.points.push(json!({ "swept": point.swept, "resolved": resolved }).to_string());
    }

    /// The tables by their numbers, and the points.
    fn finish(self) -> (Vec<String>, Vec<String>) {
        let mut tables = vec![String::new(); self.tables.len()];
        for (table, number) in self.tables {
            tables[number] = table;
        }
        (tables, self.points)
    }
}

/// Looks for signals, such as Ctrl-C.
fn look(py: Python<'_>) -> PyResult<()> {
    py.check_signals()
}

/// Points and seeds of a scenario document: what occurs in resolved points, as JSON, the points, as
/// JSON with the numbers of these, and the seeds.
#[pyfunction]
pub fn plan(py: Python<'_>, document_json: &str) -> PyResult<(Vec<String>, Vec<String>, Vec<u64>)> {
    let document: Value = serde_json::from_str(document_json).map_err(|error| not_json(&error))?;
    let mut written = Written::default();
    let seeds = py.detach(|| {
        plan_in_turn(&document, |point| {
            written.add(&point);
            if written.points.len().is_multiple_of(WATCH_INTERVAL) {
                Python::attach(look).map_err(Stop::Raised)?;
            }
            Ok(())
        })
    });
    let seeds = seeds.map_err(|stop| match stop {
        Stop::Wrong(error) => in_scenario(&error),
        Stop::Raised(error) => error,
    })?;
    let (tables, points) = written.finish();
    Ok((tables, points, seeds))
}
