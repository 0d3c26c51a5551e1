//! Keys that are written with escapes.

use std::char::{REPLACEMENT_CHARACTER, decode_utf16};

/// Appends what the inside of a JSON string stands for. A broken escape stands for U+FFFD, so
/// that no name equals it.
pub(super) fn unescape(raw: &[u8], out: &mut Vec<u8>) {
    let mut rest = raw;
    let push = |out: &mut Vec<u8>, c: char| out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let Some((&kind, after)) = rest.split_first() else { return push(out, REPLACEMENT_CHARACTER) };
        rest = after;
        match kind {
            b'"' | b'\\' | b'/' => out.push(kind),
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'u' => {
                let mut units = Vec::new();
                while let Some((unit, after)) = hex(rest) {
                    units.push(unit);
                    rest = after;
                    match after.strip_prefix(b"\\u") {
                        Some(next) if hex(next).is_some() => rest = next,
                        _ => break,
                    }
                }
                if units.is_empty() {
                    push(out, REPLACEMENT_CHARACTER);
                }
                for c in decode_utf16(units) {
                    push(out, c.unwrap_or(REPLACEMENT_CHARACTER));
                }
            }
            _ => push(out, REPLACEMENT_CHARACTER),
        }
    }
}

fn hex(bytes: &[u8]) -> Option<(u16, &[u8])> {
    let (digits, rest) = bytes.split_at_checked(4)?;
    let mut unit = 0;
    for digit in digits {
        unit = unit << 4 | char::from(*digit).to_digit(16)?;
    }
    Some((u16::try_from(unit).ok()?, rest))
}
