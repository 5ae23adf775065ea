//! Fairness of shares of a link.

/// Jain's index of positive numbers x: (Σx)² / (n Σx²). The index is 1 if all x are equal, and 1/n
/// if only one x is above 0 (Jain, Chiu & Hawe, DEC-TR-301, 1984, eq. 2).
#[derive(Clone, Copy, Debug, Default)]
pub struct Jain {
    count: u32,
    sum: f64,
    squares: f64,
}

impl Jain {
    /// Adds `share`, in any unit.
    pub fn add(&mut self, share: f64) {
        self.count += 1;
        self.sum += share;
        self.squares += share * share;
    }

    /// The index; `None` if no share is above zero.
    pub fn index(&self) -> Option<f64> {
        let most = f64::from(self.count) * self.squares;
        // For equal shares, the rounded quotient may exceed 1.
        (most > 0.0).then(|| (self.sum * self.sum / most).min(1.0))
    }
}

impl FromIterator<f64> for Jain {
    fn from_iter<I: IntoIterator<Item = f64>>(shares: I) -> Self {
        let mut jain = Self::default();
        shares.into_iter().for_each(|share| jain.add(share));
        jain
    }
}

#[cfg(test)]
mod tests {
    use super::Jain;

    fn index(shares: &[f64]) -> Option<f64> {
        shares.iter().copied().collect::<Jain>().index()
    }

    #[test]
    fn equal_shares_are_fair_and_one_that_has_everything_is_not() {
        assert_eq!(index(&[3.0; 5]), Some(1.0));
        assert_eq!(index(&[7.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(index(&[1.0, 2.0, 3.0]), Some(36.0 / 42.0));
        assert_eq!(index(&[0.0, 0.0]), None);
        assert_eq!(index(&[]), None);
    }
}
