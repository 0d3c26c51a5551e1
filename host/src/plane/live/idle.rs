//! Live sessions that nobody uses are let go.

use crate::plane::Plane;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};

impl Plane {
    /// Looks for them from now on, once there is a live session.
    pub(super) fn start_sweeping(&self) {
        let Some(ttl) = self.config.idle_ttl_ms.map(Duration::from_millis) else { return };
        let every = Duration::from_millis(self.config.sweep_ms.max(1));
        if self.live.sweeping.set(()).is_err() {
            return;
        }
        let live = Arc::downgrade(&self.live);
        let mut closing = self.live.closing.subscribe();
        tokio::spawn(async move {
            let mut ticks = interval(every);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                tokio::select! {
                    _ = ticks.tick() => {}
                    _ = closing.wait_for(|closing| *closing) => return,
                }
                let Some(live) = live.upgrade() else { return };
                for session in live.all() {
                    if session.idle_for().is_some_and(|idle| idle >= ttl) {
                        session.leave_when_idle(ttl).await;
                    }
                }
            }
        });
    }
}
