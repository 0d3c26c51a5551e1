//! Invented text: sentences, output of tools, names.

use super::random::Random;
use std::fmt::Write as _;

const NOUNS: &[&str] = &[
    "beacon", "canal", "dial", "engine", "ferry", "gate", "harbour", "index", "jetty", "kiln", "ledger", "mast",
    "nozzle", "orbit", "pier", "quay", "rudder", "sluice", "tide", "urn", "valve", "wharf", "yard", "zenith", "größe",
    "名前",
];
const VERBS: &[&str] =
    &["adjust", "bind", "check", "drain", "empty", "fold", "group", "halve", "inspect", "join", "keep", "lift"];

fn one<'t>(random: &mut Random, of: &[&'t str]) -> &'t str {
    of[usize::try_from(random.below(of.len() as u64)).unwrap_or(0)]
}

/// Name of a project.
pub(super) fn project(number: u64) -> String {
    let at = |n: u64| NOUNS[usize::try_from(n % 20).unwrap_or(0)];
    format!("{}-{}", at(number), at(number * 7 + 3))
}

/// What a person asks for.
pub(super) fn request(random: &mut Random) -> String {
    let (verb, noun, place, other) = (one(random, VERBS), one(random, NOUNS), one(random, NOUNS), one(random, NOUNS));
    format!("Please {verb} the {noun} in src/{place}.rs before the {other} runs")
}

/// A title.
pub(super) fn title(random: &mut Random) -> String {
    format!("{} {} {}", one(random, VERBS), one(random, NOUNS), one(random, NOUNS))
}

/// Prose of about so many bytes.
pub(super) fn prose(random: &mut Random, bytes: u64) -> String {
    let mut text = String::new();
    while (text.len() as u64) < bytes {
        text.push_str(one(random, VERBS));
        text.push_str(" the ");
        text.push_str(one(random, NOUNS));
        text.push_str(if random.percent(15) { ".\n\n" } else { " and " });
    }
    text
}

/// Output of a tool of about so many bytes: paths, quotes, tabs, backslashes.
pub(super) fn output(random: &mut Random, bytes: u64) -> String {
    let mut text = String::new();
    while (text.len() as u64) < bytes {
        let (a, b, line) = (one(random, NOUNS), one(random, NOUNS), random.below(2_000));
        let _infallible = match random.below(4) {
            0 => writeln!(text, "src/{a}/{b}.rs:{line}:9: warning: unused `{b}`"),
            1 => writeln!(text, "\tlet {a} = self.{b}.get(\"{a}\").ok_or(Error::{line})?;"),
            2 => writeln!(text, "    \"{a}\": {{\"path\": \"C:\\\\{b}\\\\{line}\", \"ok\": true}},"),
            _ => writeln!(text, "test {a}::{b}_{line} ... ok"),
        };
    }
    text
}
