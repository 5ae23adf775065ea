//! Measured distributions of flow sizes: `sizes = "websearch.csv"`, or a list of points.
//!
//! Between two points of the distribution function, sizes are uniformly distributed, as in common
//! traffic generators.

use std::borrow::Cow;

use incast_engine::{Fault, Stream};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

/// The shipped distributions, by file name.
const SHIPPED: &[(&str, &str)] = &[
    ("datamining.csv", include_str!("../sizes/datamining.csv")),
    ("storage.csv", include_str!("../sizes/storage.csv")),
    ("websearch.csv", include_str!("../sizes/websearch.csv")),
];

/// The largest number of points of a distribution.
const MOST_POINTS: usize = 10_000;
/// The largest flow, bytes.
const LARGEST: f64 = 1e12;

/// A distribution of flow sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct Sizes {
    /// The name of the file, if the file is shipped.
    name: Option<&'static str>,
    /// Sizes in bytes, and the share of flows up to each size, both ascending. The last share is 1.
    points: Vec<(f64, f64)>,
}

impl Sizes {
    /// The shipped distribution with this file name.
    fn shipped(name: &str) -> Option<Self> {
        let (name, text) = SHIPPED.iter().find(|(known, _)| *known == name)?;
        let rows = text.lines().filter(|line| !line.starts_with(['#', 'b']));
        let point = |line: &str| {
            let (bytes, share) = line.split_once(',')?;
            Some((bytes.parse().ok()?, share.parse().ok()?))
        };
        Some(Self { name: Some(name), points: rows.filter_map(point).collect() })
    }

    /// Refuses invalid points, in a key called `sizes`.
    pub(crate) fn check(&self) -> Result<(), Fault> {
        let fail = |message: String| Err(Fault::new("sizes", message));
        if !(1..=MOST_POINTS).contains(&self.points.len()) {
            let points = self.points.len();
            return fail(format!("{points} points; must be 1 to {MOST_POINTS}"));
        }
        let steps = self.points.iter().zip(self.points.iter().skip(1));
        for ((bytes, share), (next, more)) in steps {
            if next < bytes || more < share {
                return fail(format!("[{next}, {more}] must not be below [{bytes}, {share}]"));
            }
        }
        let (first, (largest, last)) = (self.points[0], self.points[self.points.len() - 1]);
        if first.0 < 0.0 || first.1 < 0.0 {
            return fail(format!("[{}, {}] must not be below 0", first.0, first.1));
        }
        if (last - 1.0).abs() > 1e-9 {
            return fail(format!("the last share is {last}; must be 1"));
        }
        if !(1.0..=LARGEST).contains(&largest) {
            return fail(format!("the largest flow has {largest} bytes; must be 1 to {LARGEST}"));
        }
        Ok(())
    }

    /// Draws a size of at least one byte, with the inverse of the distribution function.
    pub(crate) fn draw(&self, random: &mut Stream) -> u64 {
        let share = random.unit();
        let at = self.points.partition_point(|(_, below)| *below <= share);
        let (most, above) = self.points[at.min(self.points.len() - 1)];
        let (least, below) = if at == 0 { (most, 0.0) } else { self.points[at - 1] };
        let part = if above > below { (share - below) / (above - below) } else { 1.0 };
        (least + (most - least) * part).ceil().max(1.0) as u64
    }

    /// The mean size, bytes.
    pub(crate) fn mean(&self) -> f64 {
        let first = self.points[0].0 * self.points[0].1;
        let steps = self.points.iter().zip(self.points.iter().skip(1));
        steps.fold(first, |sum, ((least, below), (most, above))| {
            sum + f64::midpoint(*least, *most) * (above - below)
        })
    }

    /// The largest size that may be drawn, bytes.
    pub(crate) fn most(&self) -> u64 {
        self.points.last().map_or(1, |(bytes, _)| bytes.ceil().max(1.0) as u64)
    }
}

impl Serialize for Sizes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.name {
            Some(name) => serializer.serialize_str(name),
            None => self.points.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Sizes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let names = || SHIPPED.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        if let Some(name) = value.as_str() {
            return Self::shipped(name).ok_or_else(|| {
                let names = names();
                D::Error::custom(format_args!(
                    "{name:?} does not exist; write one of {names}, the path \
                    of a file, or a list of points"
                ))
            });
        }
        let points = serde_json::from_value(value).map_err(|_| {
            let names = names();
            D::Error::custom(format_args!(
                "must be one of {names}, the path of a file, or a list of \
                points [[bytes, share of flows up to there], …]"
            ))
        })?;
        Ok(Self { name: None, points })
    }
}

impl JsonSchema for Sizes {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Sizes".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<_> = SHIPPED.iter().map(|(name, _)| *name).collect();
        let number = json!({ "type": "number", "minimum": 0, "maximum": LARGEST });
        let point = json!({ "type": "array", "items": number, "minItems": 2, "maxItems": 2 });
        json_schema!({
            "anyOf": [
                { "type": "string", "examples": names },
                { "type": "array", "items": point, "minItems": 1, "maxItems": MOST_POINTS },
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shipped_is_drawn_with_its_mean_and_within_its_bounds() {
        for (name, _) in SHIPPED {
            let sizes = Sizes::shipped(name).expect("it is shipped");
            sizes.check().unwrap_or_else(|fault| panic!("{name}: {}", fault.message));
            let mut random = Stream::named(1, name, 0);
            let draws: Vec<u64> = (0..400_000).map(|_| sizes.draw(&mut random)).collect();
            let mean = draws.iter().sum::<u64>() as f64 / draws.len() as f64;
            assert!(
                (mean / sizes.mean() - 1.0).abs() < 0.05,
                "{name}: {mean}, not {}",
                sizes.mean()
            );
            assert!(draws.iter().all(|bytes| (1..=sizes.most()).contains(bytes)), "{name}");
        }
    }

    /// The shares are those of the published figures. In DCTCP's web-search distribution, 30 % of
    /// the flows exceed 1 MB. In the data-mining distribution, half of the flows fit into a packet.
    #[test]
    fn shares_are_those_of_the_points() {
        let mut random = Stream::named(1, "shares", 0);
        let mut share = |name: &str, bound: u64| {
            let sizes = Sizes::shipped(name).expect("it is shipped");
            let below = (0..100_000).filter(|_| sizes.draw(&mut random) <= bound).count();
            below as f64 / 100_000.0
        };
        assert!((share("websearch.csv", 1_000_000) - 0.7).abs() < 0.01);
        assert!((share("storage.csv", 8_000) - 0.6921).abs() < 0.01);
        assert!((share("datamining.csv", 1_100) - 0.5).abs() < 0.01);
    }

    /// The last share may be less than 1, because shares are rounded.
    #[test]
    fn what_is_above_the_last_share_has_the_largest_size() {
        let sizes = Sizes { name: None, points: vec![(1000.0, 0.0), (3000.0, 0.0)] };
        let mut random = Stream::named(1, "above", 0);
        assert!((0..100).all(|_| sizes.draw(&mut random) == 3000));
    }

    #[test]
    fn points_that_are_no_distribution_are_refused() {
        for (points, message) in [
            (json!([]), "0 points"),
            (json!([[10, 0.5], [5, 1]]), "must not be below"),
            (json!([[10, 0.5], [50, 0.9]]), "the last share is 0.9; must be 1"),
            (json!([[0, 1]]), "the largest flow has 0 bytes"),
        ] {
            let sizes: Sizes = serde_json::from_value(points).expect("a list of points");
            let fault = sizes.check().expect_err("it should be refused");
            assert!(fault.message.contains(message), "{}", fault.message);
        }
    }
}
