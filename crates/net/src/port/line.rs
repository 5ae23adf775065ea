//! The line behind a port: transmission time, propagation delay, and order of arrivals.

use incast_engine::time::PICOS_PER_SEC;
use incast_engine::{Rate, Span, Stream};

use super::{PortConfig, Ties};

/// The line of a port and the link behind it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) serialisation: Serialisation,
    pub(super) clock_noise: Span,
    pub(super) delay: Span,
}

impl Line {
    pub(super) fn new(config: &PortConfig) -> Self {
        Self {
            serialisation: Serialisation::new(config.rate, config.layer2_overhead),
            clock_noise: config.clock_noise,
            delay: config.delay,
        }
    }

    /// Transmission time of a packet of `size` bytes.
    #[inline]
    pub(super) fn sending_time(&self, size: u32, random: &mut Stream) -> Span {
        let sending = self.serialisation.time(size);
        if self.clock_noise.is_zero() {
            return sending;
        }
        // The noise is below the transmission time, and its mean is 0.
        let noise = self.clock_noise.as_picos().min(sending.as_picos().saturating_sub(1));
        let drawn = random.below(2 * noise + 1);
        Span::from_picos(sending.as_picos() - noise + drawn)
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

/// Number of packets that precede a packet on a line. It orders simultaneous arrivals.
#[derive(Clone, Copy, Debug)]
pub(super) struct Train {
    /// With [`Ties::Scheduled`]: the number for the last packet, counted since the line was idle.
    length: Option<u64>,
}

impl Train {
    pub(super) fn new(ties: Ties) -> Self {
        Self { length: (ties == Ties::Scheduled).then_some(0) }
    }

    /// Appends a packet; returns the number of packets that precede it. `ahead` are still in the
    /// port.
    ///
    /// [`Ties::Scheduled`] orders simultaneous events by the time at which they were scheduled. A
    /// transmission that begins with an arrival then precedes one that begins with a simultaneous
    /// departure, because a propagation delay is longer than a transmission. Two lines that send
    /// without gaps keep their order. The line that has sent fewer packets since it was idle is
    /// therefore first.
    #[inline]
    pub(super) fn append(&mut self, ahead: u64) -> u64 {
        let Some(length) = &mut self.length else { return ahead };
        *length = if ahead == 0 { 0 } else { *length + 1 };
        *length
    }
}

/// Reordering on a link: randomly selected packets are delayed, and others overtake them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reordering {
    /// Probability, 0 to 1, that a packet is delayed.
    pub p: f64,
    /// The additional delay.
    pub delay: Span,
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

    #[test]
    fn clock_noise_moves_departures_both_ways_and_keeps_the_mean() {
        let noise = Span::from_nanos(10);
        let config =
            PortConfig { clock_noise: noise, ..PortConfig::host(Rate(1_000_000_000), Span::ZERO) };
        let line = Line::new(&config);
        let mut random = Stream::named(1, "port", 0);
        let exact = Span::from_micros(12);
        let draws: Vec<Span> = (0..1000).map(|_| line.sending_time(1500, &mut random)).collect();
        assert!(draws.iter().all(|draw| draw.abs_diff(exact) <= noise));
        assert!(draws.iter().any(|draw| *draw < exact) && draws.iter().any(|draw| *draw > exact));
        let mean = draws.iter().map(|draw| draw.as_picos()).sum::<u64>() / 1000;
        assert!(mean.abs_diff(exact.as_picos()) < 1000, "{mean} ps");
    }

    #[test]
    fn no_packet_takes_no_time_however_noisy_the_clocks_are() {
        let noise = Span::from_millis(1);
        let config =
            PortConfig { clock_noise: noise, ..PortConfig::host(Rate(1_000_000_000), Span::ZERO) };
        let line = Line::new(&config);
        let mut random = Stream::named(1, "port", 0);
        let draws: Vec<u64> =
            (0..10_000).map(|_| line.sending_time(40, &mut random).as_picos()).collect();
        assert!(draws.iter().all(|draw| (1..640_000).contains(draw)));
        let mean = draws.iter().sum::<u64>() / 10_000;
        assert!(mean.abs_diff(320_000) < 10_000, "{mean} ps");
    }
}
