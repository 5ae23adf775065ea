//! Columns of traces as plain numbers, one after another, which JavaScript reads without parsing.

use incast_lab::probe::{Table, Values};
use serde_json::{Value, json};

/// The numbers of an answer.
#[derive(Debug, Default)]
pub struct Numbers(Vec<f64>);

impl Numbers {
    /// All of them.
    pub fn values(&self) -> &[f64] {
        &self.0
    }

    /// Adds the columns of a table. Returns its description: the number of rows, and for each
    /// column where it begins, and the names that its numbers stand for, if it has names.
    pub fn add(&mut self, table: Table) -> Value {
        let mut rows = 0;
        let mut columns = Vec::new();
        for (name, values) in table.columns {
            let first = self.0.len();
            let names = self.append(values);
            rows = self.0.len() - first;
            columns.push(json!({ "name": name, "first": first, "names": names }));
        }
        json!({ "name": table.name, "rows": rows, "columns": columns })
    }

    /// Sequence numbers and counts of a run are below 2^53, so that a float has them exactly.
    fn append(&mut self, values: Values) -> Option<Vec<String>> {
        let mut names = None;
        match values {
            Values::F64(values) => self.0.extend(values),
            Values::I64(values) => self.0.extend(values.into_iter().map(|value| value as f64)),
            Values::U32(values) => self.0.extend(values.into_iter().map(f64::from)),
            Values::U64(values) => self.0.extend(values.into_iter().map(|value| value as f64)),
            Values::Text(text) => {
                self.0.extend(text.codes.into_iter().map(f64::from));
                names = Some(text.names);
            }
        }
        names
    }
}
