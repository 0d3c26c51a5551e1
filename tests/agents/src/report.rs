//! One line for each proof, and what is behind it.

use crate::conversation::Verdict;
use crate::{Failed, say};
use std::collections::BTreeSet;

/// More lines behind one proof are only counted.
const MOST: usize = 12;
/// Programs print whole schemas when they are not pleased; so much of a line tells why.
const LONGEST: usize = 1_200;

/// What came of all proofs.
#[derive(Debug, Default)]
pub(crate) struct Report {
    proofs: usize,
    failed: usize,
}

impl Report {
    /// Tells what came of one.
    pub(crate) fn add(&mut self, source: &str, target: &str, outcome: Result<Verdict, Failed>) {
        self.proofs += 1;
        let verdict = match outcome {
            Ok(verdict) => verdict,
            Err(e) => {
                self.failed += 1;
                say(&format!("{source} -> {target}: not resumed"));
                behind("", [e.to_string()]);
                return;
            }
        };
        let parts = match verdict.carried {
            1 => "1 part".to_owned(),
            parts => format!("{parts} parts"),
        };
        match verdict.faults.len() {
            0 => say(&format!("{source} -> {target}: ok, {parts}")),
            faults => {
                self.failed += 1;
                say(&format!("{source} -> {target}: {faults} wrong, {parts} right"));
            }
        }
        behind("", verdict.faults);
        behind("declared lost: ", verdict.declared);
        behind("left out: ", verdict.left_out.into_iter().collect::<BTreeSet<_>>());
    }

    /// Tells the sum; whether all was well. No proof at all is none.
    pub(crate) fn end(&self) -> bool {
        match (self.proofs, self.failed) {
            (0, _) => say("nothing was resumed: no session matches what was asked for"),
            (proofs, 0) => say(&format!("all {proofs} resumed with the whole conversation")),
            (proofs, failed) => say(&format!("{failed} of {proofs} failed")),
        }
        self.proofs > 0 && self.failed == 0
    }
}

fn behind(label: &str, lines: impl IntoIterator<Item = String>) {
    let mut lines = lines.into_iter();
    for line in lines.by_ref().take(MOST) {
        let shown: String = line.chars().take(LONGEST).collect();
        let cut = if shown.len() < line.len() { "…" } else { "" };
        say(&format!("    {label}{shown}{cut}"));
    }
    match lines.count() {
        0 => {}
        more => say(&format!("    {label}… and {more} more")),
    }
}
