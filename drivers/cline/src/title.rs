//! Which title a session shows: the one that the agent keeps for it, which is a person's own or
//! the first line of the first prompt, else the first prompt itself.

use crate::spoken;
use sepia_sdk::one_line;

/// Where a title may come from.
#[derive(Debug, Default)]
pub(crate) struct Titles {
    /// Kept by the agent.
    pub(crate) stored: Option<String>,
    /// The first prompt, as it was typed.
    pub(crate) prompt: Option<String>,
}

impl Titles {
    /// Of what is kept of a session; the prompt there may be wrapped.
    pub(crate) fn new(stored: Option<&str>, prompt: Option<&str>) -> Self {
        let filled = |text: &str| !one_line(text).is_empty();
        Self {
            stored: stored.filter(|text| filled(text)).map(str::to_owned),
            prompt: prompt.map(|prompt| spoken::in_session(prompt).text.into_owned()).filter(|text| filled(text)),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.stored.is_none() && self.prompt.is_none()
    }

    /// The title, and where it is from.
    pub(crate) fn choose(&self, id: &str) -> (String, &'static str) {
        if let Some(stored) = &self.stored {
            let source = match &self.prompt {
                Some(prompt) if one_line(prompt).starts_with(&one_line(stored)) => "first-prompt",
                Some(_) => "custom",
                None => "stored",
            };
            return (one_line(stored), source);
        }
        match &self.prompt {
            Some(prompt) => (one_line(prompt), "first-prompt"),
            None => (one_line(id), "id"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Titles;

    #[test]
    fn a_title_of_ones_own_is_told_from_the_first_prompt() {
        let title = |stored, prompt| {
            let (title, source) = Titles::new(stored, prompt).choose("1_a");
            format!("{title} ({source})")
        };
        assert_eq!(title(Some("Cart"), Some("What is in it?")), "Cart (custom)");
        assert_eq!(title(Some("What is"), Some("What is in it?\nWell?")), "What is (first-prompt)");
        assert_eq!(title(Some("Cart"), None), "Cart (stored)");
        assert_eq!(title(Some(" \n"), Some("<user_input mode=\"act\">Hi\u{7}</user_input>")), "Hi (first-prompt)");
        assert_eq!(title(None, None), "1_a (id)");
    }
}
