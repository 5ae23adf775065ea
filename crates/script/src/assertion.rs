//! `assert` and `event`: the state and the events of the connection.

use std::fmt;

use incast_engine::{Span, Time};
use incast_tcp::{Connection, Event, TimeoutKind, TimeoutReport};

use crate::packet::number;
use crate::settings::span;

/// A value that can be compared.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub(crate) enum Value {
    Number(u64),
    /// A real number in millionths.
    Real(i64),
    Span(Span),
    Flag(bool),
    Word(String),
    /// An unknown value, or a time that is never reached.
    None,
}

impl Value {
    fn parse(text: &str) -> Self {
        match text {
            "true" => Self::Flag(true),
            "false" => Self::Flag(false),
            "none" => Self::None,
            _ => number(text)
                .map(Self::Number)
                .or_else(|_| text.parse().map(Self::real))
                .or_else(|_| span(text).map(Self::Span))
                .unwrap_or_else(|_| Self::Word(text.to_owned())),
        }
    }

    fn real(value: f64) -> Self {
        Self::Real((value * 1e6).round() as i64)
    }

    fn option(span: Option<Span>) -> Self {
        span.map_or(Self::None, Self::Span)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Real(millionths) => write!(f, "{}", *millionths as f64 / 1e6),
            Self::Span(span) => write!(f, "{span}"),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Word(word) => f.write_str(word),
            Self::None => f.write_str("none"),
        }
    }
}

/// An assertion: `name operator value`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Assertion {
    name: String,
    operator: String,
    value: Value,
}

impl Assertion {
    /// Parses assertions separated by commas.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, String> {
        let clauses = text.split(',').map(str::trim).filter(|clause| !clause.is_empty());
        clauses.map(Self::parse).collect()
    }

    fn parse(clause: &str) -> Result<Self, String> {
        let words: Vec<_> = clause.split_whitespace().collect();
        let &[name, operator, value] = words.as_slice() else {
            return Err(format!("{clause:?} is not like \"cwnd == 2000\""));
        };
        if !["==", "!=", "<", "<=", ">", ">="].contains(&operator) {
            return Err(format!("{operator:?} is not a comparison"));
        }
        let (name, operator) = (name.to_owned(), operator.to_owned());
        Ok(Self { name, operator, value: Value::parse(value) })
    }

    /// Compares with the value that `read` returns for the name.
    pub fn check(&self, read: impl FnOnce(&str) -> Option<Value>) -> Result<(), String> {
        let Self { name, operator, value } = self;
        let got = read(name).ok_or_else(|| format!("  {name:?} cannot be read"))?;
        let alike = std::mem::discriminant(&got) == std::mem::discriminant(value);
        let either_none = got == Value::None || *value == Value::None;
        let holds = match operator.as_str() {
            "==" => got == *value,
            "!=" => (alike || either_none) && got != *value,
            "<" => alike && got < *value,
            "<=" => alike && got <= *value,
            ">" => alike && got > *value,
            _ => alike && got >= *value,
        };
        if holds {
            return Ok(());
        }
        Err(format!("  expected  {name} {operator} {value}\n  got       {name} == {got}"))
    }
}

/// A value of a connection for `assert`.
pub(crate) fn gauge(connection: &Connection, now: Time, name: &str) -> Option<Value> {
    let rtt = connection.rtt();
    let counters = connection.counters();
    Some(match name {
        "cwnd" => Value::Number(connection.cwnd()),
        "ssthresh" => Value::Number(connection.ssthresh()),
        "flight" => Value::Number(connection.flight()),
        "una" => Value::Number(connection.una()),
        "dupacks" => Value::Number(connection.dupacks().into()),
        "in_recovery" => Value::Flag(connection.in_recovery()),
        "rto" => Value::Span(rtt.rto()),
        "srtt" => Value::option(rtt.srtt()),
        "min_rtt" => Value::option(rtt.min_rtt()),
        "doublings" => Value::Number(rtt.doublings().into()),
        "deadline" => match connection.poll_timeout() {
            Time::NEVER => Value::None,
            at => Value::Span(at.saturating_since(now)),
        },
        "established" => Value::Flag(connection.is_established()),
        "drained" => Value::Flag(connection.is_drained()),
        "written" => Value::Number(connection.written()),
        "received" => Value::Number(connection.received().next()),
        "has_gap" => Value::Flag(connection.received().has_gap()),
        "holding_ack" => Value::Flag(connection.is_holding_ack()),
        "requests_made" => Value::Number(connection.requests_made()),
        "requests_seen" => Value::Number(connection.requests_seen()),
        "data_packets" => Value::Number(counters.data_packets),
        "retransmitted_packets" => Value::Number(counters.retransmitted_packets),
        "undone_timeouts" => Value::Number(counters.undone_timeouts),
        "fast_retransmits" => Value::Number(counters.fast_retransmits),
        _ => return connection.congestion_gauge(name).map(Value::real),
    })
}

/// The name of an event.
pub(crate) fn event_name(event: &Event) -> &'static str {
    match event {
        Event::Established => "established",
        Event::Request => "request",
        Event::Received => "received",
        Event::Timeout(_) => "timeout",
        Event::FastRetransmit => "fast-retransmit",
        Event::RecoveryExit => "recovery-exit",
    }
}

/// A field of an event.
pub(crate) fn event_field(event: &Event, name: &str) -> Option<Value> {
    let Event::Timeout(report) = event else {
        return None;
    };
    let TimeoutReport { kind, una, max, head_end, transmissions, dupacks, .. } = *report;
    let TimeoutReport { cwnd, ssthresh, flight, block_head, advised, .. } = *report;
    Some(match name {
        "kind" => Value::Word(
            match kind {
                TimeoutKind::Data => "data",
                TimeoutKind::Handshake => "handshake",
                TimeoutKind::Request => "request",
            }
            .to_owned(),
        ),
        "una" => Value::Number(una),
        "max" => Value::Number(max),
        "head_end" => Value::Number(head_end),
        "transmissions" => Value::Number(transmissions.into()),
        "dupacks" => Value::Number(dupacks.into()),
        "cwnd" => Value::Number(cwnd),
        "ssthresh" => Value::Number(ssthresh),
        "flight" => Value::Number(flight),
        "block_head" => Value::Flag(block_head),
        "advised" => Value::Flag(advised),
        _ => return None,
    })
}
