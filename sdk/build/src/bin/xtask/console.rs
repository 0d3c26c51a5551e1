//! Where the commands say things: width, colours, and text that is safe to show.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::process::{self, Command, Stdio};

/// Width where there is no terminal to ask.
const WIDTH_WITHOUT_TERMINAL: usize = 110;

/// The standard output of this command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Console {
    colour: bool,
    /// Columns to stay within.
    pub(crate) width: usize,
}

impl Console {
    /// Colours only on a terminal, and not where they are unwanted.
    pub(crate) fn detect() -> Self {
        let terminal = io::stdout().is_terminal();
        let unwanted = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || env::var_os("TERM").is_some_and(|value| value == "dumb");
        let width = if terminal { terminal_width() } else { None };
        Self { colour: terminal && !unwanted, width: width.unwrap_or(WIDTH_WITHOUT_TERMINAL).clamp(40, 160) }
    }

    /// Whether programs that are run from here should use colours although they write to a pipe.
    pub(crate) fn has_colour(&self) -> bool {
        self.colour
    }

    /// A line. A reader that went away ends the command, as it would any other program.
    #[expect(clippy::unused_self, reason = "the console is what speaks")]
    pub(crate) fn say(&self, line: &str) {
        if writeln!(io::stdout().lock(), "{line}").is_err() {
            process::exit(141);
        }
    }

    /// A line on standard error.
    #[expect(clippy::unused_self, reason = "the console is what speaks")]
    pub(crate) fn complain(&self, line: &str) {
        // With nobody left to read it, there is nothing to do about it.
        let _ = writeln!(io::stderr().lock(), "{line}");
    }

    pub(crate) fn bold(&self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(crate) fn dim(&self, text: &str) -> String {
        self.paint("2", text)
    }

    pub(crate) fn red(&self, text: &str) -> String {
        self.paint("31", text)
    }

    pub(crate) fn green(&self, text: &str) -> String {
        self.paint("32", text)
    }

    pub(crate) fn yellow(&self, text: &str) -> String {
        self.paint("33", text)
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// What the terminal says, asked through `stty` to need no library for it.
fn terminal_width() -> Option<usize> {
    let said = |text: &str| text.parse().ok().filter(|width| *width > 0);
    if let Some(width) = env::var("COLUMNS").ok().as_deref().and_then(said) {
        return Some(width);
    }
    let output = Command::new("stty").arg("size").stdin(Stdio::inherit()).stderr(Stdio::null()).output().ok()?;
    said(String::from_utf8(output.stdout).ok()?.split_whitespace().nth(1)?)
}

/// Text from a store, made safe for a terminal: one line, and nothing that moves the cursor,
/// hides or reorders text.
pub(crate) fn clean(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(' '),
            c if c.is_control() || is_reordering(c) => shown.push('\u{fffd}'),
            c => shown.push(c),
        }
    }
    shown
}

fn is_reordering(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Text of at most `width` characters, with a mark where it was cut.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// Words laid out in lines of at most `width` characters.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_a_store_cannot_steer_the_terminal() {
        assert_eq!(clean("a\x1b[2Jb\u{202e}c\nd\u{9b}e"), "a\u{fffd}[2Jb\u{fffd}c d\u{fffd}e");
    }

    #[test]
    fn a_cut_text_has_the_width_it_was_cut_to() {
        assert_eq!(cut("äöüß", 4), "äöüß");
        assert_eq!(cut("äöüße", 4), "äöü…");
    }

    #[test]
    fn wrapped_lines_keep_every_word() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
    }
}
