//! A line as far as a list row needs it. Its members are found in one look; only a line that
//! needs repair is parsed.

use crate::entry;
use crate::json::{Flag, Str, parse};
use crate::lines;
use sepia_sdk::members::{Pattern, Scanner};
use std::borrow::Cow;
use std::sync::LazyLock;

/// JSON text of a member.
pub(crate) type Part<'a> = Option<&'a [u8]>;

/// See the module. Parts stay the text that they are in the line.
#[derive(Debug, Default)]
pub(crate) struct Outline<'a> {
    pub(crate) kind: Str<'a>,
    pub(crate) timestamp: Part<'a>,
    pub(crate) is_sidechain: Flag,
    pub(crate) is_meta: Flag,
    pub(crate) is_compact_summary: Flag,
    pub(crate) message: Part<'a>,
    pub(crate) session_id: Str<'a>,
    pub(crate) agent_id: Str<'a>,
    pub(crate) cwd: Str<'a>,
    pub(crate) version: Str<'a>,
    pub(crate) git_branch: Str<'a>,
    pub(crate) entrypoint: Str<'a>,
    pub(crate) permission_mode: Str<'a>,
    pub(crate) custom_title: Str<'a>,
    pub(crate) ai_title: Str<'a>,
    pub(crate) summary: Str<'a>,
    pub(crate) last_prompt: Str<'a>,
    pub(crate) message_id: Str<'a>,
    pub(crate) snapshot: Part<'a>,
    pub(crate) carried: Part<'a>,
}

const MEMBERS: [&str; 20] = [
    "type",
    "timestamp",
    "isSidechain",
    "isMeta",
    "isCompactSummary",
    "message",
    "sessionId",
    "agentId",
    "cwd",
    "version",
    "gitBranch",
    "entrypoint",
    "permissionMode",
    "customTitle",
    "aiTitle",
    "summary",
    "lastPrompt",
    "messageId",
    "snapshot",
    "sepia",
];

static PATTERN: LazyLock<Option<Pattern>> = LazyLock::new(|| Pattern::of(&MEMBERS).ok());
static MODEL: LazyLock<Option<Pattern>> = LazyLock::new(|| Pattern::of(&["model"]).ok());

/// Shows the outline of a line; whether it is a record.
pub(crate) fn outlined(line: &[u8], mut show: impl FnMut(&Outline<'_>)) -> bool {
    if let Some(outline) = Outline::of(line) {
        show(&outline);
        return true;
    }
    lines::parse(line, |text| parse::<entry::Outline<'_>>(text).map(|parsed| show(&parsed.into()))).is_ok()
}

/// The member `model` of a message, if it is a text.
pub(crate) fn model_of<'a>(message: &'a [u8]) -> Option<Cow<'a, str>> {
    let mut model = None;
    let mut take = |_, _, value: Part<'a>| model = value;
    Scanner::new(MODEL.as_ref()?, u32::MAX).line(message, &mut take)?;
    text(model?)?.0
}

impl<'a> Outline<'a> {
    /// None when the line has to be parsed, or is no record.
    fn of(line: &'a [u8]) -> Option<Self> {
        let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        let mut outline = Self::default();
        let mut plain = true;
        let mut take = |member, _, value: Part<'a>| {
            if let Some(value) = value {
                plain &= outline.take(member, value).is_some();
            }
        };
        Scanner::new(PATTERN.as_ref()?, u32::MAX).line(line, &mut take)?;
        plain.then_some(outline)
    }

    /// Takes a member, in the order of [`MEMBERS`]; none when it can't be read as it is.
    fn take(&mut self, member: u8, value: &'a [u8]) -> Option<()> {
        match member {
            0 => self.kind = text(value)?,
            1 => self.timestamp = Some(value),
            2 => self.is_sidechain = Flag(value == b"true"),
            3 => self.is_meta = Flag(value == b"true"),
            4 => self.is_compact_summary = Flag(value == b"true"),
            5 => self.message = Some(value),
            6 => self.session_id = text(value)?,
            7 => self.agent_id = text(value)?,
            8 => self.cwd = text(value)?,
            9 => self.version = text(value)?,
            10 => self.git_branch = text(value)?,
            11 => self.entrypoint = text(value)?,
            12 => self.permission_mode = text(value)?,
            13 => self.custom_title = text(value)?,
            14 => self.ai_title = text(value)?,
            15 => self.summary = text(value)?,
            16 => self.last_prompt = text(value)?,
            17 => self.message_id = text(value)?,
            18 => self.snapshot = Some(value),
            _ => self.carried = Some(value),
        }
        Some(())
    }
}

