//! The JSON text of a string. Most of what a session holds is text that goes into JSON, so what has to be
//! escaped is looked for sixteen bytes at a time.

use wide::u8x16;

const WIDTH: usize = 16;

/// Gives the JSON text of a string to `out`, piece by piece.
pub fn quoted(value: &str, mut out: impl FnMut(&str)) {
    out("\"");
    let mut rest = value;
    while let Some((plain, byte, behind)) = next(rest) {
        out(plain);
        match byte {
            b'"' => out("\\\""),
            b'\\' => out("\\\\"),
            b'\n' => out("\\n"),
            b'\t' => out("\\t"),
            b'\r' => out("\\r"),
            0x08 => out("\\b"),
            0x0c => out("\\f"),
            other => out(&format!("\\u{other:04x}")),
        }
        rest = behind;
    }
    out(rest);
    out("\"");
}

/// What stands before the next byte that has to be escaped, that byte, and what stands behind it.
fn next(text: &str) -> Option<(&str, u8, &str)> {
    let at = place(text.as_bytes())?;
    // Only ASCII is escaped, so these are where characters begin.
    Some((text.get(..at)?, *text.as_bytes().get(at)?, text.get(at + 1..)?))
}

fn place(bytes: &[u8]) -> Option<usize> {
    let (quote, backslash, last_control) = (u8x16::splat(b'"'), u8x16::splat(b'\\'), u8x16::splat(0x1f));
    let (blocks, rest) = bytes.as_chunks::<WIDTH>();
    for (at, block) in blocks.iter().enumerate() {
        let block = u8x16::new(*block);
        let found = block.simd_eq(quote) | block.simd_eq(backslash) | block.min(last_control).simd_eq(block);
        let found = found.to_bitmask();
        if found != 0 {
            return Some(at * WIDTH + found.trailing_zeros() as usize);
        }
    }
    let in_rest = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | ..=0x1f))?;
    Some(blocks.len() * WIDTH + in_rest)
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn each_character_is_written_as_a_json_writer_writes_it() {
        let mut texts: Vec<String> = (0..=0x7f_u8).map(|byte| char::from(byte).to_string()).collect();
        texts.push("plain, and more than sixteen bytes of it, é日本語🚀".into());
        texts.push("\"\"\\\\\n\r\t and \u{7f}\u{80}\u{2028}".repeat(9));
        for at in 0..40 {
            texts.push(format!("{}\u{1}{}\"", "é".repeat(at), "x".repeat(at)));
        }
        for text in texts {
            let mut json = String::new();
            quoted(&text, |piece| json.push_str(piece));
            assert_eq!(Some(json), serde_json::to_string(&text).ok(), "{text:?}");
        }
    }
}
