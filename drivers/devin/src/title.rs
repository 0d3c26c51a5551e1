//! Which title a session shows.

use sepia_sdk::one_line;

/// Titles that say nothing.
const PLACEHOLDERS: [&str; 2] = ["", "Untitled"];

/// The title that the agent keeps, when it is one.
pub(crate) fn kept(stored: &str) -> Option<String> {
    let title = one_line(stored);
    (!PLACEHOLDERS.contains(&title.as_str())).then_some(title)
}

#[cfg(test)]
mod tests {
    use super::kept;

    #[test]
    fn placeholders_are_no_titles() {
        assert_eq!([kept(""), kept("Untitled"), kept(" \n")], [None, None, None]);
        assert_eq!(kept(" Fix\nit ").as_deref(), Some("Fix it"));
    }
}
