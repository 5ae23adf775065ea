//! The properties of the interface on which a browser relies.

use serde_json::{Value, json};

use crate::{Numbers, answer, incast_answer, incast_ask, incast_numbers, incast_question};

fn ask(question: &Value) -> (Value, Numbers) {
    let mut numbers = Numbers::default();
    let answer = answer(question.to_string().as_bytes(), &mut numbers);
    (answer, numbers)
}

/// A read that overflows its buffer.
fn read() -> Value {
    json!({
        "network": { "rate": "1Gbps", "delay": "25us", "buffer": "64KB" },
        "workload": { "servers": 24, "sru": "64KiB" },
    })
}

fn column<'a>(answer: &Value, numbers: &'a Numbers, table: &str, name: &str) -> &'a [f64] {
    let named = |list: &Value, name: &str| {
        let list = list.as_array().expect("a list").iter();
        list.into_iter().find(|it| it["name"] == name).expect("it is there").clone()
    };
    let table = named(&answer["tables"], table);
    let rows = table["rows"].as_u64().expect("a count") as usize;
    let first = named(&table["columns"], name)["first"].as_u64().expect("a place") as usize;
    &numbers.values()[first..first + rows]
}

#[test]
fn a_plan_has_points_that_run_as_they_are() {
    let mut swept = read();
    swept["sweep"] = json!({ "workload.servers": [2, 24] });
    swept["run"] = json!({ "seeds": 2 });
    let (plan, _) = ask(&json!({ "plan": swept }));
    assert_eq!(plan["seeds"], json!([1, 2]));
    let rows = plan["points"].as_array().expect("points").iter().map(|point| {
        let (run, _) = ask(&json!({ "run": { "scenario": point["scenario"], "seed": 1 } }));
        (point["swept"]["workload.servers"].clone(), run["rows"][0]["timeouts"].clone())
    });
    let rows: Vec<_> = rows.collect();
    assert_eq!(rows[0], (json!(2), json!(0)));
    assert!(rows[1].1.as_u64() > Some(0), "{rows:?}");
}

#[test]
fn errors_are_the_engines_lines() {
    let (wrong, _) = ask(&json!({ "plan": { "workload": { "severs": 3 } } }));
    let line = wrong["error"].as_str().expect("a line");
    assert!(line.starts_with("workload.severs: ") && line.contains("servers"), "{line}");
    let (wrong, _) = ask(&json!({ "ask": 1 }));
    assert!(wrong["error"].as_str().expect("a line").starts_with("question: "));
}

#[test]
fn a_document_tells_whole_numbers_from_others() {
    let text = "a = 16\nb = 16.0\nc = [\"16\", 18446744073709551615]\nd.e = true";
    let (answer, _) = ask(&json!({ "document": text }));
    let packed =
        json!({ "a": "16", "b": 16.0, "c": ["'16", "18446744073709551615"], "d": { "e": true } });
    assert_eq!(answer["document"], packed);
    let (wrong, _) = ask(&json!({ "document": "a = 1Gbps" }));
    let line =
        "line 1, column 5: not valid TOML: quantities and names must be in quotes: a = \"1Gbps\"";
    assert_eq!(wrong["error"], line);
}

#[test]
fn the_ways_of_packets_agree_with_the_row() {
    let run = json!({ "scenario": read(), "seed": 1, "traces": ["events"], "journeys": true });
    let (traced, numbers) = ask(&json!({ "run": run }));
    let row = &traced["rows"][0];
    let (plain, _) = ask(&json!({ "run": { "scenario": read(), "seed": 1 } }));
    assert_eq!(plain["rows"][0], *row, "traces change nothing");

    let of = |name| column(&traced, &numbers, "journeys", name);
    let dropped = of("dropped_s").iter().filter(|at| at.is_finite()).count() as u64;
    assert_eq!(row["drops"], json!(dropped));
    let crossed = of("arrived_s").iter().filter(|at| at.is_finite()).count() as u64;
    // The run does not wait for the last ACKs.
    let hops = row["packet_hops"].as_u64().expect("a count");
    assert!(crossed <= hops && hops - crossed < 100, "{crossed} of {hops}");
    let ways = of("offered_s").iter().zip(of("left_s")).zip(of("arrived_s"));
    let delays = ways.filter(|(_, arrived)| arrived.is_finite());
    for ((offered, left), arrived) in delays {
        assert!(offered < left && (arrived - left - 25e-6).abs() < 1e-12);
    }
}

