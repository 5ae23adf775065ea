//! Named random streams.
//!
//! Every consumer of randomness has its own stream, derived from the scenario's seed, a name and an
//! index (`("request jitter", client 0)`). Therefore, an additional hook or probe does not change
//! other streams, and two transports with the same seed get the same noise.

use rand_core::Rng;
use rand_pcg::Pcg64;

use crate::time::Span;

/// A random stream, reproducible on every platform (PCG XSL RR 128/64).
#[derive(Clone, Debug)]
pub struct Stream(Pcg64);

impl Stream {
    /// The stream called `name`, number `index`, of the run with this seed.
    pub fn named(seed: u64, name: &str, index: u64) -> Self {
        let state = (u128::from(splitmix(seed)) << 64) | u128::from(splitmix(!seed));
        let id = (u128::from(fnv1a(name)) << 64) | u128::from(splitmix(index));
        Self(Pcg64::new(state, id))
    }

    /// A number below 2^64, uniformly.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number in `[0, 1)` with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number in `[0, bound)`, uniformly (Lemire's multiplication; the bias is below 2^-64·bound).
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// A span in `[0, limit)`, uniformly; zero if `limit` is zero.
    pub fn uniform(&mut self, limit: Span) -> Span {
        Span::from_picos(self.below(limit.as_picos()))
    }

    /// An exponentially distributed span with this mean.
    pub fn exponential(&mut self, mean: Span) -> Span {
        let draw = -libm::log(1.0 - self.unit());
        Span::from_picos((mean.as_picos() as f64 * draw) as u64)
    }

    /// True with probability `p`.
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }
}

/// A number that depends on every bit of `value`, so that neighbouring values have unrelated
/// numbers: the finaliser of `SplitMix64` (Steele et al., OOPSLA 2014).
pub const fn splitmix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// FNV-1a, 64 bits: a stable hash of a stream's name.
fn fnv1a(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_seed_name_and_index() {
        let first = |seed, name, index| Stream::named(seed, name, index).next_u64();
        let base = first(1, "request jitter", 0);
        assert_eq!(base, first(1, "request jitter", 0));
        assert_ne!(base, first(2, "request jitter", 0));
        assert_ne!(base, first(1, "loss", 0));
        assert_ne!(base, first(1, "request jitter", 1));
    }

    #[test]
    fn exponential_has_its_mean_and_uniform_its_bounds() {
        let mut stream = Stream::named(7, "test", 0);
        let mean = Span::from_micros(10);
        let draws = 20_000_u64;
        let sum: u64 = (0..draws).map(|_| stream.exponential(mean).as_picos()).sum();
        let ratio = (sum / draws) as f64 / mean.as_picos() as f64;
        assert!((0.97..1.03).contains(&ratio), "mean is off by {ratio}");
        assert!((0..1000).all(|_| stream.uniform(mean) < mean));
        assert_eq!(stream.uniform(Span::ZERO), Span::ZERO);
    }
}
