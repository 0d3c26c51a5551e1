//! What of all stores is certain to be the newest: a session is handed on when nothing that
//! is still to be searched can be newer.

use super::found::FoundRow;
use crate::plane::listing::newest_first;

/// Puts what the stores find into one order.
#[derive(Debug)]
pub(super) struct Order {
    /// Of each store, how new what it may still find can be at most, epoch seconds.
    frontiers: Vec<f64>,
    /// Found and not yet certain, the newest first; never more than are wanted.
    waiting: Vec<FoundRow>,
    wanted: usize,
}

impl Order {
    /// Of so many stores, none of them searched; at most so many sessions are wanted.
    pub(super) fn new(stores: usize, wanted: usize) -> Self {
        Self { frontiers: vec![f64::INFINITY; stores], waiting: Vec::new(), wanted }
    }

    /// A store found these, and what it may still find is not newer than `frontier`. Gives
    /// what is certain now.
    pub(super) fn next(&mut self, store: usize, found: Vec<FoundRow>, frontier: f64) -> Vec<FoundRow> {
        if !found.is_empty() {
            self.waiting.extend(found);
            self.waiting.sort_by(|a, b| newest_first(&a.row, &b.row));
            self.waiting.truncate(self.wanted);
        }
        if let Some(known) = self.frontiers.get_mut(store) {
            *known = frontier;
        }
        let frontier = self.frontiers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // Of the same time may come one whose id is first.
        let certain = self.waiting.partition_point(|found| found.row.activity > frontier);
        self.wanted -= certain;
        self.waiting.drain(..certain).collect()
    }

    /// What waits still, when no store will tell more.
    pub(super) fn rest(&mut self) -> Vec<FoundRow> {
        self.wanted -= self.waiting.len();
        std::mem::take(&mut self.waiting)
    }

    /// Whether as many were given as are wanted.
    pub(super) fn is_full(&self) -> bool {
        self.wanted == 0
    }
}

#[cfg(test)]
mod tests {
    use super::{FoundRow, Order};
    use crate::plane::SessionRow;

    fn found(id: &str, activity: f64) -> FoundRow {
        FoundRow::of_warning(SessionRow { activity, ..SessionRow::new(id, "x") })
    }

    fn ids(rows: Vec<FoundRow>) -> Vec<String> {
        rows.into_iter().map(|found| found.row.id).collect()
    }

    #[test]
    fn what_may_still_become_second_waits() {
        let mut order = Order::new(2, 10);
        assert!(ids(order.next(0, vec![found("b", 5.0), found("c", 9.0)], 4.0)).is_empty());
        assert_eq!(ids(order.next(1, vec![], 7.0)), ["c"]);
        assert_eq!(ids(order.next(1, vec![found("d", 6.0)], 5.0)), ["d"]);
        // One of the same time may come, and its id be first.
        assert_eq!(ids(order.next(1, vec![found("a", 5.0)], f64::NEG_INFINITY)), ["a", "b"]);
        assert_eq!(ids(order.next(0, vec![found("e", 1.0)], f64::NEG_INFINITY)), ["e"]);
        assert!(!order.is_full());
    }

    #[test]
    fn no_more_are_kept_or_given_than_are_wanted() {
        let mut order = Order::new(1, 2);
        let many = (0..100).map(|n| found(&format!("{n:03}"), f64::from(n))).collect();
        assert!(ids(order.next(0, many, 100.0)).is_empty());
        assert_eq!(order.waiting.len(), 2);
        assert_eq!(ids(order.next(0, vec![], 50.0)), ["099", "098"]);
        assert!(order.is_full());
    }
}
