//! Numbers that look random and are the same for the same seed: `SplitMix64`.

use std::fmt::Write as _;

/// The generator.
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `end`, which is above 0.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// Below `end`, the small ones far more often.
    pub(super) fn skewed(&mut self, end: u64) -> u64 {
        let once = self.below(end);
        let twice = self.below(once + 1);
        self.below(twice + 1)
    }

    /// True in so many of a hundred cases.
    pub(super) fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Between 0 and 1.
    fn unit(&mut self) -> f64 {
        super::as_float(self.next() >> 11) / super::as_float(1 << 53)
    }

    /// Of a normal distribution with mean 0 and deviation 1.
    pub(super) fn normal(&mut self) -> f64 {
        let (a, b) = (self.unit().max(f64::MIN_POSITIVE), self.unit());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }

    /// `length` hexadecimal digits.
    pub(super) fn hex(&mut self, length: usize) -> String {
        let mut text = String::new();
        while text.len() < length {
            let _infallible = write!(text, "{:016x}", self.next());
        }
        text.truncate(length);
        text
    }

    /// Letters as base64 has them.
    pub(super) fn base64(&mut self, length: usize) -> String {
        const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut text = String::with_capacity(length + 10);
        while text.len() < length {
            let mut bits = self.next();
            for _ in 0..10 {
                text.push(char::from(LETTERS[usize::try_from(bits & 63).unwrap_or(0)]));
                bits >>= 6;
            }
        }
        text.truncate(length / 4 * 4);
        text
    }

    pub(super) fn uuid(&mut self) -> String {
        uuid::Builder::from_random_bytes((u128::from(self.next()) << 64 | u128::from(self.next())).to_le_bytes())
            .into_uuid()
            .to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn the_first_numbers_of_seed_0_are_those_of_the_published_algorithm() {
        let mut random = Random::new(0);
        assert_eq!((random.next(), random.next()), (0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4));
    }
}
