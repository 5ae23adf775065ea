//! Parameters that the remedy can work out by itself.

use incast_engine::{Name, OrName};

/// The remedy works it out from what it knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Auto;

impl Name for Auto {
    const NAMES: &'static [(&'static str, Self, &'static str)] =
        &[("auto", Self, "Worked out by the remedy.")];
}

/// A value, or `"auto"`.
pub type OrAuto<T> = OrName<Auto, T>;
