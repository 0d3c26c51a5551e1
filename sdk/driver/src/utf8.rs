//! Bytes of a record as text.

use std::borrow::Cow;

/// The text that bytes are, if they are UTF-8: told many bytes at a time, also in a component.
pub fn utf8(bytes: &[u8]) -> Option<&str> {
    simdutf8::basic::from_utf8(bytes).ok()
}

/// Bytes as text; what of them is not UTF-8 becomes U+FFFD, and the text is then a copy.
pub fn utf8_or_repaired(bytes: &[u8]) -> Cow<'_, str> {
    // Looking whether it is UTF-8 is several times as fast as looking for what is not.
    utf8(bytes).map_or_else(|| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

#[cfg(test)]
mod tests {
    use super::{utf8, utf8_or_repaired};

    #[test]
    fn what_is_no_text_is_repaired() {
        let long = "é日本語🚀 and more than sixty-four bytes of plain text, so that it is not looked at as a rest";
        assert_eq!(utf8(long.as_bytes()), Some(long));
        assert_eq!(utf8_or_repaired(long.as_bytes()), long);
        let mut broken = long.as_bytes().to_vec();
        broken.push(0xff);
        assert_eq!(utf8(&broken), None);
        assert_eq!(utf8_or_repaired(&broken), format!("{long}\u{fffd}"));
        assert_eq!(utf8(b""), Some(""));
    }
}
