//! `sepia serve`

use super::exit::Failure;
use super::setup;
use crate::wire::serve::{serve, take_stdout};
use std::sync::Arc;
use tokio::signal::unix::{SignalKind, signal};

pub(super) async fn run() -> Result<(), Failure> {
    // First of all, so that nothing else ever reaches stdout.
    let stdout = take_stdout().map_err(|e| Failure::said(format!("stdout can't be used: {e}")))?;
    let plane = setup::plane()?;
    let output = tokio::fs::File::from_std(stdout);
    let end = serve(Arc::new(plane), tokio::io::stdin(), output, told_to_end()).await;
    let end = end.map_err(|e| Failure::output(&e))?;
    tracing::debug!("the connection ended: {end:?}");
    Ok(())
}

/// Ready when the process gets a signal that asks it to end.
async fn told_to_end() {
    let wait = async |kind| match signal(kind) {
        Ok(mut signal) => {
            signal.recv().await;
        }
        Err(error) => {
            tracing::warn!("a signal can't be waited for: {error}");
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        () = wait(SignalKind::terminate()) => {}
        () = wait(SignalKind::interrupt()) => {}
        () = wait(SignalKind::hangup()) => {}
    }
}
