//! Keys of the list: an id with the sources that are known of it, best first, as JSON text.

use crate::places::{CONFIG, CURSOR, IDE, plausible};
use serde_json::Value;

/// What kind of place a session is read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    /// `chats/<digest of the directory>/<id>/store.db`.
    Chat,
    /// The same in the other place.
    ConfigChat,
    /// `acp-sessions/<id>/store.db`.
    Acp,
    /// `projects/<slug>/sdk-agent-store/…/store.db`.
    Sdk,
    /// A composer in the IDE's database.
    Composer,
    /// `projects/<slug>/agent-transcripts/<id>/<id>.jsonl`.
    Transcript,
    /// The same without the folder.
    FlatLines,
    /// Older: one JSON document.
    FlatJson,
    /// Older: text.
    FlatText,
    /// The database of a workspace, with chats of the oldest kind.
    Workspace,
}

const KINDS: [(Kind, &str, &str); 10] = [
    (Kind::Chat, "c", "chats"),
    (Kind::ConfigChat, "C", "chats"),
    (Kind::Acp, "a", "acp-sessions"),
    (Kind::Sdk, "k", "sdk-agent-store"),
    (Kind::Composer, "i", "ide"),
    (Kind::Transcript, "t", "agent-transcripts"),
    (Kind::FlatLines, "l", "agent-transcripts"),
    (Kind::FlatJson, "j", "agent-transcripts"),
    (Kind::FlatText, "x", "agent-transcripts"),
    (Kind::Workspace, "w", "ide-workspace"),
];

impl Kind {
    /// Name of the space in metadata.
    pub(crate) fn space(self) -> &'static str {
        KINDS.iter().find(|(kind, ..)| *kind == self).map_or("", |(_, _, space)| space)
    }

    fn letter(self) -> &'static str {
        KINDS.iter().find(|(kind, ..)| *kind == self).map_or("", |(_, letter, _)| letter)
    }

    /// The store that its paths are relative to.
    pub(crate) fn store(self) -> &'static str {
        match self {
            Self::ConfigChat => CONFIG,
            Self::Composer | Self::Workspace => IDE,
            _ => CURSOR,
        }
    }

    /// Which kinds have the more complete record: lower is better.
    pub(crate) fn rank(self) -> u8 {
        match self {
            Self::Chat | Self::ConfigChat | Self::Acp | Self::Sdk => 0,
            Self::Composer => 1,
            Self::Transcript => 2,
            Self::FlatLines => 3,
            Self::FlatJson => 4,
            Self::FlatText | Self::Workspace => 5,
        }
    }
}

/// A place that a session is read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) kind: Kind,
    /// Relative to the store; empty for a composer.
    pub(crate) path: String,
}

/// What a key tells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Key {
    /// Empty where only the source tells it.
    pub(crate) id: String,
    pub(crate) sources: Vec<Source>,
    /// Folders with transcripts of sub-agents.
    pub(crate) subagents: Vec<String>,
    pub(crate) parent: Option<String>,
}

/// A key may have so many bytes; sources for which there is no room are those worth least.
const LONGEST: usize = 4096;

impl Key {
    /// As text.
    pub(crate) fn encode(&self) -> String {
        let mut parts = vec![self.id.clone()];
        parts.extend(self.parent.iter().map(|parent| format!("p:{parent}")));
        parts.extend(self.sources.iter().map(|source| format!("{}:{}", source.kind.letter(), source.path)));
        parts.extend(self.subagents.iter().map(|folder| format!("s:{folder}")));
        loop {
            let text = serde_json::to_string(&parts).unwrap_or_default();
            if text.len() <= LONGEST || parts.len() <= 1 {
                return text;
            }
            parts.pop();
        }
    }

    /// Absent when the text is no key of this driver.
    pub(crate) fn decode(text: &str) -> Option<Self> {
        let Value::Array(parts) = serde_json::from_str(text).ok()? else { return None };
        let mut parts = parts.into_iter().map(|part| match part {
            Value::String(text) => Some(text),
            _ => None,
        });
        let mut key = Self { id: parts.next()??, ..Self::default() };
        if !key.id.is_empty() && !plausible(&key.id) {
            return None;
        }
        for part in parts {
            let part = part?;
            let (letter, path) = part.split_once(':')?;
            match letter {
                "p" => key.parent = Some(path.to_owned()),
                "s" => key.subagents.push(path.to_owned()),
                _ => {
                    let (kind, ..) = KINDS.iter().find(|(_, known, _)| *known == letter)?;
                    key.sources.push(Source { kind: *kind, path: path.to_owned() });
                }
            }
        }
        Some(key)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
    use super::{Key, Kind, Source};

    #[test]
    fn a_key_comes_back_as_it_was() {
        let key = Key {
            id: "a\"b".into(),
            sources: vec![
                Source { kind: Kind::Chat, path: "chats/x:y/a/store.db".into() },
                Source { kind: Kind::Composer, path: String::new() },
            ],
            subagents: vec!["projects/p/agent-transcripts/a/subagents".into()],
            parent: Some("c".into()),
        };
        assert_eq!(Key::decode(&key.encode()).unwrap(), key);
    }

    #[test]
    fn what_has_no_room_is_left_out_from_the_end() {
        let source = |n: usize| Source { kind: Kind::Transcript, path: format!("{n}{}", "x".repeat(1000)) };
        let key = Key { id: "a".into(), sources: (0..9).map(source).collect(), ..Key::default() };
        let kept = Key::decode(&key.encode()).unwrap();
        assert!(key.encode().len() <= 4096);
        assert_eq!(kept.sources, key.sources[..kept.sources.len()]);
        assert_eq!(kept.sources.len(), 4);
    }

    #[test]
    fn other_text_is_no_key() {
        for text in
            ["", "gone", "../../etc/passwd", "a\0b", "{}", "[]", "[1]", "[\"a\",2]", "[\"a\",\"q:x\"]", "[\"a/b\"]"]
        {
            assert_eq!(Key::decode(text), None, "{text}");
        }
    }
}
