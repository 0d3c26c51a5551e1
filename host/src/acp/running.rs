//! How many agents run.

use std::sync::Arc;
use tokio::sync::watch;

/// How many agents run.
#[derive(Debug, Clone)]
pub(crate) struct Running(Arc<watch::Sender<usize>>);

/// One that does, until this is dropped.
#[derive(Debug)]
pub(super) struct OneMore(Running);

impl Running {
    /// None yet.
    pub(crate) fn new() -> Self {
        Self(Arc::new(watch::channel(0).0))
    }

    pub(super) fn one_more(&self) -> OneMore {
        self.0.send_modify(|count| *count += 1);
        OneMore(self.clone())
    }

    /// Ready when none does.
    pub(crate) async fn none(&self) {
        let mut running = self.0.subscribe();
        // The sender is our own, so it is there.
        let _none = running.wait_for(|count| *count == 0).await;
    }
}

impl Drop for OneMore {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}
