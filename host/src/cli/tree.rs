//! Sessions under those that spawned them.

use crate::plane::SessionRow;
use std::collections::{HashMap, HashSet};

/// A line of a list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Line<'a> {
    pub(super) session: &'a SessionRow,
    /// How many sessions it is under.
    pub(super) depth: usize,
}

/// Deeper than this nothing is drawn deeper.
const DEEPEST: usize = 16;

/// Sessions in the order of a tree: the roots in the order given, at most `roots` of them, each
/// followed by what it spawned. A session whose parent is not among them is a root, and so is
/// one of a circle.
pub(super) fn nested<'a>(sessions: &[&'a SessionRow], roots: usize) -> Vec<Line<'a>> {
    let known: HashSet<Key<'_>> = sessions.iter().map(|session| key(session)).collect();
    let mut children: HashMap<Key<'_>, Vec<&'a SessionRow>> = HashMap::new();
    let mut tops = Vec::new();
    for session in sessions {
        match parent(session).filter(|parent| known.contains(parent)) {
            Some(parent) => children.entry(parent).or_default().push(session),
            None => tops.push(*session),
        }
    }
    let mut tree = Tree { children, seen: HashSet::new(), lines: Vec::with_capacity(sessions.len()) };
    for top in tops.into_iter().take(roots) {
        tree.add(top);
    }
    if roots >= sessions.len() {
        // What is left goes round in circles.
        for session in sessions {
            tree.add(session);
        }
    }
    tree.lines
}

/// Ids are unique within an agent only.
type Key<'a> = (&'a str, &'a str);

fn key(session: &SessionRow) -> Key<'_> {
    (&session.agent, &session.id)
}

fn parent(session: &SessionRow) -> Option<Key<'_>> {
    Some((&session.agent, session.parent_session_id.as_deref()?))
}

struct Tree<'a> {
    children: HashMap<Key<'a>, Vec<&'a SessionRow>>,
    seen: HashSet<Key<'a>>,
    lines: Vec<Line<'a>>,
}

impl<'a> Tree<'a> {
    /// Adds a session and all below it. Not by recursion: a store may hold a chain of any length.
    fn add(&mut self, top: &'a SessionRow) {
        let mut todo = vec![(top, 0)];
        while let Some((session, depth)) = todo.pop() {
            if !self.seen.insert(key(session)) {
                continue;
            }
            self.lines.push(Line { session, depth });
            let below = self.children.get(&key(session)).map_or(&[][..], Vec::as_slice);
            todo.extend(below.iter().rev().map(|child| (*child, (depth + 1).min(DEEPEST))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, parent: Option<&str>) -> SessionRow {
        SessionRow { parent_session_id: parent.map(str::to_owned), ..SessionRow::new(id, "demo") }
    }

    fn shape(rows: &[SessionRow], roots: usize) -> Vec<(String, usize)> {
        let rows: Vec<&SessionRow> = rows.iter().collect();
        nested(&rows, roots).iter().map(|line| (line.session.id.clone(), line.depth)).collect()
    }

    fn expected(lines: &[(&str, usize)]) -> Vec<(String, usize)> {
        lines.iter().map(|(id, depth)| ((*id).to_owned(), *depth)).collect()
    }

    #[test]
    fn each_session_is_under_the_one_that_spawned_it() {
        let rows = [
            row("c", Some("b")),
            row("d", None),
            row("b", Some("a")),
            row("e", Some("gone")),
            row("a", None),
            row("f", Some("a")),
        ];
        let all = [("d", 0), ("e", 0), ("a", 0), ("b", 1), ("c", 2), ("f", 1)];
        assert_eq!(shape(&rows, usize::MAX), expected(&all));
        assert_eq!(shape(&rows, 1), expected(&all[..1]));
    }

    #[test]
    fn a_circle_is_shown_once() {
        let rows = [row("a", Some("b")), row("b", Some("a")), row("c", Some("c"))];
        assert_eq!(shape(&rows, usize::MAX), expected(&[("a", 0), ("b", 1), ("c", 0)]));
    }

    #[test]
    fn a_chain_of_any_length_ends() {
        let rows: Vec<_> =
            (0..20_000_u32).map(|n| row(&n.to_string(), n.checked_sub(1).map(|n| n.to_string()).as_deref())).collect();
        let lines = shape(&rows, usize::MAX);
        assert_eq!(lines.len(), 20_000);
        assert_eq!(lines[19_999], ("19999".to_owned(), 16));
    }
}
