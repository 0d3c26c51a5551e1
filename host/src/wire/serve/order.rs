//! Requests that change something run one after the other, in the order in which they came;
//! all others run beside them.

use std::convert::Infallible;
use tokio::sync::oneshot;

/// The requests of one client that change something.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// Closed when the last of them is done.
    last: Option<oneshot::Receiver<Infallible>>,
}

/// A position behind all that came before. It is dropped when its request is done, or when the
/// client's connection ends before.
#[derive(Debug)]
pub(super) struct Position {
    before: Option<oneshot::Receiver<Infallible>>,
    _done: oneshot::Sender<Infallible>,
}

impl Order {
    /// The next position.
    pub(super) fn position(&mut self) -> Position {
        let (done, last) = oneshot::channel();
        Position { before: self.last.replace(last), _done: done }
    }
}

impl Position {
    /// Waits until all that came before are done.
    pub(super) async fn reached(&mut self) {
        if let Some(before) = self.before.take() {
            // Nothing is ever sent: the other end is dropped when its request is done.
            let _closed = before.await;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::Order;
    use std::sync::{Arc, Mutex};

    #[test]
    fn positions_are_reached_in_order_whichever_task_runs_first() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let reached = Arc::new(Mutex::new(Vec::new()));
        runtime.block_on(async {
            let mut order = Order::default();
            let positions: Vec<_> = (0..8).map(|n| (n, order.position())).collect();
            let tasks = positions.into_iter().rev().map(|(n, mut position)| {
                let reached = Arc::clone(&reached);
                tokio::spawn(async move {
                    position.reached().await;
                    reached.lock().unwrap().push(n);
                })
            });
            for task in tasks.collect::<Vec<_>>() {
                task.await.unwrap();
            }
        });
        assert_eq!(*reached.lock().unwrap(), (0..8).collect::<Vec<_>>());
    }
}
