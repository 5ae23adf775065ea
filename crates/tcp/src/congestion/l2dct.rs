//! L2DCT, whose weights favour the blocks that have sent the least data so far (Munir et al.:
//! INFOCOM 2013).

use incast_engine::{Fault, Size};

use super::marks::{Law, MarkedWindow, params_over_marks};
use super::reno::Reno;
use super::{AckSample, CongestionControl, Parameters, PathView};

params_over_marks! {
    /// Parameters of L2DCT: the less of a block has been sent, the larger its weight. With a large
    /// weight, the window grows fast and shrinks little.
    pub struct Params {
        /// Weight of a block with at most `short` acknowledged bytes, above 0 (paper §3: 2.5).
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        pub greatest_weight: f64 = 2.5,
        /// Weight of a block with at least `long` acknowledged bytes, above 0 (paper §3: 0.125).
        #[schemars(extend("exclusiveMinimum" = 0.0))]
        pub least_weight: f64 = 0.125,
        /// Acknowledged bytes at which the weight begins to fall.
        pub short: Size = Size(200_000),
        /// Acknowledged bytes at which the weight reaches `least_weight`. Between `short` and
        /// `long` the weight falls linearly.
        pub long: Size = Size(1_000_000),
    }
}

impl Parameters for Params {
    fn check(&self) -> Result<(), Fault> {
        if self.least_weight > self.greatest_weight {
            let message = format!(
                "{} exceeds greatest_weight ({}); write less",
                self.least_weight, self.greatest_weight
            );
            return Err(Fault::new("least_weight", message));
        }
        if self.long.0 <= self.short.0 {
            let message = format!("{} must be more than short ({})", self.long.0, self.short.0);
            return Err(Fault::new("long", message));
        }
        Ok(())
    }
}

impl Params {
    /// The weight of the current block, from the bytes acknowledged so far.
    fn weight(&self, path: &PathView) -> f64 {
        let Self { greatest_weight, least_weight, short, long, .. } = *self;
        let got = path.una.saturating_sub(path.block_start);
        let fallen = got.saturating_sub(short.0) as f64 / (long.0 - short.0) as f64;
        greatest_weight - (greatest_weight - least_weight) * fallen.min(1.0)
    }
}

/// Windows that grow and shrink by weight.
#[derive(Clone, Debug)]
pub struct ByWeight(Params);

impl Law for ByWeight {
    type Params = Params;

    fn new(params: &Params) -> Self {
        Self(params.clone())
    }

    fn penalty(&self, alpha: f64, _: u64, path: &PathView) -> f64 {
        libm::pow(alpha, self.0.weight(path))
    }

    fn grow(&mut self, reno: &mut Reno, ack: &AckSample, path: &PathView) {
        if reno.is_starting() {
            reno.on_ack(ack, path);
        } else {
            reno.avoid_congestion(self.0.weight(path) / self.0.greatest_weight, path.segment);
        }
    }
}

/// See [`Params`].
pub type L2dct = MarkedWindow<ByWeight>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_and_lengths_of_blocks_are_in_order() {
        let key = |params: Params| params.check().err().map(|fault| fault.key);
        assert_eq!(key(Params::default()), None);
        let weights = |least_weight| Params { least_weight, ..Params::default() };
        assert_eq!(key(weights(2.5)), None, "equal weights");
        assert_eq!(key(weights(2.6)), Some("least_weight".into()));
        let long = |bytes| Params { long: Size(bytes), ..Params::default() };
        assert_eq!(key(long(200_001)), None);
        assert_eq!(key(long(200_000)), Some("long".into()), "a range without a length");
    }
}
