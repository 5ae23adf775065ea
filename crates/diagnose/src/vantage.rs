//! The vantage of a capture.

/// A kind of place at which packets are captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Vantage {
    /// At the host that receives the data.
    Client,
    /// At a host that sends the data.
    Server,
    /// Between these hosts.
    Switch,
}

impl Vantage {
    /// The vantage with this name.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "client" => Some(Self::Client),
            "server" => Some(Self::Server),
            "switch" => Some(Self::Switch),
            _ => None,
        }
    }
}

/// The evidence for each vantage.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evidence {
    /// Bytes of flows whose receiver answers at once, of flows whose sender answers at once, and of
    /// other flows.
    client: i64,
    server: i64,
    switch: i64,
}

/// An end answers at once if its part of the round trip is below this share.
const NEAR: f64 = 0.2;

impl Evidence {
    /// Takes the evidence of a connection: the bytes of the end that sends more, and the share of
    /// the round trip that lies between the vantage point and the other end.
    pub fn take(&mut self, bytes: i64, share: f64) {
        if share < NEAR {
            self.client += bytes;
        } else if share > 1.0 - NEAR {
            self.server += bytes;
        } else {
            self.switch += bytes;
        }
    }

    /// The vantage that most bytes support, and the share of these bytes.
    pub fn vantage(&self) -> Option<(Vantage, f64)> {
        let all = [
            (self.client, Vantage::Client),
            (self.server, Vantage::Server),
            (self.switch, Vantage::Switch),
        ];
        let (bytes, vantage) = all.into_iter().max_by_key(|(bytes, _)| *bytes)?;
        let total: i64 = all.iter().map(|(bytes, _)| bytes).sum();
        (bytes > 0).then(|| (vantage, bytes as f64 / total as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(shares: &[(i64, f64)]) -> Option<(Vantage, f64)> {
        let mut evidence = Evidence::default();
        for &(bytes, share) in shares {
            evidence.take(bytes, share);
        }
        evidence.vantage()
    }

    #[test]
    fn an_end_that_answers_at_once_is_where_the_capture_was_taken() {
        let place = |share| told(&[(1, share)]).map(|(place, _)| place);
        assert_eq!(place(0.19), Some(Vantage::Client));
        assert_eq!([0.2, 0.5, 0.8].map(place), [Some(Vantage::Switch); 3]);
        assert_eq!(place(0.81), Some(Vantage::Server));
    }

    #[test]
    fn most_bytes_decide() {
        assert_eq!(told(&[]), None);
        assert_eq!(told(&[(0, 0.1)]), None, "a connection without data");
        assert_eq!(told(&[(30, 0.1), (60, 0.5), (10, 0.9)]), Some((Vantage::Switch, 0.6)));
    }

    #[test]
    fn places_have_names() {
        assert_eq!(Vantage::parse("server"), Some(Vantage::Server));
        assert_eq!(Vantage::parse("Server"), None);
    }

    #[test]
    fn every_place_has_its_name() {
        for (name, place) in
            [("client", Vantage::Client), ("server", Vantage::Server), ("switch", Vantage::Switch)]
        {
            assert_eq!(Vantage::parse(name), Some(place));
        }
        assert_eq!(Vantage::parse(""), None);
    }
}
