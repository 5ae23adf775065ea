//! Answers a question.

use incast_engine::Cell;
use incast_lab::probe::Detail;
use incast_lab::{Control, Row, TraceRequest};
use incast_scenario::Scenario;
use serde_json::{Map, Value, json};

use crate::document;
use crate::journeys::Journeys;
use crate::numbers::Numbers;
use crate::question::Question;

/// The answer to a question. If the question has no answer, the result is `{"error": LINE}` with
/// the error line of the engine.
pub fn answer(question: &[u8], numbers: &mut Numbers) -> Value {
    match serde_json::from_slice(question) {
        Ok(question) => reply(question, numbers).unwrap_or_else(|line| json!({ "error": line })),
        Err(error) => json!({ "error": format!("question: {error}") }),
    }
}

fn reply(question: Question, numbers: &mut Numbers) -> Result<Value, String> {
    match question {
        Question::Version => Ok(json!({ "version": env!("INCAST_ENGINE") })),
        Question::Entries(kind) => {
            let entries = incast_scenario::entries(&kind);
            entries.map(|entries| json!(entries)).ok_or(format!("there is no list of {kind:?}"))
        }
        Question::Document(text) => {
            let document = incast_scenario::from_toml(&text).map_err(|error| error.to_string())?;
            Ok(json!({ "document": document::pack(document) }))
        }
        Question::Plan(document) => plan(&document),
        Question::Facts(document) => {
            let facts = read(&document)?.facts();
            Ok(object(facts.cells()))
        }
        Question::Run { scenario, seed, traces, journeys } => {
            let mut request = TraceRequest::parse(traces.iter().map(String::as_str))?;
            if journeys {
                request = request.with::<Journeys>(Detail::Binned);
            }
            run(&read(&scenario)?, seed, &request, numbers)
        }
    }
}

fn read(document: &Value) -> Result<Scenario, String> {
    let scenario = Scenario::from_document(document).map_err(|error| error.to_string())?;
    scenario.check_tcp("the explorer").map_err(|error| error.to_string())?;
    Ok(scenario)
}

fn plan(document: &Value) -> Result<Value, String> {
    let plan = incast_scenario::plan(document).map_err(|error| error.to_string())?;
    let point = |point: &incast_scenario::Point| json!({ "swept": point.swept, "scenario": point.scenario.resolved() });
    let points: Vec<_> = plan.points.iter().map(point).collect();
    Ok(json!({ "points": points, "seeds": plan.seeds }))
}

fn run(
    scenario: &Scenario,
    seed: u64,
    request: &TraceRequest,
    numbers: &mut Numbers,
) -> Result<Value, String> {
    let run = incast_lab::run(scenario, seed, request, &Control::default());
    let run = run.map_err(|error| error.to_string())?;
    let rows: Vec<_> = run.rows.iter().map(row).collect();
    let tables = run.trace.tables().into_iter().map(|table| numbers.add(table));
    let tables: Vec<_> = tables.collect();
    Ok(json!({ "rows": rows, "tables": tables, "numbers": numbers.values().len() }))
}

/// A row without the wall-clock time of the run, because a browser has no useful clock.
fn row(row: &Row) -> Value {
    object(row.cells().filter(|(name, _)| *name != "wall_s"))
}

fn object<'a>(cells: impl Iterator<Item = (&'static str, Cell<'a>)>) -> Value {
    let entries = cells.map(|(name, cell)| (name.to_owned(), value(cell)));
    Value::Object(entries.collect::<Map<_, _>>())
}

fn value(cell: Cell<'_>) -> Value {
    match cell {
        Cell::Nothing => Value::Null,
        Cell::Flag(flag) => json!(flag),
        Cell::Whole(number) => json!(number),
        Cell::Number(number) => json!(number),
        Cell::Text(text) => json!(text),
        Cell::List(cells) => cells.into_iter().map(value).collect(),
    }
}
