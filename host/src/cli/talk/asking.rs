//! Permissions that an agent asks for, answered by a flag or by a person.

use crate::plane::{AskedPermission, PermissionOption};
use crate::text::clean_line;

/// Who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Answering {
    /// Everything is allowed, once.
    Allow,
    /// Everything is refused.
    Deny,
    /// The person at the terminal.
    Person,
}

impl Answering {
    /// By the flags; without one a person, where there is one.
    pub(in crate::cli) fn of(allow: bool, deny: bool, person: bool) -> Self {
        match (allow, deny, person) {
            (true, ..) => Self::Allow,
            (false, false, true) => Self::Person,
            _ => Self::Deny,
        }
    }

    /// The option that answers without a person; none, none at all: the agent gives it up.
    pub(super) fn option(self, asked: &AskedPermission) -> Option<&PermissionOption> {
        let of_kind = |kind: &str| asked.options.iter().find(|option| option.kind == kind);
        match self {
            Self::Allow => of_kind("allow_once").or_else(|| asked.options.iter().find(|option| option.allows())),
            _ => of_kind("reject_once").or_else(|| asked.options.iter().find(|option| option.rejects())),
        }
    }
}

/// The question, as lines: what is to be done, and the choices by number.
pub(super) fn question(asked: &AskedPermission) -> Vec<String> {
    let title = if asked.title.is_empty() { "something" } else { &asked.title };
    let mut lines = vec![format!("The agent asks to: {}", clean_line(title, 400))];
    for (number, option) in asked.options.iter().enumerate() {
        let name = if option.name.is_empty() { &option.option_id } else { &option.name };
        lines.push(format!("  {}  {}", number + 1, clean_line(name, 200)));
    }
    lines
}

/// What a person typed: a number of the list, `y` or `n`. None when it is neither.
pub(super) fn choice<'a>(asked: &'a AskedPermission, typed: &str) -> Option<&'a PermissionOption> {
    let typed = typed.trim();
    match typed.to_lowercase().as_str() {
        "y" | "yes" => Answering::Allow.option(asked),
        "n" | "no" => Answering::Deny.option(asked),
        number => asked.options.get(number.parse::<usize>().ok()?.checked_sub(1)?),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{Answering, choice, question};
    use crate::plane::{AskedPermission, PermissionOption};

    fn asked() -> AskedPermission {
        let option = |id: &str, kind: &str| PermissionOption {
            option_id: id.to_owned(),
            name: id.to_uppercase(),
            kind: kind.to_owned(),
        };
        AskedPermission {
            request_id: "r".to_owned(),
            session_id: "s".to_owned(),
            tool_call_id: None,
            title: "rm -rf \u{1b}[2J".to_owned(),
            options: vec![option("a", "allow_always"), option("b", "allow_once"), option("c", "reject_once")],
        }
    }

    #[test]
    fn a_flag_chooses_the_mildest_option() {
        let asked = asked();
        let id = |answering: Answering| answering.option(&asked).map(|option| option.option_id.clone());
        assert_eq!((id(Answering::Allow).as_deref(), id(Answering::Deny).as_deref()), (Some("b"), Some("c")));
        assert_eq!(Answering::of(false, false, false), Answering::Deny);
        assert_eq!(Answering::of(false, false, true), Answering::Person);
    }

    #[test]
    fn a_person_chooses_by_number_or_by_word() {
        let asked = asked();
        let chosen = |typed: &str| choice(&asked, typed).map(|option| option.option_id.as_str());
        assert_eq!(
            [chosen("1"), chosen(" 3 "), chosen("Y"), chosen("no")],
            [Some("a"), Some("c"), Some("b"), Some("c")]
        );
        assert_eq!([chosen("0"), chosen("4"), chosen(""), chosen("maybe")], [None; 4]);
        assert!(question(&asked).iter().all(|line| !line.contains('\u{1b}')));
    }
}
