//! Parsing a script.

use incast_engine::Span;

use crate::Failure;
use crate::assertion::Assertion;
use crate::packet::{Pattern, number};
use crate::settings::{Settings, span};

/// A scripted test of one connection.
#[derive(Clone, Debug)]
pub struct Script {
    pub(crate) name: String,
    pub(crate) settings: Settings,
    pub(crate) steps: Vec<Step>,
}

/// An action or an expectation.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub line: usize,
    pub source: String,
    /// Earliest and latest time after the previous step. The two times differ only before an
    /// expected packet, which may come between them.
    pub after: (Span, Span),
    pub action: Action,
}

#[derive(Clone, Debug)]
pub(crate) enum Action {
    Open,
    Write(u64),
    Close,
    Request(u16),
    NotifyAt(u64),
    ReceiveBuffer(u64),
    /// A packet arrives; the number says how many times.
    Arrive(Pattern, u32),
    /// A packet is sent.
    Leave(Pattern),
    /// No packet is sent.
    Silence,
    Assert(Vec<Assertion>),
    Event(String, Vec<Assertion>),
}

impl Script {
    /// Parses a script. Messages contain `name`.
    ///
    /// # Errors
    /// If a line cannot be parsed, or if there is no comment with the claim at the top.
    pub fn parse(name: &str, text: &str) -> Result<Self, Failure> {
        let fail = |line, source, problem: String| {
            Failure::new(name, line, source, format!("  {problem}"))
        };
        let settings = Settings::new().map_err(|problem| fail(0, "", problem))?;
        let mut script = Self { name: name.to_owned(), settings, steps: Vec::new() };
        if !text.trim_start().starts_with("# ") {
            return Err(fail(
                1,
                "",
                "the script must begin with a comment that states its claim".into(),
            ));
        }
        for (line, source) in (1..).zip(text.lines().map(str::trim)) {
            let code = source.split('#').next().unwrap_or_default().trim();
            if !code.is_empty() {
                script.read(line, code).map_err(|problem| fail(line, source, problem))?;
            }
        }
        if script.steps.is_empty() {
            return Err(fail(1, "", "nothing happens in this script".into()));
        }
        Ok(script)
    }

    fn read(&mut self, line: usize, code: &str) -> Result<(), String> {
        if let Some(settings) = code.strip_prefix("config ") {
            if !self.steps.is_empty() {
                return Err("config comes before everything else".into());
            }
            return settings.split_whitespace().try_for_each(|it| self.settings.set(it));
        }
        let (mut after, rest) = time(code)?;
        for action in actions(rest)? {
            if after.0 != after.1 && !matches!(action, Action::Leave(_)) {
                return Err("only an expected packet has a range of times".into());
            }
            self.steps.push(Step { line, source: code.to_owned(), after, action });
            after = (Span::ZERO, Span::ZERO);
        }
        Ok(())
    }
}

/// The time before an action: `+1ms` or `+1ms~+2ms`.
fn time(code: &str) -> Result<((Span, Span), &str), String> {
    if !code.starts_with('+') {
        return Ok(((Span::ZERO, Span::ZERO), code));
    }
    let (times, rest) = code.split_once(' ').ok_or("nothing happens at that time")?;
    let plus =
        |text: &str| span(text.strip_prefix('+').ok_or_else(|| format!("{text:?} lacks its +"))?);
    let after = match times.split_once('~') {
        Some((earliest, latest)) => (plus(earliest)?, plus(latest)?),
        None => (plus(times)?, plus(times)?),
    };
    if after.0 > after.1 {
        return Err(format!("{times:?} ends before it starts"));
    }
    Ok((after, rest.trim()))
}

fn actions(code: &str) -> Result<Vec<Action>, String> {
    let (verb, rest) = code.split_once(' ').unwrap_or((code, ""));
    let words: Vec<_> = rest.split_whitespace().collect();
    Ok(vec![match (verb, words.as_slice()) {
        ("open", []) => Action::Open,
        ("close", []) => Action::Close,
        ("write", [bytes]) => Action::Write(number(bytes)?),
        ("request", []) => Action::Request(0),
        ("request", [bytes]) => Action::Request(number(bytes)?),
        ("notify", [bytes]) => Action::NotifyAt(number(bytes)?),
        ("buffer", [bytes]) => Action::ReceiveBuffer(number(bytes)?),
        ("<", [fields @ .., times]) if times.starts_with('x') => {
            Action::Arrive(Pattern::parse(fields.iter().copied())?, number(&times[1..])?)
        }
        ("<", fields) => Action::Arrive(Pattern::parse(fields.iter().copied())?, 1),
        (">", ["nothing"]) => Action::Silence,
        (">", fields) => return Ok(leaving(fields)?.into_iter().map(Action::Leave).collect()),
        ("assert", [_, ..]) => Action::Assert(Assertion::parse_all(rest)?),
        ("event", [name, ..]) => {
            let conditions = rest.trim_start().strip_prefix(name).unwrap_or_default();
            Action::Event((*name).to_owned(), Assertion::parse_all(conditions)?)
        }
        _ => return Err(format!("{code:?} is not an action")),
    }])
}

/// The expected packets: one packet, or data divided into several packets (`by 1000`).
fn leaving(fields: &[&str]) -> Result<Vec<Pattern>, String> {
    let Some(by) = fields.iter().position(|field| *field == "by") else {
        return Ok(vec![Pattern::parse(fields.iter().copied())?]);
    };
    let len = fields.get(by + 1).ok_or("by how many bytes?")?;
    let rest = fields[..by].iter().chain(&fields[by + 2..]).copied();
    Pattern::parse(rest)?.cut(number(len)?)
}
