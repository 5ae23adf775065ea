//! Data Center TCP (RFC 8257).

use super::Parameters;
use super::marks::{Law, MarkedWindow, params_over_marks};

params_over_marks! {
    /// Parameters of DCTCP.
    pub struct Params {
    }
}

impl Parameters for Params {}

/// DCTCP uses `MarkedWindow` without changes.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

impl Law for Plain {
    type Params = Params;

    fn new(_: &Params) -> Self {
        Self
    }
}

/// See [`Params`].
pub type Dctcp = MarkedWindow<Plain>;
