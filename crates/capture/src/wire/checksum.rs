//! The Internet checksum (RFC 1071).

/// A sum of 16-bit words in ones' complement.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum(u64);

impl Sum {
    /// Adds these bytes to the sum. An odd last byte is followed by a zero.
    #[must_use]
    pub fn bytes(self, bytes: &[u8]) -> Self {
        let (pairs, rest) = bytes.as_chunks::<2>();
        let sum: u64 = pairs.iter().map(|pair| u64::from(u16::from_be_bytes(*pair))).sum();
        Self(self.0 + sum + rest.first().map_or(0, |last| u64::from(*last) << 8))
    }

    /// Adds a word to the sum.
    #[must_use]
    pub fn word(self, word: u16) -> Self {
        Self(self.0 + u64::from(word))
    }

    /// The checksum field that completes this sum.
    pub fn field(self) -> u16 {
        let mut sum = self.0;
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        !(sum as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 1071 §3: the sum of the words is ddf2.
    #[test]
    fn the_example_of_the_rfc() {
        let sum = Sum::default().bytes(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
        assert_eq!(sum.field(), !0xddf2);
    }

    #[test]
    fn an_odd_byte_is_the_first_half_of_a_word() {
        assert_eq!(Sum::default().bytes(&[0x12]).field(), Sum::default().word(0x1200).field());
    }
}
