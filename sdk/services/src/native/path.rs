//! Paths as drivers give them: relative to a store, `/` between the parts.

use super::error::ServiceError;

/// Checks a path of a file or directory below a store. What passes has one part or more, none
/// of them empty, `.` or `..`, and no NUL.
pub(super) fn checked(path: &str) -> Result<&str, ServiceError> {
    let bad = |part: &str| matches!(part, "" | "." | "..") || part.contains('\0');
    if path.split('/').any(bad) { Err(ServiceError::Outside(shown(path))) } else { Ok(path) }
}

/// What is below `prefix`: `Some("")` for the prefix itself.
pub(super) fn below<'a>(path: &'a str, prefix: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(prefix)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

/// A path for a message: no control characters, not endless.
pub(super) fn shown(path: &str) -> String {
    let clean = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    let mut text: String = path.chars().map(clean).take(200).collect();
    if path.chars().nth(200).is_some() {
        text.push('…');
    }
    text
}

/// `under/name`, or the name alone in the root.
pub(super) fn joined(under: &str, name: &str) -> String {
    if under.is_empty() { name.to_owned() } else { [under, "/", name].concat() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test stops where a value is missing")]
    use super::{below, checked, shown};

    #[test]
    fn paths_that_may_lead_out_are_refused() {
        for path in ["", ".", "..", "/", "/etc/passwd", "a//b", "a/", "a/../b", "a/..", "./a", "../a", "a\0b", "a/./b"]
        {
            assert!(checked(path).is_err(), "{path:?}");
        }
        for path in ["a", "a/b.jsonl", "..a/b..", "a\\..\\b", "-h", " ", "%2e%2e", "a\u{202e}b", "...", "C:"] {
            assert_eq!(checked(path).unwrap(), path);
        }
    }

    #[test]
    fn a_prefix_ends_at_a_slash() {
        assert_eq!(below("a/b/c", "a/b"), Some("c"));
        assert_eq!(below("a/b", "a/b"), Some(""));
        assert_eq!(below("a/bc", "a/b"), None);
    }

    #[test]
    fn a_path_in_a_message_is_clean_and_short() {
        assert_eq!(shown("a\u{1b}[2J\n"), "a\u{fffd}[2J\u{fffd}");
        assert_eq!(shown(&"x".repeat(5000)).chars().count(), 201);
    }
}
