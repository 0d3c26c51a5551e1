//! Numbers that are the same again for the same seed.

/// A xorshift generator.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        // Zero would stay zero; small seeds would begin alike.
        Self(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15).max(1))
    }

    /// A number below another.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }

    /// One of these.
    pub(crate) fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[usize::try_from(self.below(of.len() as u64)).unwrap()]
    }

    /// A number from 1 to a power of two, small ones as often as large ones.
    pub(crate) fn of_any_size(&mut self, bits: u64) -> u64 {
        let most = 1 << (1 + self.below(bits));
        1 + self.below(most)
    }
}
