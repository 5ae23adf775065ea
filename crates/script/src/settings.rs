//! `config key=value`: the configuration of the tested connection.

use incast_engine::{Limit, Rate, Span, Window};
use incast_remedies::{RemedyConfig, Situation};
use incast_tcp::config::{
    DelayedAck, EarlyRetransmit, Handshake, IdleRestart, Pacing, PrrBound, ReceiveOffload,
    RttSampling, Sack, UndoKind, WindowUnit,
};
use incast_tcp::congestion::CongestionControlConfig;
use incast_tcp::recovery::RecoveryConfig;
use incast_tcp::send::rtt::RtoPolicy;
use incast_tcp::wheel::{TickPhase, TimerTicks};
use incast_tcp::{Config, Role};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::packet::number;

/// All values that `config` lines can set.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub config: Config,
    pub role: Role,
    pub seed: u64,
    pub epoch: u8,
    recovery: Map<String, Value>,
    congestion_control: Map<String, Value>,
    /// Parameters of the remedies, by name, in the order of the script.
    remedies: Vec<Map<String, Value>>,
    /// The properties of the scenario that remedies use.
    pub situation: Situation,
    /// Whether the tested connection is the client's end, which receives.
    pub is_client: bool,
}

impl Settings {
    /// The defaults of scripts.
    pub fn new() -> Result<Self, String> {
        let recovery = Map::from_iter([("name".to_owned(), json!("newreno"))]);
        let congestion_control = Map::from_iter([("name".to_owned(), json!("reno"))]);
        Ok(Self {
            config: default_config(part(&recovery)?, part(&congestion_control)?),
            role: Role::Acceptor,
            seed: 1,
            epoch: 0,
            recovery,
            congestion_control,
            remedies: Vec::new(),
            situation: Situation {
                servers: 1,
                sru: 64 * 1024,
                sender_rate: Rate(1_000_000_000),
                client_rate: Rate(1_000_000_000),
                buffer: Limit::Packets(68),
                base_rtt: Span::from_micros(100),
            },
            is_client: false,
        })
    }

    /// The remedies in use.
    pub fn remedies(&self) -> Result<Vec<RemedyConfig>, String> {
        self.remedies.iter().map(part).collect()
    }

    /// Applies one `key=value`.
    pub fn set(&mut self, setting: &str) -> Result<(), String> {
        let (key, value) =
            setting.split_once('=').ok_or_else(|| format!("{setting:?} is not key=value"))?;
        let mss = self.config.mss;
        let config = &mut self.config;
        match key {
            "mss" => config.mss = number(value)?,
            "header" => config.header = number(value)?,
            "ack_size" => config.ack_size = number(value)?,
            "initial_window" => config.initial_window = window(value, mss)?,
            "initial_ssthresh" => config.initial_ssthresh = window(value, mss)?,
            "receive_window" => config.receive_window = window(value, mss)?,
            "handshake" => config.handshake = named(value)?,
            "request_on_wire" => config.request_on_wire = named(value)?,
            "fin" => config.fin = named(value)?,
            "syn_rto" => config.syn_rto = span(value)?,
            "rto_after_syn_loss" => config.rto_after_syn_loss = span(value)?,
            "syn_loss_is_timeout" => config.syn_loss_is_timeout = named(value)?,
            "rtt_sampling" => config.rtt_sampling = named(value)?,
            "timestamps" => config.timestamps = option(value, span)?,
            "sack" => {
                config.sack = match value {
                    "false" => None,
                    "true" => Some(Sack { dsack: true, takes_room: false }),
                    "takes-room" => Some(Sack { dsack: true, takes_room: true }),
                    "without-dsack" => Some(Sack { dsack: false, takes_room: false }),
                    _ => {
                        let known = "true, false, takes-room or without-dsack";
                        return Err(format!("{value:?} is not {known}"));
                    }
                }
            }
            "role" => {
                self.role = match value {
                    "opener" => Role::Opener,
                    "acceptor" => Role::Acceptor,
                    _ => return Err(format!("{value:?} is neither opener nor acceptor")),
                }
            }
            "side" => {
                self.is_client = match value {
                    "client" => true,
                    "server" => false,
                    _ => return Err(format!("{value:?} is neither client nor server")),
                }
            }
            "remedies" => self.add_remedies(value)?,
            "seed" => self.seed = number(value)?,
            "epoch" => self.epoch = number(value)?,
            _ => return self.set_behaviour(key, value),
        }
        Ok(())
    }

