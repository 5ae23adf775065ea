//! The parts of a transport: `name`, `recovery`, `congestion_control`, `remedies`.

use incast_remedies::RemedyConfig;
use incast_tcp::Config;
use incast_tcp::congestion::CongestionControlConfig;
use incast_tcp::recovery::RecoveryConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema::{name_or_table, names_or_tables, preset_name};
use crate::{ScenarioError, remedies};

#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Parts {
    /// The preset for all keys that are not given: a name, or a table with the name and parameters.
    /// The parameters are those of the remedy, loss recovery or congestion control of this name.
    #[schemars(schema_with = "preset_name")]
    pub(super) name: String,
    /// Loss recovery: a name, or a table with its parameters.
    #[schemars(schema_with = "name_or_table::<RecoveryConfig>")]
    pub(super) recovery: RecoveryConfig,
    /// Congestion control: a name, or a table with its parameters.
    #[schemars(schema_with = "name_or_table::<CongestionControlConfig>")]
    pub(super) congestion_control: CongestionControlConfig,
    /// Remedies: a list of names, or of tables with their parameters.
    #[schemars(schema_with = "names_or_tables::<RemedyConfig>")]
    pub(super) remedies: Vec<RemedyConfig>,
}

impl Parts {
    pub(super) fn check(&self, table: &str) -> Result<(), ScenarioError> {
        let faults = [
            ("congestion_control", self.congestion_control.check()),
            ("recovery", self.recovery.check()),
        ];
        for (part, checked) in faults {
            if let Err(fault) = checked {
                let key = format!("{table}.{part}.{}", fault.key);
                return Err(ScenarioError::new(key, fault.message));
            }
        }
        remedies::check(&self.remedies, table)
    }

    pub(super) fn of(name: &str, tcp: &Config, remedies: &[RemedyConfig]) -> Self {
        Self {
            name: name.to_owned(),
            recovery: tcp.recovery.clone(),
            congestion_control: tcp.congestion_control.clone(),
            remedies: remedies.to_vec(),
        }
    }
}
