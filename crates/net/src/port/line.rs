//! The line behind a port: transmission time, propagation delay, and order of arrivals.

use incast_engine::time::PICOS_PER_SEC;
use incast_engine::{Rate, Span, Stream, Time};

use super::{PortConfig, Reordering, Ties};

/// The line of a port: its serialiser and the link behind it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) serialisation: Serialisation,
    /// Upper bound of the lateness of packets, in picoseconds.
    noise: u32,
    /// Lateness of the last packet: its departure time minus its departure time without clock
    /// noise, in picoseconds.
    late: u32,
    pub(super) delay: Span,
}

impl Line {
    pub(super) fn new(config: &PortConfig) -> Self {
        Self {
            serialisation: Serialisation::new(config.rate, config.layer2_overhead),
            noise: u32::try_from(config.clock_noise.as_picos()).unwrap_or(u32::MAX),
            late: 0,
            delay: config.delay,
        }
    }

    #[inline]
    pub(super) fn is_exact(&self) -> bool {
        self.noise == 0
    }

    /// A random lateness for a packet of `size` bytes: its departure time minus its departure time
    /// without clock noise, in picoseconds. The lateness is less than the transmission time.
    pub(super) fn lateness(&self, size: u32, random: &mut Stream) -> u32 {
        if self.is_exact() {
            return 0;
        }
        let sending = self.serialisation.time(size).as_picos();
        random.below(u64::from(self.noise).min(sending.saturating_sub(1)) + 1) as u32
    }

    /// Departure time of a packet of `size` bytes whose transmission begins at the later of `ready`
    /// and `last_departure`.
    ///
    /// The lateness of successive packets does not accumulate: each packet is late relative to a
    /// line without clock noise. No packet is earlier than on such a line, because a short transfer
    /// could then exceed the line rate.
    pub(super) fn departure(
        &mut self,
        ready: Time,
        last_departure: Time,
        size: u32,
        lateness: u32,
    ) -> Time {
        let begins = ready.max(self.exactly(last_departure));
        let exact = begins.plus(self.serialisation.time(size));
        let late = exact.plus(Span::from_picos(lateness.into()));
        let departure = late.max(last_departure.plus(Span::from_picos(1)));
        self.late = (departure - exact).as_picos() as u32;
        departure
    }

    /// The time at which the last packet would have left a line without clock noise.
    fn exactly(&self, last_departure: Time) -> Time {
        Time::from_picos(last_departure.as_picos() - u64::from(self.late))
    }
}

/// Transmission times.
#[derive(Clone, Copy, Debug)]
pub(super) struct Serialisation {
    pub(super) rate: Rate,
    layer2_overhead: u32,
    /// Picoseconds per byte if this is an integer, as for all Ethernet rates; otherwise 0.
    pub(super) picos_per_byte: u64,
}

impl Serialisation {
    pub(super) fn new(rate: Rate, layer2_overhead: u32) -> Self {
        let per_byte = 8 * PICOS_PER_SEC;
        let picos_per_byte = if per_byte.is_multiple_of(rate.0) { per_byte / rate.0 } else { 0 };
        Self { rate, layer2_overhead, picos_per_byte }
    }

    #[inline]
    pub(super) fn time(&self, size: u32) -> Span {
        let bytes = u64::from(size + self.layer2_overhead);
        if self.picos_per_byte > 0 {
            Span::from_picos(bytes * self.picos_per_byte)
        } else {
            let picos = u128::from(bytes * 8) * u128::from(PICOS_PER_SEC);
            Span::from_picos(picos.div_ceil(u128::from(self.rate.0)) as u64)
        }
    }
}

/// Number of packets that precede a packet on a line. This number orders simultaneous arrivals.
#[derive(Clone, Copy, Debug)]
pub(super) struct Train {
    /// With [`Ties::Scheduled`]: the number of packets that preceded the last packet since the line
    /// was idle.
    length: Option<u64>,
}

impl Train {
    pub(super) fn new(ties: Ties) -> Self {
        Self { length: (ties == Ties::Scheduled).then_some(0) }
    }

