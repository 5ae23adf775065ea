//! Running a script: the clock advances from one deadline of the connection to the next.

use std::collections::VecDeque;
use std::sync::Arc;

use incast_engine::{Span, Stream, Time};
use incast_net::{Packet, RouteId};
use incast_remedies::Place;
use incast_tcp::connection::Polled;
use incast_tcp::{Connection, Event};

use crate::Failure;
use crate::assertion::{Assertion, event_field, event_name, gauge};
use crate::packet::{Defaults, Pattern, Shown};
use crate::script::{Action, Script, Step};
use crate::settings::Settings;

/// Maximum number of expired deadlines. If more deadlines expire, the script fails, because the
/// connection does not advance its deadline.
const WAKE_UPS: u32 = 100_000;

/// Maximum number of packets and events that wait for the script, in case the connection does not
/// stop sending.
const BACKLOG: usize = 10_000;

/// The values of the connection that a failure shows.
const SHOWN: &[&str] =
    &["cwnd", "ssthresh", "flight", "una", "dupacks", "in_recovery", "rto", "deadline", "received"];

struct Runner<'a> {
    script: &'a Script,
    connection: Connection,
    now: Time,
    defaults: Defaults,
    /// Sent packets that the script has not expected yet.
    sent: VecDeque<(Time, Packet)>,
    /// Reported events that the script has not checked yet.
    events: VecDeque<Event>,
    wake_ups: u32,
}

impl Script {
    /// Runs the script.
    ///
    /// # Errors
    /// If the connection does not do what the script expects.
    pub fn run(&self) -> Result<(), Failure> {
        run(self, |_| {})
    }

    /// Runs the script after `prepare` has changed the connection, for example by adding hooks.
    ///
    /// # Errors
    /// As [`Script::run`].
    pub fn run_with(
        &self,
        prepare: impl FnOnce(&mut incast_tcp::Connection),
    ) -> Result<(), Failure> {
        run(self, prepare)
    }
}

/// Runs `script` on a new connection, after `prepare` has changed the connection.
fn run(script: &Script, prepare: impl FnOnce(&mut Connection)) -> Result<(), Failure> {
    let settings = &script.settings;
    let config = Arc::new(settings.config.clone());
    let window = u32::try_from(config.receive_window).unwrap_or(u32::MAX);
    let random = Stream::named(settings.seed, "script", 0);
    let mut connection =
        Connection::new(config, settings.role, RouteId::new(0, true), settings.epoch, random);
    attach_remedies(settings, &mut connection);
    prepare(&mut connection);
    let mut runner = Runner {
        script,
        connection,
        now: Time::ZERO,
        defaults: Defaults {
            ack: incast_tcp::connection::FIRST_BYTE,
            window,
            epoch: settings.epoch,
        },
        sent: VecDeque::new(),
        events: VecDeque::new(),
        wake_ups: 0,
    };
    for step in &script.steps {
        runner.step(step).map_err(|problem| runner.failure(step, &problem))?;
    }
    match (runner.expect_silence(), script.steps.last()) {
        (Err(problem), Some(last)) => Err(runner.failure(last, &problem)),
        _ => Ok(()),
    }
}

/// Adds the remedies' hooks for the tested end to the connection.
fn attach_remedies(settings: &Settings, connection: &mut Connection) {
    // Invalid settings were refused when they were parsed.
    for remedy in settings.remedies().unwrap_or_default() {
        let mut installation = remedy.remedy().install(&settings.situation);
        let place = Place {
            config: &settings.config,
            server: 0,
            random: Stream::named(settings.seed, remedy.name(), 0),
        };
        if settings.is_client {
            if let Some(hook) = installation.receiver(place) {
                connection.add_receiver_hook(hook);
            }
        } else if let Some(hook) = installation.sender(place) {
            connection.add_sender_hook(hook);
        }
    }
}