/// Asks a question through memory, as JavaScript does.
fn through_the_door(question: &str) -> Value {
    let place = incast_question(question.len());
    // SAFETY: the memory has as many bytes as the question.
    unsafe { place.copy_from_nonoverlapping(question.as_ptr(), question.len()) };
    told()
}

/// The answer to the question in memory.
fn told() -> Value {
    let length = incast_ask();
    // SAFETY: the answer has this length, and stays in memory until the next question.
    let text = unsafe { std::slice::from_raw_parts(incast_answer(), length) };
    serde_json::from_slice(text).expect("it is JSON, from its first byte to its last")
}

#[test]
fn a_question_is_written_to_memory_and_its_answer_read_from_it() {
    let version = through_the_door("\"version\"");
    assert_eq!(version, json!({ "version": env!("INCAST_ENGINE") }));
    // A shorter question follows a longer question, and a longer question follows again.
    let long = format!("{:>2000}", "\"version\"");
    assert_eq!(through_the_door(&long), version);
    assert_eq!(through_the_door("\"version\""), version);
    assert_eq!(through_the_door(&long), version);
    let again = told();
    assert!(again["error"].as_str().expect("a line").starts_with("question: EOF"), "{again}");
}

#[test]
fn the_numbers_of_the_last_answer_lie_in_memory() {
    let run = json!({ "scenario": read(), "seed": 1, "traces": ["events"] });
    let question = json!({ "run": run });
    let (expected, numbers) = ask(&question);
    let answer = through_the_door(&question.to_string());
    assert_eq!(answer, expected);
    let count = answer["numbers"].as_u64().expect("a count") as usize;
    assert!(count > 0);
    // SAFETY: the answer gives the number of values.
    let found = unsafe { std::slice::from_raw_parts(incast_numbers(), count) };
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(found), bits(numbers.values()));
    assert_eq!(
        through_the_door(&json!({ "run": { "scenario": read(), "seed": 1 } }).to_string())["numbers"],
        0
    );
}

#[test]
fn lists_and_facts_are_those_of_the_engine() {
    let (topologies, _) = ask(&json!({ "entries": "topologies" }));
    let names = topologies.as_array().expect("a list").iter().map(|entry| &entry["name"]);
    assert!(names.into_iter().any(|name| name == "star"), "{topologies}");
    let (wrong, _) = ask(&json!({ "entries": "planets" }));
    assert_eq!(wrong["error"], "there is no list of \"planets\"");
    let (facts, _) = ask(&json!({ "facts": read() }));
    let engine = incast_scenario::Scenario::from_document(&read()).expect("it is valid").facts();
    let names: Vec<_> = engine.cells().map(|(name, _)| name).collect();
    assert_eq!(facts.as_object().expect("a table").len(), names.len());
    assert!(names.iter().all(|name| facts.get(name).is_some()), "{facts}");
    let (wrong, _) = ask(&json!({ "facts": { "workload": { "servers": 0 } } }));
    assert!(wrong["error"].as_str().expect("a line").starts_with("workload.servers: "), "{wrong}");
}

#[test]
fn a_row_has_the_engines_columns_but_the_time_that_it_took() {
    let (answer, numbers) = ask(&json!({ "run": { "scenario": read(), "seed": 1 } }));
    let row = answer["rows"][0].as_object().expect("a row");
    assert!(!row.contains_key("wall_s") && row.len() > 40, "{row:?}");
    assert_eq!((&row["seed"], &row["status"]), (&json!(1), &json!("ok")));
    assert!(row["goodput_bps"].is_f64() && row["timeouts"].is_u64(), "{row:?}");
    assert_eq!((&answer["tables"], &answer["numbers"]), (&json!([]), &json!(0)));
    assert!(numbers.values().is_empty());
    let (wrong, _) = ask(&json!({ "run": { "scenario": read(), "seed": 1, "traces": ["all"] } }));
    assert!(wrong["error"].as_str().expect("a line").contains("all"), "{wrong}");
}
