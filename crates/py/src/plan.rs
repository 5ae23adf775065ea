//! The plan of a scenario: its points, stored so compactly that a hundred thousand points fit into
//! memory.

use std::collections::BTreeMap;

use incast_scenario::{Point, Scenario as Checked, ScenarioError, plan_in_turn};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value};

use crate::error::{in_scenario, not_json};
use crate::scenario::{Scenario, tree};

/// Number of points between two checks for signals. The checks are a few milliseconds apart.
const WATCH_INTERVAL: usize = 16;

/// The swept values, the resolved scenario, and the scenario ready to run.
type PointOf<'py> = (Bound<'py, PyAny>, Bound<'py, PyDict>, Scenario);

/// The reason why there is no plan.
enum Stop {
    Wrong(ScenarioError),
    Raised(PyErr),
}

impl From<ScenarioError> for Stop {
    fn from(error: ScenarioError) -> Self {
        Self::Wrong(error)
    }
}

/// The points of a plan. Equal tables of their resolved scenarios are stored once, because most
/// tables are equal.
#[derive(Default)]
struct Laid {
    /// The index of each table. The key is the table as a string.
    places: BTreeMap<String, usize>,
    tables: Vec<Value>,
    /// The keys of a resolved scenario, which are the same for every point.
    keys: Vec<String>,
    points: Vec<Kept>,
}

/// A point, with the indices of its tables.
struct Kept {
    swept: Map<String, Value>,
    tables: Vec<usize>,
    scenario: Box<Checked>,
}

impl Laid {
    fn add(&mut self, Point { swept, scenario }: Point) {
        let Value::Object(resolved) = scenario.resolved() else { return };
        if self.keys.is_empty() {
            self.keys = resolved.keys().cloned().collect();
        }
        let tables = resolved.into_iter().map(|(_, table)| {
            *self.places.entry(table.to_string()).or_insert_with(|| {
                self.tables.push(table);
                self.tables.len() - 1
            })
        });
        let tables = tables.collect();
        self.points.push(Kept { swept, tables, scenario: Box::new(scenario) });
    }

    fn finish(self, py: Python<'_>) -> PyResult<Vec<PointOf<'_>>> {
        let shared = self.tables.iter().map(|table| tree(py, table));
        let shared = shared.collect::<PyResult<Vec<_>>>()?;
        let point = |Kept { swept, tables, scenario }| {
            let resolved = PyDict::new(py);
            for (key, place) in self.keys.iter().zip(tables) {
                resolved.set_item(key, &shared[place])?;
            }
            Ok((tree(py, &Value::Object(swept))?, resolved, Scenario(scenario)))
        };
        self.points.into_iter().map(point).collect()
    }
}

/// Checks for signals, such as Ctrl-C.
fn look(py: Python<'_>) -> PyResult<()> {
    py.check_signals()
}

/// Returns the points and the seeds of a scenario document in JSON.
#[pyfunction]
pub fn plan<'py>(py: Python<'py>, document_json: &str) -> PyResult<(Vec<PointOf<'py>>, Vec<u64>)> {
    let document: Value = serde_json::from_str(document_json).map_err(|error| not_json(&error))?;
    let mut laid = Laid::default();
    let seeds = py.detach(|| {
        plan_in_turn(&document, |point| {
            laid.add(point);
            if laid.points.len().is_multiple_of(WATCH_INTERVAL) {
                Python::attach(look).map_err(Stop::Raised)?;
            }
            Ok(())
        })
    });
    let seeds = seeds.map_err(|stop| match stop {
        Stop::Wrong(error) => in_scenario(&error),
        Stop::Raised(error) => error,
    })?;
    Ok((laid.finish(py)?, seeds))
}
