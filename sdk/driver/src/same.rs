//! Whether two texts are the same, compared many bytes at a time: a component's own library compares them one by one.

/// Bytes compared at once.
const WIDTH: usize = 32;

/// Whether two texts are the same.
pub fn same(one: &str, other: &str) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let (blocks, rest) = one.as_bytes().as_chunks::<WIDTH>();
    let (other_blocks, other_rest) = other.as_bytes().as_chunks::<WIDTH>();
    blocks.iter().zip(other_blocks).all(|(one, other)| differences(one, other) == 0) && rest == other_rest
}

/// Whether two texts, where they are, are the same.
pub(crate) fn same_maybe(one: Option<&str>, other: Option<&str>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => same(one, other),
        (one, other) => one.is_none() && other.is_none(),
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

#[cfg(test)]
mod tests {
    use super::{same, same_maybe};

    #[test]
    fn each_byte_counts() {
        for length in 0..100 {
            let text = "x".repeat(length);
            assert!(same(&text, &text.clone()));
            assert!(!same(&text, &format!("{text}x")));
            for at in 0..length {
                let mut other = text.clone();
                other.replace_range(at..=at, "y");
                assert!(!same(&text, &other), "{at} of {length}");
            }
        }
        assert!(same_maybe(None, None) && same_maybe(Some("a"), Some("a")));
        assert!(!same_maybe(None, Some("")) && !same_maybe(Some("a"), Some("b")));
    }
}
