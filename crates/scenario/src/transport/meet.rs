//! Requirements of remedies on a transport.

use incast_engine::{OrName, Size, Span, Window};
use incast_remedies::{RemedyConfig, Requirement};
use incast_tcp::congestion::{CongestionControlConfig, dctcp};
use incast_tcp::recovery::RecoveryConfig;
use serde_json::Value;

use super::TransportDocument;
use crate::profile;
use crate::switch::Switch;

/// Whether the given value of a part has this name or no name.
fn is_open(given: &Value, name: &str) -> bool {
    given.as_str().or(given["name"].as_str()).is_none_or(|given| given == name)
}

impl TransportDocument {
    /// Sets a required parameter, unless the table `given` has it.
    pub(crate) fn settle(&mut self, remedy: &RemedyConfig, given: &Value) {
        for requirement in remedy.remedy().requires() {
            let had_timestamps = self.round_trips.timestamps;
            self.meet(&requirement, given);
            if self.round_trips.timestamps != had_timestamps {
                self.fit_headers(given);
            }
        }
    }

    /// Sets a parameter to the required value, unless the table `given` has it. If a part is given,
    /// only its missing parameters are set.
    pub(crate) fn meet(&mut self, requirement: &Requirement, given: &Value) {
        let part = &given[requirement.key()];
        match requirement {
            Requirement::Efr(params) if is_open(part, "efr") => {
                let has_parameters = part.as_object().is_some_and(|table| table.len() > 1);
                if !has_parameters {
                    self.parts.recovery = RecoveryConfig::Efr(params.clone());
                }
            }
            Requirement::Dctcp { alpha, g, react_at } if is_open(part, "dctcp") => {
                let mut params = match &self.parts.congestion_control {
                    CongestionControlConfig::Dctcp(params) => params.clone(),
                    _ => dctcp::Params::default(),
                };
                let is_given = |parameter: &str| !part[parameter].is_null();
                params.alpha = if is_given("alpha") { params.alpha } else { *alpha };
                params.g = if is_given("g") { params.g } else { *g };
                params.react_at = if is_given("react_at") { params.react_at } else { *react_at };
                self.parts.congestion_control = CongestionControlConfig::Dctcp(params);
            }
            Requirement::Efr(_) | Requirement::Dctcp { .. } => {}
            _ if !part.is_null() => {}
            Requirement::RtoMin(min) => self.rto.rto_min = *min,
            Requirement::RtoGranularity(granularity) => self.rto.rto_granularity = *granularity,
            Requirement::ExactTimers => self.rto.timer_tick = Span::ZERO,
            Requirement::RtoJitter(jitter) => self.rto.rto_jitter = *jitter,
            Requirement::InitialWindow(bytes) => {
                self.windows.initial_window = OrName::Quantity(Window::Bytes(*bytes));
            }
            Requirement::Timestamps => self.round_trips.timestamps = true,
            Requirement::TimestampGranularity(tick) => {
                self.round_trips.timestamp_granularity = Some(*tick);
            }
            Requirement::NoDelayedAck => self.ack.delayed_ack = Switch::Plain(false),
            Requirement::LimitedTransmit => self.repair.limited_transmit = true,
        }
    }

    /// Sets the header sizes, which depend on the timestamps option, unless the table `given` has
    /// them.
    pub(crate) fn fit_headers(&mut self, given: &Value) {
        let size = Size(profile::header(self.round_trips.timestamps));
        for (key, header) in [
            ("header_size", &mut self.segments.header_size),
            ("ack_size", &mut self.segments.ack_size),
        ] {
            if given[key].is_null() {
                *header = size;
            }
        }
    }
}
