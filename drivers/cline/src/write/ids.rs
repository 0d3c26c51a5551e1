//! Ids: of sessions, checked or made; of messages, kept where they are the agent's own and made
//! where they are not.

use sepia_ir::{DriverError, ErrorCode};
use std::collections::HashSet;
use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher, RandomState};

/// Characters of the last part of the agent's ids of one-shot sessions.
const LETTERS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
/// Characters of the ids that the agent gives to answers and results.
const WIDE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
/// Longer ids are none of the agent's, whose longest have 24 characters.
const LONGEST: usize = 128;
/// Tries to find an id that is free; each one is free all but certainly.
const TRIES: usize = 16;

/// Whether an id can be given to a session: a name of a folder in the characters that the agent
/// uses. Two `_` in a row would make it that of a sub-agent.
pub(super) fn check(id: &str) -> Result<(), DriverError> {
    let known = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    let sound = (1..=LONGEST).contains(&id.len())
        && id.bytes().all(known)
        && !id.starts_with(['-', '.', '_'])
        && !id.ends_with('.')
        && !id.contains("__");
    if sound {
        return Ok(());
    }
    let shown: String = id.chars().filter(|c| !c.is_control()).take(80).collect();
    let message = format!(
        "`{shown}` can't be the id of a session: give letters, digits, `-`, `.` and single `_`, at most {LONGEST}, or none for a fresh one"
    );
    Err(DriverError::new(ErrorCode::Invalid, message))
}

/// An id in the agent's form, of a session that began then, which is not taken.
pub(super) fn fresh(
    milliseconds: u64,
    taken: impl Fn(&str) -> Result<bool, DriverError>,
) -> Result<String, DriverError> {
    for _ in 0..TRIES {
        let mut number = random();
        let mut end = String::new();
        for _ in 0..5 {
            end.push(char::from(LETTERS[usize::try_from(number % 36).unwrap_or_default()]));
            number /= 36;
        }
        let id = format!("{milliseconds}_{end}");
        if !taken(&id)? {
            return Ok(id);
        }
    }
    Err(DriverError::new(ErrorCode::Store, "no free id was found for the session; try again"))
}

/// A number that nobody can tell beforehand, as far as the system gives some to a process.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// The ids of the messages of one session, each of which is there once.
#[derive(Debug)]
pub(super) struct MessageIds {
    session: String,
    used: HashSet<u64>,
    made: u64,
}

impl MessageIds {
    pub(super) fn of(session: &str) -> Self {
        Self { session: session.to_owned(), used: HashSet::new(), made: 0 }
    }

    /// The agent's own id of a message, if it is one and no other message has it; else a new one in the
    /// form that the agent gives to prompts, or to answers and results.
    pub(super) fn give(&mut self, own: Option<&str>, prompt: bool) -> String {
        let known = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
        if let Some(own) = own.filter(|own| (1..=80).contains(&own.len()) && own.bytes().all(known))
            && self.used.insert(hash(&(own, 0u8)))
        {
            return own.to_owned();
        }
        loop {
            self.made += 1;
            let numbers = [hash(&(&self.session, self.made, 1u8)), hash(&(&self.session, self.made, 2u8))];
            let id = if prompt { uuid(numbers) } else { short(numbers[0]) };
            if self.used.insert(hash(&(id.as_str(), 0u8))) {
                return id;
            }
        }
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// `msg_` and eight characters.
fn short(mut number: u64) -> String {
    let mut id = "msg_".to_owned();
    for _ in 0..8 {
        id.push(char::from(WIDE[usize::try_from(number % 64).unwrap_or_default()]));
        number /= 64;
    }
    id
}

/// A UUID of the kind that is made of random numbers.
fn uuid([high, low]: [u64; 2]) -> String {
    let (high, low) = ((high & !0xf000) | 0x4000, (low & !(3 << 62)) | (2 << 62));
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
    use super::{MessageIds, check, fresh};

    #[test]
    fn all_forms_of_the_agent_can_be_given_and_nothing_that_leads_elsewhere() {
        for id in ["1796033865816_tttmi", "1796033971648_q-_3d_cli", "c0ffee00-0000-4000-8000-000000000000", "a.b"] {
            assert!(check(id).is_ok(), "{id}");
        }
        let long = "x".repeat(129);
        for id in [
            "",
            ".",
            "..",
            "../a",
            "a/b",
            "a\\b",
            "-h",
            "--x",
            "a\0b",
            "a b",
            "a__b",
            "é",
            "a\u{202e}",
            ".a",
            "a.",
            &long,
        ] {
            assert!(check(id).is_err(), "{id:?}");
        }
    }

    #[test]
    fn fresh_ids_have_the_form_of_the_agent() {
        let id = fresh(1_796_033_865_816, |_| Ok(false)).unwrap();
        let (time, end) = id.split_once('_').unwrap();
        assert_eq!((time, end.len()), ("1796033865816", 5));
        assert!(end.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_lowercase()));
        assert!(fresh(1, |_| Ok(true)).is_err());
    }

    #[test]
    fn messages_keep_their_ids_unless_another_has_it() {
        let mut ids = MessageIds::of("1_a");
        assert_eq!(ids.give(Some("msg_pxHFWdYo"), false), "msg_pxHFWdYo");
        let other = ids.give(Some("msg_pxHFWdYo"), false);
        assert!(other.starts_with("msg_") && other.len() == 12 && other != "msg_pxHFWdYo");
        assert!(ids.give(Some("a/b"), false).starts_with("msg_"));
        let prompt = ids.give(None, true);
        assert_eq!((prompt.len(), &prompt[14..15]), (36, "4"));
    }
}