    /// Sets a key that changes how the connection sends or acknowledges.
    fn set_behaviour(&mut self, key: &str, value: &str) -> Result<(), String> {
        let config = &mut self.config;
        match key {
            "early_retransmit" => config.early_retransmit = named(value)?,
            "undo" => config.undo = named(value)?,
            "prr" => config.prr = named(value)?,
            "limited_transmit" => config.limited_transmit = named(value)?,
            "window_unit" => config.window_unit = named(value)?,
            "limited_transmit_resends" => config.limited_transmit_resends = named(value)?,
            "dupack_threshold" => config.dupack_threshold = number(value)?,
            "dupack_requires_same_window" => config.dupack_requires_same_window = named(value)?,
            "delayed_ack" => config.delayed_ack = option(value, delayed_ack)?,
            "ecn" => config.ecn = option(value, named)?,
            "pacing" => config.pacing = option(value, pacing)?,
            "segmentation_offload" => config.segmentation_offload = option(value, number)?,
            "tso_deferral" => config.tso_deferral = named(value)?,
            "receive_offload" => config.receive_offload = option(value, receive_offload)?,
            "idle_restart" => config.idle_restart = text(value)?,
            "send_jitter" => config.send_jitter = span(value)?,
            "timer_tick" => {
                config.timer_ticks = TimerTicks { tick: span(value)?, phase: TickPhase::Shared };
            }
            "recovery_burst" => config.recovery_burst = option(value, number)?,
            _ => return self.set_part(key, value),
        }
        Ok(())
    }

    /// Sets a parameter of a part of the connection.
    fn set_part(&mut self, key: &str, value: &str) -> Result<(), String> {
        let unknown = || format!("{key:?} is not a setting");
        let (part_name, parameter) = key.split_once('.').ok_or_else(unknown)?;
        let rto = &mut self.config.rto;
        match (part_name, parameter) {
            ("rto", "min") => rto.min = span(value)?,
            ("rto", "max") => rto.max = span(value)?,
            ("rto", "initial") => rto.initial = span(value)?,
            ("rto", "granularity") => rto.granularity = span(value)?,
            ("rto", "max_doublings") => rto.max_doublings = number(value)?,
            ("rto", "jitter") => rto.jitter = named(value)?,
            ("rto", "floor") => rto.floor = named(value)?,
            ("rto", "clock") => rto.clock = named(value)?,
            ("rto", "backoff_ends") => rto.backoff_ends = named(value)?,
            ("rto", "idle") => rto.idle = named(value)?,
            ("rto", "backs_off_in_recovery") => rto.backs_off_in_recovery = named(value)?,
            ("situation", "servers") => self.situation.servers = number(value)?,
            ("situation", "sru") => self.situation.sru = number(value)?,
            ("situation", "client_rate") => self.situation.client_rate = named(value)?,
            ("situation", "base_rtt") => self.situation.base_rtt = span(value)?,
            ("recovery", _) => {
                self.recovery.insert(parameter.to_owned(), json(value));
                self.config.recovery = part(&self.recovery)?;
            }
            ("congestion_control", _) => {
                self.congestion_control.insert(parameter.to_owned(), json(value));
                self.config.congestion_control = part(&self.congestion_control)?;
            }
            _ => {
                let remedy = self.remedies.iter_mut().find(|remedy| remedy["name"] == part_name);
                let remedy = remedy.ok_or_else(unknown)?;
                remedy.insert(parameter.to_owned(), json(value));
                self.remedies()?;
            }
        }
        Ok(())
    }

    /// `plato,fine-rto` selects these remedies; `plato.key=value` then sets a parameter.
    fn add_remedies(&mut self, names: &str) -> Result<(), String> {
        let tables = names.split(',').map(|name| Map::from_iter([("name".into(), json(name))]));
        self.remedies.extend(tables);
        self.remedies().map(drop)
    }
}

fn default_config(recovery: RecoveryConfig, congestion_control: CongestionControlConfig) -> Config {
    Config {
        mss: 1000,
        header: 40,
        ack_size: 40,
        initial_window: 2000,
        initial_ssthresh: 1 << 30,
        receive_window: 1_000_000,
        handshake: Handshake::None,
        request_on_wire: true,
        fin: false,
        rto: default_rto(),
        syn_rto: Span::from_secs(1),
        rto_after_syn_loss: Span::from_secs(3),
        syn_loss_is_timeout: false,
        timer_ticks: TimerTicks::default(),
        rtt_sampling: RttSampling::PerAck,
        timestamps: None,
        sack: None,
        early_retransmit: EarlyRetransmit::Off,
        prr: PrrBound::Off,
        undo: UndoKind::None,
        limited_transmit: true,
        limited_transmit_resends: false,
        window_unit: WindowUnit::Bytes,
        dupack_threshold: 3,
        dupack_requires_same_window: false,
        delayed_ack: None,
        ecn: None,
        pacing: None,
        segmentation_offload: None,
        tso_deferral: false,
        receive_offload: None,
        idle_restart: IdleRestart::None,
        send_jitter: Span::ZERO,
        recovery_burst: None,
        recovery,
        congestion_control,
    }
}