impl Runner<'_> {
    fn step(&mut self, step: &Step) -> Result<(), String> {
        let (earliest, latest) = step.after;
        match &step.action {
            Action::Leave(pattern) => self.expect(pattern, earliest, latest),
            Action::Silence => {
                self.sleep(earliest, true)?;
                self.expect_silence()
            }
            Action::Assert(assertions) => {
                self.sleep(earliest, true)?;
                let (connection, now) = (&self.connection, self.now);
                assertions.iter().try_for_each(|it| it.check(|name| gauge(connection, now, name)))
            }
            Action::Event(name, conditions) => {
                self.sleep(earliest, true)?;
                self.expect_event(name, conditions)
            }
            input => {
                // A deadline at the same time comes after the actions of the script.
                self.sleep(earliest, false)?;
                self.expect_silence()?;
                self.apply(input);
                Ok(())
            }
        }
    }

    fn apply(&mut self, input: &Action) {
        let connection = &mut self.connection;
        match *input {
            Action::Open => connection.open(),
            Action::Write(bytes) => connection.write(bytes),
            Action::Close => connection.close(),
            Action::Request(size) => connection.request(size),
            Action::NotifyAt(bytes) => connection.notify_at(bytes),
            Action::ReceiveBuffer(bytes) => connection.set_receive_buffer(bytes),
            Action::Arrive(pattern, times) => {
                let packet = pattern.to_packet(&self.script.settings.config, &mut self.defaults);
                for _ in 0..times {
                    self.connection.handle_segment(self.now, &packet);
                    self.pump();
                }
            }
            _ => {}
        }
        self.pump();
    }

    /// Polls packets and events of the connection.
    ///
    /// # Panics
    /// If a packet follows a packet that was announced as the last.
    fn pump(&mut self) {
        let mut more = true;
        while self.sent.len() < BACKLOG {
            let mut packet = Packet::default();
            let polled = self.connection.poll_transmit_into(self.now, &mut packet);
            if polled == Polled::Nothing {
                break;
            }
            assert!(more, "a packet after the announced last one: {packet:?}");
            more = polled == Polled::Packet;
            self.sent.push_back((self.now, packet));
        }
        while self.events.len() < BACKLOG
            && let Some(event) = self.connection.poll_event()
        {
            self.events.push_back(event);
        }
    }

    /// Expires the connection's next deadline, if it is not after `limit`.
    fn wake(&mut self, limit: Time) -> Result<bool, String> {
        let deadline = self.connection.poll_timeout();
        if deadline > limit || deadline == Time::NEVER {
            return Ok(false);
        }
        self.wake_ups += 1;
        if self.wake_ups > WAKE_UPS {
            return Err("  the connection wakes again and again".into());
        }
        self.now = self.now.max(deadline);
        self.connection.handle_timeout(self.now);
        self.pump();
        Ok(true)
    }

    /// Advances the clock by `span`, during which no packet may be sent. Deadlines at the end of
    /// `span` expire if `inclusive`.
    fn sleep(&mut self, span: Span, inclusive: bool) -> Result<(), String> {
        if span.is_zero() {
            return Ok(());
        }
        let until = self.now + span;
        let limit = if inclusive { until } else { Time::from_picos(until.as_picos() - 1) };
        self.expect_silence()?;
        while self.wake(limit)? {
            self.expect_silence()?;
        }
        self.now = until;
        Ok(())
    }

    fn expect(&mut self, pattern: &Pattern, after: Span, within: Span) -> Result<(), String> {
        let (earliest, latest) = (self.now + after, self.now + within);
        while self.sent.is_empty() && self.wake(latest)? {}
        let wanted = if earliest == latest {
            format!("  expected  this at {earliest}")
        } else {
            format!("  expected  this from {earliest} to {latest}")
        };
        match self.sent.pop_front() {
            Some((at, packet)) if at >= earliest && pattern.matches(&packet, &self.defaults) => {
                Ok(())
            }
            Some((at, packet)) => {
                Err(format!("{wanted}\n  got       > {} at {at}", Shown(&packet)))
            }
            None => {
                let next = match self.connection.poll_timeout() {
                    Time::NEVER => "and no timer runs".to_owned(),
                    at => format!("and the next deadline is {at}"),
                };
                Err(format!("{wanted}\n  got       nothing, {next}"))
            }
        }
    }

    fn expect_silence(&self) -> Result<(), String> {
        match self.sent.front() {
            None => Ok(()),
            Some((at, packet)) => {
                Err(format!("  expected  nothing more\n  got       > {} at {at}", Shown(packet)))
            }
        }
    }

    fn expect_event(&mut self, name: &str, conditions: &[Assertion]) -> Result<(), String> {
        if name == "none" {
            let names: Vec<_> = self.events.iter().map(event_name).collect();
            let problem = || format!("  expected  no event\n  got       {names:?}");
            return names.is_empty().then_some(()).ok_or_else(problem);
        }
        match self.events.pop_front() {
            Some(event) if event_name(&event) == name => {
                conditions.iter().try_for_each(|it| it.check(|f| event_field(&event, f)))
            }
            Some(event) => {
                Err(format!("  expected  {name}\n  got       {} before it", event_name(&event)))
            }
            None => Err(format!("  expected  {name}\n  got       no event")),
        }
    }

    fn failure(&self, step: &Step, problem: &str) -> Failure {
        let gauges: String = SHOWN
            .iter()
            .filter_map(|name| Some((name, gauge(&self.connection, self.now, name)?)))
            .fold(String::new(), |text, (name, value)| {
                text + ", " + name + " " + &value.to_string()
            });
        let problem = format!("{problem}\n  state     at {}{gauges}", self.now);
        Failure::new(&self.script.name, step.line, &step.source, problem)
    }
}
