//! The `[sweep]` table: from one document to the points of a plan.

use serde_json::{Map, Value};

use super::document::{check_tables, set};
use super::void::Void;
use super::{Scenario, ScenarioError};

/// All runs of a document: each point runs once per seed.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The points, in the order of the sweep, whose first key varies slowest.
    pub points: Vec<Point>,
    /// The seeds of `[run]`.
    pub seeds: Vec<u64>,
}

/// One point of a plan.
#[derive(Clone, Debug)]
pub struct Point {
    /// The swept keys, dotted, with their values as given.
    pub swept: Map<String, Value>,
    /// The scenario at this point.
    pub scenario: Scenario,
}

/// One axis of a sweep: for each step, the keys with their values. Paired keys share an axis.
struct Axis(Vec<Map<String, Value>>);

/// The largest number of points of a sweep: each takes a kilobyte and a fraction of a millisecond
/// to plan.
const MOST_POINTS: usize = 100_000;
/// The largest number of parts of a dotted key: no table is nested more deeply.
const DEEPEST: usize = 32;
/// The largest number of runs.
const MOST_RUNS: usize = 10_000_000;

/// The points and seeds of a document.
///
/// # Errors
/// The first error in the sweep, or in the scenario at one of its points.
pub fn plan(document: &Value) -> Result<Plan, ScenarioError> {
    let mut points = Vec::new();
    let seeds = plan_in_turn(document, |point| {
        points.push(point);
        Ok::<_, ScenarioError>(())
    })?;
    Ok(Plan { points, seeds })
}

/// Gives the points of a document to `take`, one after the other, and returns the seeds.
///
/// # Errors
/// The first error in the sweep, in the scenario at one of its points, or from `take`.
pub fn plan_in_turn<E: From<ScenarioError>>(
    document: &Value,
    mut take: impl FnMut(Point) -> Result<(), E>,
) -> Result<Vec<u64>, E> {
    let mut base = document.clone();
    let table = base.as_object_mut();
    let sweep = table.and_then(|table| table.shift_remove("sweep")).unwrap_or_default();
    if let Some(table) = base.as_object() {
        check_tables(table)?;
    }
    let axes = axes(&sweep)?;
    let count = count(&axes)?;
    let mut seeds = Vec::new();
    let mut void = Void::default();
    for index in 0..count {
        let swept = combination(&axes, index);
        let mut document = base.clone();
        for (key, value) in &swept {
            set(&mut document, key, value)?;
        }
        let scenario = Scenario::from_document(&document)?;
        if index == 0 {
            // Seeds cannot be swept, so every point has the same seeds.
            seeds.clone_from(&scenario.run.seeds);
            check_runs(count, seeds.len())?;
        }
        void.look(&document, &swept, &scenario);
        take(Point { swept, scenario })?;
    }
    void.refuse()?;
    Ok(seeds)
}

/// The number of combinations, unless there are too many.
fn count(axes: &[Axis]) -> Result<usize, ScenarioError> {
    let count = axes.iter().try_fold(1_usize, |count, Axis(steps)| count.checked_mul(steps.len()));
    count.filter(|count| *count <= MOST_POINTS).ok_or_else(|| {
        let factors: Vec<_> = axes.iter().map(|Axis(steps)| steps.len().to_string()).collect();
        let message = format!(
            "{} points are more than {MOST_POINTS}; write fewer values, or several scenarios",
            factors.join(" x ")
        );
        ScenarioError::new("sweep", message)
    })
}

fn check_runs(points: usize, seeds: usize) -> Result<(), ScenarioError> {
    if points.saturating_mul(seeds) <= MOST_RUNS {
        return Ok(());
    }
    let message = format!(
        "{points} points with {seeds} seeds each are more than {MOST_RUNS} runs; write at most {} \
         seeds",
        MOST_RUNS / points
    );
    Err(ScenarioError::new("run.seeds", message))
}