    /// Appends a packet, and returns the number of packets that precede it. `ahead` packets are
    /// still in the port.
    ///
    /// [`Ties::Scheduled`] orders simultaneous events by the time at which they were scheduled. An
    /// arrival is scheduled a propagation delay earlier, and a departure only a transmission time
    /// earlier. If the delay is longer, an arrival therefore comes before a simultaneous departure.
    /// A transmission that begins with the arrival, on an idle line, then comes before a
    /// transmission that begins with the departure, on a busy line. The two lines keep this order
    /// as long as they send without gaps. Therefore the line that has sent fewer packets since it
    /// was idle comes first.
    #[inline]
    pub(super) fn append(&mut self, ahead: u64) -> u64 {
        let Some(length) = &mut self.length else { return ahead };
        *length = if ahead == 0 { 0 } else { *length + 1 };
        *length
    }
}

/// The state of a link with reordering.
#[derive(Clone, Debug)]
pub(super) struct Reorderer {
    params: Reordering,
    random: Stream,
}

impl Reorderer {
    pub(super) fn new(params: Reordering, random: Stream) -> Self {
        Self { params, random }
    }

    /// The additional delay of the next packet.
    pub(super) fn draw(&mut self) -> Span {
        if self.random.chance(self.params.p) { self.params.delay } else { Span::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_that_does_not_divide_evenly_is_rounded_up() {
        let line = Serialisation::new(Rate(7_000_000_000), 0);
        assert_eq!(line.picos_per_byte, 0);
        assert_eq!(line.time(1500), Span::from_picos(1_714_286));
    }

    fn noisy(noise: Span) -> Line {
        let config = PortConfig::host(Rate(1_000_000_000), Span::ZERO);
        Line::new(&PortConfig { clock_noise: noise, ..config })
    }

    /// Departures of `count` packets of `size` bytes that are all ready at time zero.
    fn train(line: &mut Line, size: u32, count: usize) -> Vec<Time> {
        let mut random = Stream::named(1, "port", 0);
        let mut last = Time::ZERO;
        let mut next = || {
            let lateness = line.lateness(size, &mut random);
            last = line.departure(Time::ZERO, last, size, lateness);
            last
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn clock_noise_delays_departures_and_keeps_the_rate() {
        let noise = Span::from_nanos(10);
        let departures = train(&mut noisy(noise), 1500, 1000);
        let late = |(count, at): (u64, &Time)| *at - Time::ZERO.plus(Span::from_micros(12 * count));
        let late: Vec<Span> = (1..).zip(&departures).map(late).collect();
        assert!(late.iter().all(|late| *late <= noise));
        assert!(late.windows(2).any(|pair| pair[0] < pair[1]));
        assert!(late.windows(2).any(|pair| pair[0] > pair[1]));
        let mean = late.iter().map(|late| late.as_picos()).sum::<u64>() / 1000;
        assert!(mean.abs_diff(5_000) < 500, "{mean} ps");
    }

    #[test]
    fn a_line_is_never_ahead_of_an_exact_one_however_noisy_its_clock_is() {
        let departures = train(&mut noisy(Span::from_millis(1)), 40, 10_000);
        assert!(departures.is_sorted_by(|one, next| one < next));
        for (count, at) in (1..).zip(&departures) {
            let exact = Time::from_picos(320_000 * count);
            assert!(exact <= *at && *at < exact + Span::from_picos(320_000));
        }
    }

    #[test]
    fn a_short_packet_behind_a_late_long_one_stays_behind_it() {
        let mut line = noisy(Span::from_micros(10));
        let [long, short] = [1500, 40].map(|size| line.serialisation.time(size));
        let first = line.departure(Time::ZERO, Time::ZERO, 1500, 10_000_000);
        let second = line.departure(Time::ZERO, first, 40, 0);
        assert_eq!(second, first + Span::from_picos(1));
        assert_eq!(line.exactly(second), Time::ZERO + long + short);
        let idle = second + Span::from_micros(1);
        assert_eq!(line.departure(idle, second, 40, 0), idle + short);
    }
}