/// The text of a JSON value, absent when it is none; the outer `None` is for what has to be
/// repaired.
fn text(value: &[u8]) -> Option<Str<'_>> {
    let Some(inner) = value.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")) else {
        return Some(Str(None));
    };
    // Counted, not looked for: that is done many bytes at once.
    if inner.iter().filter(|byte| matches!(**byte, ..b' ' | b'\\')).count() == 0 {
        return Some(Str(Some(Cow::Borrowed(std::str::from_utf8(inner).ok()?))));
    }
    parse(std::str::from_utf8(value).ok()?).ok()
}

impl<'a> From<entry::Outline<'a>> for Outline<'a> {
    fn from(parsed: entry::Outline<'a>) -> Self {
        let part = |raw: crate::json::Raw<'a>| raw.map(|raw| raw.get().as_bytes());
        Self {
            kind: parsed.kind,
            timestamp: part(parsed.timestamp),
            is_sidechain: parsed.is_sidechain,
            is_meta: parsed.is_meta,
            is_compact_summary: parsed.is_compact_summary,
            message: part(parsed.message),
            session_id: parsed.session_id,
            agent_id: parsed.agent_id,
            cwd: parsed.cwd,
            version: parsed.version,
            git_branch: parsed.git_branch,
            entrypoint: parsed.entrypoint,
            permission_mode: parsed.permission_mode,
            custom_title: parsed.custom_title,
            ai_title: parsed.ai_title,
            summary: parsed.summary,
            last_prompt: parsed.last_prompt,
            message_id: parsed.message_id,
            snapshot: part(parsed.snapshot),
            carried: part(parsed.carried),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
    use super::{MEMBERS, Outline, model_of, outlined};
    use crate::entry;
    use proptest::prelude::*;
    use serde_json::Value;

    /// All that an outline tells, for comparison: parts by the value that they spell.
    fn told(outline: &Outline<'_>) -> Vec<Option<Value>> {
        let part = |part: super::Part<'_>| part.map(|part| serde_json::from_slice::<Value>(part).unwrap());
        let flags = [outline.is_sidechain, outline.is_meta, outline.is_compact_summary];
        let texts = [
            &outline.kind,
            &outline.session_id,
            &outline.agent_id,
            &outline.cwd,
            &outline.version,
            &outline.git_branch,
            &outline.entrypoint,
            &outline.permission_mode,
            &outline.custom_title,
            &outline.ai_title,
            &outline.summary,
            &outline.last_prompt,
            &outline.message_id,
        ];
        // `null` and no part mean the same.
        let parts = [outline.timestamp, outline.message, outline.snapshot, outline.carried].map(part);
        let parts = parts.into_iter().map(|part| part.filter(|value| !value.is_null()));
        let texts = texts.map(|text| text.get().map(Value::from));
        flags.map(|flag| Some(Value::from(flag.0))).into_iter().chain(texts).chain(parts).collect()
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[ -~é\\n\"\\\\\u{1}😀]{0,40}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 12, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map("[a-z\"\\\\]{0,4}", inner, 0..4).prop_map(|map| map.into_iter().collect()),
            ]
        })
    }

    fn line() -> impl Strategy<Value = String> {
        let name = prop_oneof![prop::sample::select(MEMBERS.to_vec()).prop_map(str::to_owned), "[a-zA-Z\"]{0,8}"];
        prop::collection::vec((name, value()), 0..12).prop_map(|members| {
            let member = |(name, value)| format!("{}:{value}", Value::String(name));
            format!("{{{}}}", members.into_iter().map(member).collect::<Vec<_>>().join(","))
        })
    }

    proptest! {
        #[test]
        fn what_is_found_is_what_is_parsed(line in line()) {
            let found = Outline::of(line.as_bytes());
            let parsed: entry::Outline<'_> = serde_json::from_str(&line).unwrap();
            prop_assert_eq!(found.as_ref().map(told), Some(told(&parsed.into())));
        }

        #[test]
        fn a_cut_line_is_no_record(line in line(), cut in any::<prop::sample::Index>()) {
            let mut end = cut.index(line.len());
            while !line.is_char_boundary(end) {
                end -= 1;
            }
            let read = outlined(&line.as_bytes()[..end], |_| {});
            prop_assert!(!read);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            outlined(&bytes, |_| {});
            model_of(&bytes);
        }
    }

    #[test]
    fn lines_that_need_repair_are_parsed() {
        let cwd = |line: &[u8]| {
            let mut cwd = None;
            assert!(outlined(line, |outline| cwd = outline.cwd.get().map(str::to_owned)));
            cwd.unwrap()
        };
        assert_eq!(cwd(b"{\"cwd\":\"/a\\ud800b\"}"), "/a\u{fffd}b");
        assert_eq!(cwd(b"{\"cwd\":\"/a\xffb\"}"), "/a\u{fffd}b");
        assert_eq!(cwd(b"\xef\xbb\xbf{\"cwd\":\"/a\\tb\"}"), "/a\tb");
        assert_eq!(model_of(br#"{"content":[],"model":"m","usage":{"model":7}}"#).as_deref(), Some("m"));
    }
}
