//! Keeps control characters that JSON leaves as they are away from a terminal: DEL, and the
//! range from U+0080 to U+009F, in which one character begins a control sequence.

use std::io::{self, Write};

/// First byte of all characters from U+0080 to U+00BF.
const LEAD: u8 = 0xC2;

/// A sink in front of what may be a terminal; there those characters become the escapes that
/// JSON has for them. Anything else is passed on as it is.
#[derive(Debug)]
pub(super) struct Guarded<W: Write> {
    out: W,
    terminal: bool,
    /// The last byte was [`LEAD`] and was kept until the next one is known.
    lead: bool,
}

impl<W: Write> Guarded<W> {
    pub(super) fn new(out: W, terminal: bool) -> Self {
        Self { out, terminal, lead: false }
    }
}

impl<W: Write> Write for Guarded<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.terminal {
            return self.out.write(bytes);
        }
        let mut safe = Vec::with_capacity(bytes.len() + 8);
        for &byte in bytes {
            match (std::mem::take(&mut self.lead), byte) {
                (true, 0x80..=0x9F) | (false, 0x7F) => write!(safe, "\\u00{byte:02x}")?,
                (lead, byte) => {
                    if lead {
                        safe.push(LEAD);
                    }
                    match byte {
                        LEAD => self.lead = true,
                        0x7F => safe.extend(b"\\u007f"),
                        byte => safe.push(byte),
                    }
                }
            }
        }
        self.out.write_all(&safe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::Guarded;
    use std::io::Write;

    fn shown(text: &str, terminal: bool, step: usize) -> String {
        let mut out = Vec::new();
        let mut guarded = Guarded::new(&mut out, terminal);
        text.as_bytes().chunks(step).for_each(|part| guarded.write_all(part).unwrap());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_moves_a_terminal_becomes_an_escape_and_nothing_else_changes() {
        let text = "{\"a\":\"\u{9b}2J \u{80}\u{9f}\u{a0}\u{7f} é ÂÂ ü 日本 £\"}\n";
        for step in [1, 2, 3, 100] {
            let got = shown(text, true, step);
            let parsed: serde_json::Value = serde_json::from_str(&got).unwrap();
            assert_eq!(parsed, serde_json::from_str::<serde_json::Value>(text).unwrap());
            assert!(!got.chars().any(|c| c.is_control() && c != '\n'), "{got:?}");
            assert_eq!(shown(text, false, step), text);
        }
    }
}
