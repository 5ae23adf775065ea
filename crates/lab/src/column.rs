//! The description of a table's column.

use serde::Serialize;

/// A column's unit and meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Column {
    /// Name.
    pub name: &'static str,
    /// Unit; "1" for ratios, "" for strings.
    pub unit: &'static str,
    /// Meaning.
    pub description: &'static str,
}
