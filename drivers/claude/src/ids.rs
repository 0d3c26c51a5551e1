//! Identities of records: what ids are compared by while a whole transcript goes by.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher, RandomState};

/// Identity of a uuid or another id: the number that it spells, or a hash of it. 0 is none.
pub(crate) type Id = u128;

/// Places by id.
pub(crate) type IdMap<V> = HashMap<Id, V, Mix>;
/// A set of ids.
pub(crate) type IdSet = HashSet<Id, Mix>;

/// The identity of an id's text.
pub(crate) fn id(text: &[u8]) -> Id {
    uuid(text).unwrap_or_else(|| hashed(text))
}

/// The number that a uuid in lower case spells, unless it is 0.
fn uuid(text: &[u8]) -> Option<Id> {
    let text: &[u8; 36] = text.try_into().ok()?;
    if [text[8], text[13], text[18], text[23]] != [b'-'; 4] {
        return None;
    }
    let mut bad = 0;
    let mut digits = |from: usize, count: usize| {
        text[from..from + count].iter().fold(0, |number, byte| {
            let digit = DIGITS[usize::from(*byte)];
            bad |= digit;
            number << 4 | u64::from(digit)
        })
    };
    let first = digits(0, 8) << 32 | digits(9, 4) << 16 | digits(14, 4);
    let second = digits(19, 4) << 48 | digits(24, 12);
    let number = Id::from(first) << 64 | Id::from(second);
    (bad < 16 && number != 0).then_some(number)
}

/// Values of hexadecimal digits in lower case; 255 for what is none.
static DIGITS: [u8; 256] = {
    let mut digits = [255; 256];
    let mut value = 0;
    while value < 16 {
        digits[b"0123456789abcdef"[value as usize] as usize] = value;
        value += 1;
    }
    digits
};

/// 128 bits of a hash that is the same each time.
fn hashed(text: &[u8]) -> Id {
    let mut lanes = [0x9e37_79b9_7f4a_7c15 ^ text.len() as u64, 0xd1b5_4a32_d192_ed03];
    let mut mix = |word: u64| {
        lanes = [stirred(lanes[0] ^ word), stirred(lanes[1].rotate_left(23) ^ word ^ lanes[0])];
    };
    let (words, rest) = text.as_chunks();
    for word in words {
        mix(u64::from_le_bytes(*word));
    }
    if !rest.is_empty() {
        mix(rest.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)));
    }
    (Id::from(stirred(lanes[0] ^ lanes[1].rotate_left(32))) << 64 | Id::from(stirred(lanes[1]))).max(1)
}

/// Every bit of the answer depends on every bit of the word.
fn stirred(mut word: u64) -> u64 {
    word = (word ^ word >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    word = (word ^ word >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    word ^ word >> 32
}

/// Hashes ids for maps. Files choose their ids, so that a secret of the process takes part.
#[derive(Debug, Clone)]
pub(crate) struct Mix(u64);

impl Default for Mix {
    fn default() -> Self {
        Self(RandomState::new().hash_one(0))
    }
}

impl BuildHasher for Mix {
    type Hasher = Mixer;

    fn build_hasher(&self) -> Mixer {
        Mixer(self.0)
    }
}

/// See [`Mix`].
pub(crate) struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = stirred(self.0 ^ u64::from(*byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.0 = stirred(self.0 ^ u64::from(number));
    }

    #[expect(clippy::cast_possible_truncation, reason = "both halves are taken")]
    fn write_u128(&mut self, id: u128) {
        self.0 = stirred(stirred(self.0 ^ id as u64) ^ (id >> 64) as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::id;
    use std::collections::HashSet;

    #[test]
    fn a_uuid_is_the_number_that_it_spells() {
        assert_eq!(id(b"00000000-0000-0000-0000-00000000000f"), 15);
        assert_eq!(id(b"ffffffff-ffff-ffff-ffff-ffffffffffff"), u128::MAX);
        assert_eq!(id(b"01234567-89ab-cdef-0123-456789abcdef"), 0x0123_4567_89ab_cdef_0123_4567_89ab_cdef);
    }

    #[test]
    fn other_ids_differ_where_their_texts_do() {
        let mut texts: Vec<String> = (0..20_000).map(|n| format!("msg_01{n}")).collect();
        texts.extend((0..64).map(|n| "x".repeat(n)));
        texts.extend((0..64).map(|n| "\0".repeat(n)));
        texts.extend(
            [
                "00000000-0000-0000-0000-000000000000",
                "0000000G-0000-0000-0000-000000000000",
                "0000000A-0000-0000-0000-000000000000",
                "0000000a-0000-0000-0000-000000000000",
                "000000000000-0000-0000-0000000000000",
            ]
            .map(str::to_owned),
        );
        let ids: HashSet<u128> = texts.iter().map(|text| id(text.as_bytes())).collect();
        assert_eq!(ids.len(), texts.iter().collect::<HashSet<_>>().len());
        assert!(!ids.contains(&0));
    }
}