fn default_rto() -> RtoPolicy {
    RtoPolicy { min: Span::from_millis(200), ..RtoPolicy::RFC_6298 }
}

/// The value as JSON if it is valid JSON, otherwise as a name.
fn json(value: &str) -> Value {
    serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()))
}

fn part<T: DeserializeOwned>(parameters: &Map<String, Value>) -> Result<T, String> {
    serde_json::from_value(Value::Object(parameters.clone())).map_err(|error| error.to_string())
}

/// A number, a flag or the name of a choice.
fn named<T: DeserializeOwned>(value: &str) -> Result<T, String> {
    serde_json::from_value(json(value)).map_err(|error| error.to_string())
}

/// The name of a choice, even if it looks like a number.
fn text<T: DeserializeOwned>(value: &str) -> Result<T, String> {
    serde_json::from_value(Value::String(value.to_owned())).map_err(|error| error.to_string())
}

/// Parses a time with its unit.
pub(crate) fn span(value: &str) -> Result<Span, String> {
    if value == "0" {
        return Ok(Span::ZERO);
    }
    value.parse().map_err(|error: incast_engine::QuantityError| error.to_string())
}

/// A window in bytes, or in segments of `mss` bytes (`4seg`).
fn window(value: &str, mss: u32) -> Result<u64, String> {
    if value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_') {
        return number(value);
    }
    let window: Window = value.parse().map_err(|e: incast_engine::QuantityError| e.to_string())?;
    Ok(window.bytes(mss))
}

fn option<T>(value: &str, read: fn(&str) -> Result<T, String>) -> Result<Option<T>, String> {
    if value == "none" { Ok(None) } else { read(value).map(Some) }
}

/// Parses the maximum bytes and the maximum time (`64000/20us`).
fn receive_offload(value: &str) -> Result<ReceiveOffload, String> {
    let (size, timeout) =
        value.split_once('/').ok_or_else(|| format!("{value:?} is not like 64000/20us"))?;
    Ok(ReceiveOffload { size: number(size)?, timeout: span(timeout)? })
}

/// Parses the gains in slow start and after it, in thousandths (`2000/1200`).
fn pacing(value: &str) -> Result<Pacing, String> {
    let (slow_start, after) =
        value.split_once('/').ok_or_else(|| format!("{value:?} is not like 2000/1200"))?;
    Ok(Pacing { slow_start_permille: number(slow_start)?, permille: number(after)? })
}

/// Parses delayed ACKs. `2/40ms` is an ACK for every second segment, or after 40 ms. With
/// `2/40ms/16`, the first 16 segments are acknowledged at once. With `2/40ms/16/pingpong`, these
/// immediate ACKs end when the host answers. With `2/40ms/16/below_rto_min`, an ACK is delayed by
/// less than the minimum RTO.
fn delayed_ack(value: &str) -> Result<DelayedAck, String> {
    let mut parts = value.split('/');
    let (Some(segments), Some(timeout)) = (parts.next(), parts.next()) else {
        return Err(format!("{value:?} is not like 2/40ms or 2/40ms/16"));
    };
    let quickack = parts.next().map_or(Ok(0), number)?;
    let (mut pingpong, mut below_rto_min) = (false, false);
    for part in parts {
        match part {
            "pingpong" => pingpong = true,
            "below_rto_min" => below_rto_min = true,
            other => return Err(format!("{other:?} must be pingpong or below_rto_min")),
        }
    }
    let (segments, timeout) = (number(segments)?, span(timeout)?);
    Ok(DelayedAck { segments, timeout, quickack, pingpong, below_rto_min })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tested_side_is_the_server_s_unless_the_script_says_otherwise() {
        let mut settings = Settings::new().unwrap();
        let mut after = |setting: &str| settings.set(setting).map(|()| settings.is_client);
        assert_eq!(after("seed=1"), Ok(false));
        assert_eq!(after("side=client"), Ok(true));
        assert_eq!(after("side=server"), Ok(false));
        assert_eq!(after("side=both"), Err("\"both\" is neither client nor server".to_owned()));
    }
}
