//! No credit.

use super::Credit;

/// The sender needs no credit.
#[derive(Default)]
pub struct None;

impl Credit for None {}
