//! Request staggering: the client sends requests to one server after the other, a fixed time apart.
//!
//! The client does not wait for responses. If the interval is the transmission time of an SRU on
//! the client's link, the servers together send at the rate of the link. Packets then wait at the
//! switch only if they overlap.

use std::collections::VecDeque;

use incast_engine::{Span, Stream, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::or_auto::OrAuto;
use crate::schedule::{ClientPlace, ClientView, FullPacket, Note, Order, RequestScheduler};
use crate::seam::{Installation, Remedy, Situation, Slot};

/// Requests to one server after the other, a fixed time apart.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "StaggeringRemedy")]
pub struct Params {
    /// Time between two requests, in seconds; or `auto`, the transmission time of an SRU with its
    /// headers on the client's link. Default: `auto`.
    pub interval: OrAuto<Span>,
    /// Random deviation of each interval, uniformly distributed, as a share of the interval, 0 to
    /// 1. Default: 0.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub spread: f64,
}

impl Remedy for Params {
    fn slots(&self) -> &'static [Slot] {
        &[Slot::Schedule]
    }

    fn install(&self, situation: &Situation) -> Box<dyn Installation> {
        Box::new(Staggering { params: self.clone(), situation: situation.clone() })
    }
}

struct Staggering {
    params: Params,
    situation: Situation,
}

impl Staggering {
    /// Transmission time of an SRU on the client's link.
    fn service_time(&self, FullPacket { payload, header }: FullPacket) -> Span {
        let Situation { sru, client_rate, .. } = self.situation;
        let headers = sru.div_ceil(payload.into()).saturating_mul(header.into());
        client_rate.transmission_time(sru.saturating_add(headers))
    }
}

impl Installation for Staggering {
    fn scheduler(&mut self, client: ClientPlace) -> Option<Box<dyn RequestScheduler>> {
        let interval = self.params.interval.quantity_or_else(|_| self.service_time(client.packet));
        let spread = Span::from_picos((interval.as_picos() as f64 * self.params.spread) as u64);
        Some(Box::new(Stagger {
            shortest: interval.saturating_sub(spread),
            spread: spread.saturating_add(spread),
            random: client.random,
            next: Time::ZERO,
            waiting: VecDeque::new(),
        }))
    }
}

struct Stagger {
    /// The shortest time between two requests, and the range of the random addition.
    shortest: Span,
    spread: Span,
    random: Stream,
    /// The earliest time of the next request.
    next: Time,
    /// Request times of waiting servers, earliest first.
    waiting: VecDeque<(Time, u32)>,
}

impl RequestScheduler for Stagger {
    fn on_note(&mut self, note: Note, view: &ClientView<'_>, orders: &mut Vec<Order>) {
        match note {
            Note::Wanted(server) => {
                let at = self.next.max(view.now);
                self.next = at + self.shortest + self.random.uniform(self.spread);
                self.waiting.push_back((at, server));
                if at > view.now {
                    orders.push(Order::Alarm(at));
                }
            }
            Note::Alarm => {}
            Note::Established(_) | Note::Marked(_) | Note::Complete(_) => return,
        }
        while let Some(&(at, server)) = self.waiting.front()
            && at <= view.now
        {
            self.waiting.pop_front();
            orders.push(Order::Ask { server, window: None });
        }
    }

    /// Ends the block. The next block begins with an immediate request.
    fn end_block(&mut self, _: u32, _: &ClientView<'_>) {
        self.next = Time::ZERO;
    }
}

#[cfg(test)]
mod tests {
    use incast_engine::{Span, Time};
    use serde_json::{Value, json};

    use crate::desk::{Desk, MSS};
    use crate::schedule::{Note, Order};

    /// Runs a block whose servers are all wanted at once. Returns the request times.
    fn times(parameters: &Value, servers: u32, sru: u64) -> Vec<(Time, u32)> {
        let mut remedy = parameters.clone();
        remedy["name"] = json!("staggering");
        let mut desk = Desk::new(&remedy, servers, sru);
        block(&mut desk)
    }

    fn block(desk: &mut Desk) -> Vec<(Time, u32)> {
        let mut orders = desk.wants_all();
        let (mut asked, mut alarms) = (Vec::new(), Vec::new());
        loop {
            for order in orders {
                match order {
                    Order::Ask { server, window: None } => asked.push((desk.now, server)),
                    Order::Alarm(at) => alarms.push(at),
                    other => panic!("{other:?}"),
                }
            }
            alarms.sort_unstable();
            if alarms.is_empty() {
                return asked;
            }
            desk.now = alarms.remove(0);
            orders = desk.hears(Note::Alarm);
        }
    }

    fn micros(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    #[test]
    fn requests_are_an_interval_apart() {
        let asked = times(&json!({ "interval": "50us" }), 4, 65_536);
        assert_eq!(asked, [(micros(0), 0), (micros(50), 1), (micros(100), 2), (micros(150), 3)]);
        let asked = times(&json!({ "interval": "0s" }), 3, 65_536);
        assert_eq!(asked, [(micros(0), 0), (micros(0), 1), (micros(0), 2)]);
    }

    /// At 1 Gbps, a packet of 1500 bytes takes 12 us, and a header of 40 bytes takes 0.32 us.
    #[test]
    fn auto_is_the_time_of_an_sru_on_the_clients_link() {
        assert_eq!(times(&json!({}), 2, 10 * MSS)[1], (micros(120), 1));
        let next = micros(120) + Span::from_nanos(328);
        assert_eq!(times(&json!({}), 2, 10 * MSS + 1)[1], (next, 1));
    }

    #[test]
    fn a_server_that_is_wanted_late_does_not_wait_for_those_before() {
        let mut desk = Desk::new(&json!({ "name": "staggering", "interval": "50us" }), 3, 65_536);
        assert_eq!(desk.hears(Note::Wanted(0)).len(), 1);
        desk.passes(60);
        assert_eq!(desk.hears(Note::Wanted(1)), [Order::Ask { server: 1, window: None }]);
        desk.passes(20);
        assert_eq!(desk.hears(Note::Wanted(2)), [Order::Alarm(micros(110))]);
        assert_eq!(desk.hears(Note::Alarm), [], "an alarm for another time");
        assert_eq!(desk.hears(Note::Complete(0)), [], "answers do not matter");
        desk.passes(30);
        assert_eq!(desk.hears(Note::Alarm), [Order::Ask { server: 2, window: None }]);
    }

    #[test]
    fn a_block_begins_at_once() {
        let mut desk = Desk::new(&json!({ "name": "staggering", "interval": "50us" }), 2, 65_536);
        assert_eq!(block(&mut desk), [(micros(0), 0), (micros(50), 1)]);
        desk.passes(10);
        desk.ends_block(1);
        assert_eq!(block(&mut desk), [(micros(60), 0), (micros(110), 1)]);
    }

    #[test]
    fn random_intervals_keep_their_mean_and_their_bounds() {
        let asked = times(&json!({ "interval": "100us", "spread": 0.5 }), 2000, 65_536);
        let gaps: Vec<Span> = asked.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
        let bounds = Span::from_micros(50)..Span::from_micros(150);
        assert!(gaps.iter().all(|gap| bounds.contains(gap)));
        let mean = (asked[1999].0 - asked[0].0).as_secs_f64() / 1999.0;
        // The standard error is 0.65 us.
        assert!((mean - 100e-6).abs() < 3e-6, "{mean}");
        assert!(gaps.iter().any(|gap| *gap < Span::from_micros(55)));
        assert!(gaps.iter().any(|gap| *gap > Span::from_micros(145)));
    }
}
