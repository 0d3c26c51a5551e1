//! What every match of an expression has in it.
//!
//! An [`Atom`] is a run of characters that stand side by side in every match. Only characters
//! that drivers carry over as they are make one up: white space may become other white space on
//! the way (lines of a title, blocks of a message), a quote and a backslash are spelled in more
//! than one way in files, U+FFFD may stand for what was broken. A run ends at all of them.

use regex_syntax::hir::{Class, ClassUnicode, Hir, HirKind};

/// Characters of a run: of each place the ones that may stand there.
pub(super) type Atom = Vec<Vec<char>>;
/// A match has one of these in it.
pub(super) type Group<T> = Vec<T>;

/// Groups that are worth looking for; the first ones tell most.
const MOST_GROUPS: usize = 4;
/// Atoms of one group.
const MOST_ATOMS: usize = 12;
/// Characters of an atom; what is behind them may be anything.
const MOST_CHARACTERS: usize = 64;
/// Characters of which one may stand in a place. More tell nothing.
const MOST_CHOICES: usize = 8;

/// The groups of an expression, the most telling first. None of them when nothing is fixed.
pub(super) fn of(expression: &Hir) -> Vec<Group<Atom>> {
    let mut runs = Runs::default();
    runs.take(expression);
    runs.flush();
    let mut groups = runs.groups;
    groups.sort_by_key(|group| std::cmp::Reverse(weight(group)));
    groups.dedup();
    groups.truncate(MOST_GROUPS);
    groups
}

/// How rare the least telling atom of a group is: places with one choice count more.
fn weight(group: &Group<Atom>) -> usize {
    let of = |atom: &Atom| atom.iter().map(|choices| if choices.len() <= 2 { 2 } else { 1 }).sum::<usize>();
    group.iter().map(of).min().unwrap_or(0)
}

#[derive(Default)]
struct Runs {
    groups: Vec<Group<Atom>>,
    run: Atom,
}

impl Runs {
    fn flush(&mut self) {
        let run = std::mem::take(&mut self.run);
        if !run.is_empty() {
            self.groups.push(vec![run]);
        }
    }

    fn place(&mut self, choices: Vec<char>) {
        if choices.is_empty() || choices.iter().any(|c| ends_a_run(*c)) {
            return self.flush();
        }
        // The beginning of a long run is as good as the whole of it.
        if self.run.len() < MOST_CHARACTERS {
            self.run.push(choices);
        }
    }

    fn take(&mut self, expression: &Hir) {
        match expression.kind() {
            // What has no width leaves its neighbours side by side.
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
                Ok(text) => text.chars().for_each(|c| self.place(vec![c])),
                Err(_) => self.flush(),
            },
            HirKind::Class(Class::Unicode(class)) => self.place(choices(class)),
            HirKind::Class(Class::Bytes(_)) => self.flush(),
            HirKind::Capture(capture) => self.take(&capture.sub),
            HirKind::Concat(parts) => parts.iter().for_each(|part| self.take(part)),
            HirKind::Repetition(repetition) => {
                self.flush();
                if repetition.min > 0 {
                    self.take(&repetition.sub);
                    self.flush();
                }
            }
            HirKind::Alternation(branches) => {
                self.flush();
                // One of the branches is in a match, and with it the best of its groups.
                let best = branches.iter().map(|branch| of(branch).into_iter().next());
                let group: Option<Vec<Atom>> =
                    best.collect::<Option<Vec<_>>>().map(|groups| groups.into_iter().flatten().collect());
                self.groups.extend(group.filter(|atoms| atoms.len() <= MOST_ATOMS));
            }
        }
    }
}

/// The characters of a class; none when there are too many.
fn choices(class: &ClassUnicode) -> Vec<char> {
    let all = class.iter().flat_map(|range| range.start()..=range.end());
    let some: Vec<char> = all.take(MOST_CHOICES + 1).collect();
    if some.len() > MOST_CHOICES { Vec::new() } else { some }
}

fn ends_a_run(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '"' | '\\' | char::REPLACEMENT_CHARACTER | '…')
}
