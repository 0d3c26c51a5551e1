//! The signals that ask the program to end.

use super::exit::{self, Failure};
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;
use tokio::time::sleep;

/// The signals, taken from now on, whether somebody waits or not.
pub(super) struct Stop {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
}

/// Takes the signals.
pub(super) fn told_to_end() -> Result<Stop, Failure> {
    let take = |kind| signal(kind).map_err(|e| Failure::said(format!("signals can't be waited for: {e}")));
    Ok(Stop {
        terminate: take(SignalKind::terminate())?,
        interrupt: take(SignalKind::interrupt())?,
        hang_up: take(SignalKind::hangup())?,
    })
}

impl Stop {
    /// Ready when the process gets one of them.
    pub(super) async fn told(&mut self) -> SignalKind {
        tokio::select! {
            _ = self.terminate.recv() => SignalKind::terminate(),
            _ = self.interrupt.recv() => SignalKind::interrupt(),
            _ = self.hang_up.recv() => SignalKind::hangup(),
        }
    }
}

/// Ready, with its number, at the first signal. Whoever waits may be held by a write that nobody
/// reads: so a second signal ends the process at once, and so does the time, but after an
/// interrupt, which on a terminal is meant for a pager as well.
pub(super) async fn in_order_or_at_once(mut stop: Stop, time: Duration) -> Option<i32> {
    let (tell, told) = oneshot::channel();
    tokio::spawn(async move {
        let first = stop.told().await;
        let _ended = tell.send(first.as_raw_value());
        let late = async {
            if first == SignalKind::interrupt() {
                std::future::pending::<()>().await;
            }
            sleep(time).await;
        };
        tokio::select! {
            _ = stop.told() => {}
            () = late => {}
        }
        std::process::exit(i32::from(exit::code_of_signal(first.as_raw_value())));
    });
    told.await.ok()
}
