//! The failure of a script, and its position.

use std::fmt;

/// The reason why a script cannot be parsed, or the difference between the connection and the
/// script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    file: String,
    line: usize,
    source: String,
    problem: String,
}

impl Failure {
    /// A failure at `line` of `file`; `source` is the text of the line.
    pub(crate) fn new(file: &str, line: usize, source: &str, problem: impl Into<String>) -> Self {
        let (file, source) = (file.to_owned(), source.to_owned());
        Self { file, line, source, problem: problem.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, source, problem } = self;
        write!(f, "{file}:{line}: {source}\n{problem}")
    }
}

impl std::error::Error for Failure {}
