//! Whether two values are the same, their texts compared many bytes at a time: a component's own library
//! compares them one by one.

use sepia_ir::{
    AudioBlock, Block, CheckpointRef, Diff, FileBlock, ImageBlock, Location, PromptHistoryEntry, Role, TextBlock,
    TokenUsage, ToolCall, ToolCallStatus, ToolResult,
};

/// Bytes compared at once.
const WIDTH: usize = 32;

/// Whether two values are the same.
pub fn same<T: Same + ?Sized>(one: &T, other: &T) -> bool {
    one.same(other)
}

/// What can be long, and is compared as fast as it can be. Numbers are the same when their bits are.
pub trait Same {
    /// Whether the two are equal.
    fn same(&self, other: &Self) -> bool;
}

impl Same for str {
    fn same(&self, other: &Self) -> bool {
        let (one, other) = (self.as_bytes(), other.as_bytes());
        if one.len() != other.len() {
            return false;
        }
        let (Some(last), Some(other_last)) = (one.last_chunk::<WIDTH>(), other.last_chunk::<WIDTH>()) else {
            return one == other;
        };
        let blocks = one.as_chunks::<WIDTH>().0.iter().zip(other.as_chunks::<WIDTH>().0);
        blocks.chain([(last, other_last)]).all(|(one, other)| differences(one, other) == 0)
    }
}

/// Bits that differ, folded together: without a branch, so that it is done in few steps.
fn differences(one: &[u8; WIDTH], other: &[u8; WIDTH]) -> u64 {
    let words = |bytes: &[u8; WIDTH]| {
        let (words, _) = bytes.as_chunks::<8>();
        [words[0], words[1], words[2], words[3]].map(u64::from_ne_bytes)
    };
    words(one).into_iter().zip(words(other)).fold(0, |found, (one, other)| found | (one ^ other))
}

impl Same for String {
    fn same(&self, other: &Self) -> bool {
        self.as_str().same(other)
    }
}

impl<T: Same> Same for Option<T> {
    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Some(one), Some(other)) => one.same(other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }
}

impl<T: Same> Same for [T] {
    fn same(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().zip(other).all(|(one, other)| one.same(other))
    }
}

impl<T: Same> Same for Vec<T> {
    fn same(&self, other: &Self) -> bool {
        self.as_slice().same(other)
    }
}

/// What is short is compared as it always is.
macro_rules! short {
    ($($kind:ty),*) => {
        $(impl Same for $kind {
            fn same(&self, other: &Self) -> bool {
                self == other
            }
        })*
    };
}

short!(i64, Role, ToolCallStatus, ToolResult, TokenUsage, Location, CheckpointRef);

impl Same for f64 {
    fn same(&self, other: &Self) -> bool {
        self.to_bits() == other.to_bits()
    }
}

/// Member by member; one that is added has to be named here.
macro_rules! by_members {
    ($($kind:ident { $($member:ident),* })*) => {
        $(impl Same for $kind {
            fn same(&self, other: &Self) -> bool {
                let $kind { $($member),* } = self;
                $($member.same(&other.$member))&&*
            }
        })*
    };
}

by_members! {
    TextBlock { text }
    ImageBlock { uri, mime_type, data }
    AudioBlock { mime_type, data }
    FileBlock { uri, name, mime_type, size, text, data }
    Diff { path, old_text, new_text }
    ToolCall { id, name, index, kind, status, exit_code, duration_ms, locations, arguments, diffs }
}

impl Same for PromptHistoryEntry {
    fn same(&self, other: &Self) -> bool {
        let Self { content, timestamp, is_shell } = self;
        timestamp.same(&other.timestamp) && *is_shell == other.is_shell && content.same(&other.content)
    }
}

impl Same for Block {
    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(one), Self::Text(other)) => one.same(other),
            (Self::Image(one), Self::Image(other)) => one.same(other),
            (Self::Audio(one), Self::Audio(other)) => one.same(other),
            (Self::File(one), Self::File(other)) => one.same(other),
            (Self::Text(_) | Self::Image(_) | Self::Audio(_) | Self::File(_), _) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::same;
    use sepia_ir::{Block, FileBlock, TextBlock, ToolCall};

    #[test]
    fn each_byte_counts() {
        for length in 0..100 {
            let text = "x".repeat(length);
            assert!(same(text.as_str(), &text.clone()));
            assert!(!same(text.as_str(), &format!("{text}x")));
            for at in 0..length {
                let mut other = text.clone();
                other.replace_range(at..=at, "y");
                assert!(!same(&text, &other), "{at} of {length}");
            }
        }
        let some = |text: &str| Some(text.to_owned());
        assert!(same(&None::<String>, &None) && same(&some("a"), &some("a")));
        assert!(!same(&None, &some("")) && !same(&some("a"), &some("b")));
    }

    #[test]
    fn each_member_counts() {
        let file = FileBlock {
            uri: Some("u".into()),
            name: Some("n".into()),
            mime_type: Some("m".into()),
            size: Some(1.0),
            text: Some("t".into()),
            data: Some("d".into()),
        };
        let others = [
            FileBlock { uri: None, ..file.clone() },
            FileBlock { name: None, ..file.clone() },
            FileBlock { mime_type: None, ..file.clone() },
            FileBlock { size: Some(2.0), ..file.clone() },
            FileBlock { text: None, ..file.clone() },
            FileBlock { data: Some("e".into()), ..file.clone() },
        ];
        assert!(same(&file, &file.clone()));
        assert!(others.iter().all(|other| !same(&file, other)));
        let (file, text) = (Block::File(file), Block::Text(TextBlock { text: "t".into() }));
        assert!(same(&vec![file.clone(), text.clone()], &vec![file.clone(), text.clone()]));
        assert!(!same(&vec![file.clone(), text.clone()], &vec![text.clone(), file.clone()]));
        assert!(!same(&vec![file], &vec![text.clone(), text]));
        let call = ToolCall::new("c", "run", "{}".into());
        assert!(same(&call, &call.clone()));
        assert!(!same(&call, &ToolCall::new("c", "run", "{ }".into())));
        assert!(!same(&call, &ToolCall { exit_code: Some(0), ..call.clone() }));
    }
}
