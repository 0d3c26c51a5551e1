//! Text as a title: one line, not endless, nothing that moves a cursor.

/// One line of at most 200 characters, cut at a character and marked with `…`. White space of
/// any kind becomes one space, control characters go.
pub fn one_line(text: &str) -> String {
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
    use super::one_line;

    #[test]
    fn a_title_is_one_line_cut_at_a_character() {
        assert_eq!(one_line("  a\n\n\tb\u{1b}[31m\u{2028}c "), "a b[31m c");
        let long = "é".repeat(300);
        assert_eq!(one_line(&long), format!("{}…", "é".repeat(200)));
        assert_eq!(one_line(&"x".repeat(200)), "x".repeat(200));
    }
}
