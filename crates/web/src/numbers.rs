//! Columns of traces as plain numbers, one after another, which JavaScript reads without parsing.

use incast_lab::probe::{Table, Values};
use serde_json::{Value, json};

/// The numbers of an answer.
#[derive(Debug, Default)]
pub struct Numbers(Vec<f64>);

impl Numbers {
    /// All numbers.
    pub fn values(&self) -> &[f64] {
        &self.0
    }

    /// Adds the columns of a table. Returns a description of the table. The description has the
    /// number of rows, and the index of the first number of each column. For a column of names, it
    /// also has the names for which the numbers stand.
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

    /// Appends the values of a column. Sequence numbers and counts of a run are below 2^53, so a
    /// float holds them exactly.
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

#[cfg(test)]
mod tests {
    use incast_lab::probe::Names;

    use super::*;

    #[test]
    fn columns_of_all_kinds_follow_each_other() {
        let names = Names { names: vec!["a".into(), "b".into()], codes: vec![1, 0, 1] };
        let first = Table {
            name: "first",
            columns: vec![
                ("fraction", Values::F64(vec![0.5, -0.25, 3.0])),
                ("signed", Values::I64(vec![-7, 0, 7])),
                ("small", Values::U32(vec![u32::MAX, 1, 2])),
                ("large", Values::U64(vec![1 << 52, 4, 5])),
                ("name", Values::Text(names)),
            ],
        };
        let second = Table { name: "second", columns: vec![("only", Values::U32(vec![8, 9]))] };
        let mut numbers = Numbers::default();
        let told = numbers.add(first);
        let column =
            |name, first, names: Value| json!({ "name": name, "first": first, "names": names });
        let columns = [
            column("fraction", 0, Value::Null),
            column("signed", 3, Value::Null),
            column("small", 6, Value::Null),
            column("large", 9, Value::Null),
            column("name", 12, json!(["a", "b"])),
        ];
        assert_eq!(told, json!({ "name": "first", "rows": 3, "columns": columns }));
        let told = numbers.add(second);
        let columns = [column("only", 15, Value::Null)];
        assert_eq!(told, json!({ "name": "second", "rows": 2, "columns": columns }));
        let most = f64::from(u32::MAX);
        let large = 4_503_599_627_370_496.0;
        let values = [
            0.5, -0.25, 3.0, -7.0, 0.0, 7.0, most, 1.0, 2.0, large, 4.0, 5.0, 1.0, 0.0, 1.0, 8.0,
            9.0,
        ];
        assert_eq!(numbers.values(), values);
    }

    #[test]
    fn a_table_without_rows_adds_no_numbers() {
        let mut numbers = Numbers::default();
        let columns = vec![("none", Values::F64(vec![]))];
        assert_eq!(numbers.add(Table { name: "empty", columns })["rows"], 0);
        assert!(numbers.values().is_empty());
    }
}
