//! Long tests that are told how long and begin with a seed, and numbers that are the same again for the same one.

use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

/// A number that the environment gives.
pub fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}")))
}

/// Says how a test that fails while this lives is repeated.
pub struct Repeated(pub String);

impl Drop for Repeated {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _gone = writeln!(std::io::stderr(), "{} repeats it", self.0);
        }
    }
}

/// A seed that no earlier run had.
pub fn seed() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(since.as_nanos() & u128::from(u64::MAX >> 1)).unwrap()
}

/// A xorshift generator.
pub struct Random(u64);

impl Random {
    /// The one of a seed.
    pub fn new(seed: u64) -> Self {
        // Zero would stay zero; small seeds would begin alike.
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).max(1))
    }

    /// A number below another.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }

    /// Whether something happens that happens so often in a hundred times.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of these.
    pub fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[usize::try_from(self.below(of.len() as u64)).unwrap()]
    }

    /// A number from 1 to a power of two, small ones as often as large ones.
    pub fn of_any_size(&mut self, bits: u64) -> u64 {
        let most = 1 << (1 + self.below(bits));
        1 + self.below(most)
    }
}