/// The axes of a sweep. Each axis has at least one step, so the product of the axes is never empty.
fn axes(sweep: &Value) -> Result<Vec<Axis>, ScenarioError> {
    let mut axes = Vec::new();
    for (key, value) in entries(sweep, "sweep")? {
        match (key.as_str(), value) {
            ("zip", Value::Array(tables)) => {
                for (index, table) in tables.iter().enumerate() {
                    axes.push(zip(table, &format!("sweep.zip.{index}"))?);
                }
            }
            ("zip", table) => axes.push(zip(table, "sweep.zip")?),
            _ => {
                for (key, values) in lists(key, value)? {
                    let steps = values.iter().map(|value| (key.clone(), value.clone()));
                    axes.push(Axis(steps.map(|step| Map::from_iter([step])).collect()));
                }
            }
        }
    }
    let mut seen: Vec<&String> = Vec::new();
    for key in axes.iter().flat_map(|axis| axis.0[0].keys()) {
        if seen.contains(&key) {
            let message = "swept twice; a key is either crossed or paired in one [[sweep.zip]]";
            return Err(ScenarioError::new(format!("sweep.{key}"), message));
        }
        seen.push(key);
    }
    Ok(axes)
}

/// One axis of keys whose lists advance together.
fn zip(table: &Value, place: &str) -> Result<Axis, ScenarioError> {
    let mut columns = Vec::new();
    for (key, value) in entries(table, place)? {
        columns.extend(lists(key, value)?);
    }
    let Some((first, values)) = columns.first() else {
        return Err(ScenarioError::new(
            place,
            "has no key to sweep, hence zero points; pair two keys",
        ));
    };
    if let Some((key, other)) = columns.iter().find(|(_, other)| other.len() != values.len()) {
        let (found, expected) = (other.len(), values.len());
        let message =
            format!("{found} values, but {expected} for {first}; paired lists are equally long");
        return Err(ScenarioError::new(format!("{place}.{key}"), message));
    }
    let step =
        |at: usize| columns.iter().map(|(key, list)| (key.clone(), list[at].clone())).collect();
    Ok(Axis((0..values.len()).map(step).collect()))
}

/// The keys of a table; none if the table is missing.
fn entries<'a>(
    table: &'a Value,
    place: &str,
) -> Result<impl Iterator<Item = (&'a String, &'a Value)>, ScenarioError> {
    match table {
        Value::Null | Value::Object(_) => Ok(table.as_object().into_iter().flatten()),
        _ => Err(ScenarioError::new(
            place,
            format!("{table} is not a table; write e.g. \"workload.servers\" = [2, 4, 8]"),
        )),
    }
}

/// The lists below `key`, which may be a dotted key or a table of dotted keys.
fn lists<'a>(key: &str, value: &'a Value) -> Result<Vec<(String, &'a Vec<Value>)>, ScenarioError> {
    let place = format!("sweep.{key}");
    if key.split('.').count() > DEEPEST {
        let message = format!("no key has more than {DEEPEST} parts; write e.g. workload.servers");
        return Err(ScenarioError::new(place, message));
    }
    match value {
        _ if matches!(key, "run" | "run.seeds") => Err(ScenarioError::new(
            place,
            "seeds are not swept: every point runs with each of them",
        )),
        Value::Array(list) if list.is_empty() => {
            Err(ScenarioError::new(place, "an empty list leaves zero points; write e.g. [2, 4, 8]"))
        }
        Value::Array(list) => Ok(vec![(key.to_owned(), list)]),
        Value::Object(table) => {
            let below = table.iter().map(|(part, value)| lists(&format!("{key}.{part}"), value));
            Ok(below.collect::<Result<Vec<_>, _>>()?.concat())
        }
        _ => Err(ScenarioError::new(place, format!("{value} is not a list; write e.g. [{value}]"))),
    }
}

/// Combination number `index` of steps; the last axis varies fastest.
fn combination(axes: &[Axis], index: usize) -> Map<String, Value> {
    let mut below: usize = axes.iter().map(|Axis(steps)| steps.len()).product();
    let mut point = Map::new();
    for Axis(steps) in axes {
        below /= steps.len();
        point.extend(steps[index / below % steps.len()].clone());
    }
    point
}
