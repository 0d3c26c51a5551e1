//! Which title a session shows.

/// Titles that say nothing.
const PLACEHOLDERS: [&str; 2] = ["", "Untitled"];

/// The title that the agent keeps, when it is one.
pub(crate) fn kept(stored: &str) -> Option<String> {
    let title = one_line(stored);
    (!PLACEHOLDERS.contains(&title.as_str())).then_some(title)
}

/// One line of at most 200 characters, cut at a character and marked with `…`. White space of
/// any kind becomes one space, control characters go.
pub(crate) fn one_line(text: &str) -> String {
    const MOST: usize = 200;
    let mut line = String::with_capacity(text.len().min(4 * MOST));
    let mut length = 0;
    let mut gap = false;
    for c in text.chars() {
        if c.is_whitespace() {
            gap = !line.is_empty();
            continue;
        }
        if c.is_control() {
            continue;
        }
        if length + usize::from(gap) >= MOST {
            line.push('…');
            break;
        }
        if std::mem::take(&mut gap) {
            line.push(' ');
            length += 1;
        }
        line.push(c);
        length += 1;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::{kept, one_line};

    #[test]
    fn a_title_is_one_line_cut_at_a_character() {
        assert_eq!(one_line("  a\n\n\tb\u{1b}[31m\u{2028}c "), "a b[31m c");
        assert_eq!(one_line(&"é".repeat(300)), format!("{}…", "é".repeat(200)));
        assert_eq!(one_line(&"x".repeat(200)), "x".repeat(200));
    }

    #[test]
    fn placeholders_are_no_titles() {
        assert_eq!([kept(""), kept("Untitled"), kept(" \n")], [None, None, None]);
        assert_eq!(kept(" Fix\nit ").as_deref(), Some("Fix it"));
    }
}
