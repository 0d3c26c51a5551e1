//! Ids: what can be one of a session, fresh ones of sessions and messages.

use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::time::SystemTime;

/// Longest id of a session, bytes.
const LONGEST: usize = 128;

const FIRST: [&str; 64] = [
    "amber", "autumn", "azure", "bold", "brave", "bright", "brisk", "calm", "clear", "clever", "cobalt", "copper",
    "coral", "crimson", "crisp", "dapper", "deft", "dusty", "eager", "early", "fair", "fern", "fleet", "fresh",
    "gentle", "gilded", "golden", "grand", "hazel", "honest", "indigo", "ivory", "jade", "jolly", "keen", "kind",
    "lively", "lucid", "lunar", "mellow", "merry", "misty", "noble", "olive", "opal", "plain", "proud", "quick",
    "quiet", "rapid", "rosy", "rustic", "sable", "scarlet", "silver", "solar", "steady", "sunny", "swift", "teal",
    "tidy", "vivid", "warm", "witty",
];
const SECOND: [&str; 64] = [
    "acorn", "alder", "anchor", "anvil", "aspen", "badger", "basil", "beacon", "birch", "bison", "breeze", "brook",
    "canyon", "cedar", "clover", "comet", "condor", "coyote", "crane", "delta", "dune", "ember", "falcon", "ferry",
    "finch", "fjord", "forest", "fox", "garnet", "geyser", "glacier", "grove", "harbor", "heron", "iris", "island",
    "jasper", "juniper", "kestrel", "kite", "lagoon", "lantern", "lark", "lotus", "maple", "marten", "meadow", "mesa",
    "nectar", "otter", "pebble", "pine", "plover", "quartz", "raven", "reef", "ridge", "rivet", "saddle", "sparrow",
    "thistle", "tulip", "walnut", "willow",
];

/// Whether a session may have this id: the agent's are slugs of words, and UUIDs in older
/// versions; the tools that insert sessions take any word of letters, digits, `_` and `-` that
/// begins with a letter or digit.
pub(crate) fn is_native(id: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    id.len() <= LONGEST
        && id.bytes().all(is_word)
        && id.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric())
}

/// Whether this has the form of a UUID, which ids of messages and of requests have.
pub(crate) fn is_uuid(id: &str) -> bool {
    let is_place = |(at, byte): (usize, u8)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    id.len() == 36 && id.bytes().enumerate().all(is_place)
}

/// A slug of two words; after some attempts, of which all were taken, a UUID.
pub(crate) fn fresh(
    mut is_taken: impl FnMut(&str) -> Result<bool, sepia_ir::DriverError>,
) -> Result<String, sepia_ir::DriverError> {
    let chance = RandomState::new();
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    let number = |attempt: u32| chance.hash_one((now, attempt));
    for attempt in 0..32 {
        let number = number(attempt);
        let word =
            |words: &[&'static str; 64], shift: u32| words[usize::try_from(number >> shift & 63).unwrap_or_default()];
        let slug = format!("{}-{}", word(&FIRST, 0), word(&SECOND, 8));
        if !is_taken(&slug)? {
            return Ok(slug);
        }
    }
    Ok(uuid(number(32), number(33)))
}

/// Id of the message that a node is, the same each time.
pub(crate) fn of_message(session: &str, node: i64) -> String {
    let half = |salt: u8| {
        let mut hasher = std::hash::DefaultHasher::new();
        (salt, session, node).hash(&mut hasher);
        hasher.finish()
    };
    uuid(half(0), half(1))
}

/// A UUID of version 4 of these bits.
fn uuid(high: u64, low: u64) -> String {
    let (high, low) = (high & !0xf000 | 0x4000, low & !(0xc << 60) | 0x8 << 60);
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
    use super::{fresh, is_native, is_uuid, of_message};

    #[test]
    fn ids_of_the_agent_pass_and_others_do_not() {
        for id in ["amber-otter", "9b7c2f6e-3c0a-4d6b-8a51-1f2e3d4c5b6a", "1", "a_B-9"] {
            assert!(is_native(id), "{id}");
        }
        let long = "a".repeat(129);
        for id in ["", "../x", "-h", "--all", "a/b", "a.lock", "a b", "a\0", "é", "_x", "a\u{202e}", "%2e", &long] {
            assert!(!is_native(id), "{id}");
        }
    }

    #[test]
    fn fresh_ids_are_slugs_that_nobody_has() {
        let mut taken = Vec::new();
        let slug = fresh(|id| {
            taken.push(id.to_owned());
            Ok(taken.len() < 3)
        });
        let slug = slug.unwrap();
        assert_eq!((taken.len(), slug.split('-').count(), is_native(&slug)), (3, 2, true));
        assert!(is_uuid(&fresh(|_| Ok(true)).unwrap()));
    }

    #[test]
    fn ids_of_messages_are_uuids_and_differ() {
        let ids = [of_message("a", 1), of_message("a", 2), of_message("b", 1)];
        assert!(ids.iter().all(|id| is_uuid(id)) && ids[0] != ids[1] && ids[0] != ids[2]);
        assert_eq!(of_message("a", 1), ids[0]);
    }
}
