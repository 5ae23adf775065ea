//! Parameters that a remedy can compute.

use incast_engine::{Name, OrName};

/// The type of the name `auto`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Auto;

impl Name for Auto {
    const NAMES: &'static [(&'static str, Self, &'static str)] =
        &[("auto", Self, "Computed by the remedy.")];
}

/// A value, or `"auto"`.
pub type OrAuto<T> = OrName<Auto, T>;
