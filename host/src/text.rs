//! Text of strangers, made fit for a terminal and a log: what a driver or a store says never
//! moves a cursor, changes a colour, forges a line or turns the reading direction.

/// One line: control characters, escape sequences and direction marks are gone, line ends are
/// shown as `\n` and `\r`, a tab is a space. At most `max` bytes, the last of them `…` when
/// something was cut.
pub fn clean_line(text: &str, max: usize) -> String {
    clean(text, max, Layout::Line)
}

/// Like [`clean_line`], but line feeds and tabs stay what they are.
pub fn clean_text(text: &str, max: usize) -> String {
    clean(text, max, Layout::Text)
}

/// Whether cleaning would leave the text as it is, length aside: one line without anything
/// that a person can't see.
pub fn is_plain(text: &str) -> bool {
    is_plain_ascii(text) || !text.chars().any(|c| c.is_control() || is_invisible(c))
}

/// Most text is: looking at all bytes without stopping takes a fraction of looking at characters.
fn is_plain_ascii(text: &str) -> bool {
    text.bytes().fold(true, |plain, byte| plain & (0x20..0x7f).contains(&byte))
}

#[derive(Clone, Copy, PartialEq)]
enum Layout {
    Line,
    Text,
}

const CUT: &str = "…";

fn clean(text: &str, max: usize, layout: Layout) -> String {
    if text.len() <= max && is_plain_ascii(text) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len().min(max));
    // Where the text ends if it has to be cut: room for the mark is left.
    let mut cut_at = 0;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let before = out.len();
        match c {
            '\x1b' => skip_escape(&mut rest),
            '\u{9b}' => skip_control_sequence(&mut rest),
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => skip_string(&mut rest),
            '\n' | '\t' if layout == Layout::Text => out.push(c),
            '\n' | '\u{85}' | '\u{2028}' | '\u{2029}' => out.push_str("\\n"),
            '\r' if layout == Layout::Line => out.push_str("\\r"),
            '\t' => out.push(' '),
            c if c.is_control() || is_invisible(c) => {}
            c => out.push(c),
        }
        if before + CUT.len() <= max {
            cut_at = before;
        }
        if out.len() > max {
            out.truncate(cut_at);
            if max >= CUT.len() {
                out.push_str(CUT);
            }
            break;
        }
    }
    out
}

/// Direction marks and overrides, zero-width characters, and tags: they show nothing and
/// change what the rest seems to say. The joiners that emoji and Indic scripts need stay.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{61c}' | '\u{200b}' | '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// After an ESC.
fn skip_escape(rest: &mut std::str::Chars<'_>) {
    let mut ahead = rest.clone();
    match ahead.next() {
        Some('[') => {
            *rest = ahead;
            skip_control_sequence(rest);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            *rest = ahead;
            skip_string(rest);
        }
        Some(' '..='/') => {
            let _ = ahead.next();
            *rest = ahead;
        }
        Some('0'..='~') => *rest = ahead,
        _ => {}
    }
}

/// Parameters up to the final byte; anything that can't be part of it ends it.
fn skip_control_sequence(rest: &mut std::str::Chars<'_>) {
    loop {
        let mut ahead = rest.clone();
        match ahead.next() {
            Some(' '..='?') => *rest = ahead,
            Some('@'..='~') => {
                *rest = ahead;
                return;
            }
            _ => return,
        }
    }
}

/// Up to BEL or the string terminator; to the end of the line when there is none, so that one
/// stray introducer does not swallow all that follows.
fn skip_string(rest: &mut std::str::Chars<'_>) {
    loop {
        let mut ahead = rest.clone();
        match ahead.next() {
            None | Some('\n') => return,
            Some('\x07' | '\u{9c}') => {
                *rest = ahead;
                return;
            }
            Some('\x1b') => {
                if ahead.next() == Some('\\') {
                    *rest = ahead;
                }
                return;
            }
            Some(_) => *rest = ahead,
        }
    }
}

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|b| [b >> 4, b & 15]).map(|n| char::from(DIGITS[usize::from(n)])).collect()
}

#[cfg(test)]
mod tests {
    use super::{clean_line, clean_text};

    #[test]
    fn escape_sequences_leave_nothing_behind() {
        assert_eq!(clean_line("a\x1b[31;1mred\x1b[0m b", 99), "ared b");
        assert_eq!(clean_line("t\x1b]0;title\x07x\x1b]8;;http://e\x1b\\link\x1b]8;;\x1b\\", 99), "txlink");
        assert_eq!(clean_line("\u{9b}2Jgone\x1bcreset\x1b(Bset", 99), "gonereset\u{73}et");
        assert_eq!(clean_line("\x1b]0;no end\nnext", 99), "\\nnext");
    }

    #[test]
    fn a_forged_line_stays_inside_its_own() {
        assert_eq!(clean_line("x\r\nERROR all is lost\n", 99), "x\\r\\nERROR all is lost\\n");
        assert_eq!(clean_text("x\r\nERROR\tlost\n", 99), "x\nERROR\tlost\n");
        assert_eq!(clean_line("a\u{2028}b", 99), "a\\nb");
    }

    #[test]
    fn direction_marks_and_control_characters_go_and_scripts_stay() {
        assert_eq!(clean_line("ab\u{202e}cd\u{2066}e\0f\x7fg\u{85}", 99), "abcdefg\\n");
        assert_eq!(clean_line("naïve 日本 👨\u{200d}👩 नमस्ते", 99), "naïve 日本 👨\u{200d}👩 नमस्ते");
    }

    #[test]
    fn the_bound_counts_bytes_and_cuts_between_characters() {
        assert_eq!(clean_line("abcdef", 6), "abcdef");
        assert_eq!(clean_line("abcdefg", 6), "abc…");
        assert_eq!(clean_line("日本語", 8), "日…");
        assert_eq!(clean_line("abc", 0), "");
        assert!(clean_line(&"é".repeat(10_000), 4096).len() <= 4096);
    }
}
