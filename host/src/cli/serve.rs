//! `sepia serve`

use super::exit::Failure;
use super::{setup, signals};
use crate::wire::serve::{serve, take_stdout};
use std::sync::Arc;

pub(super) async fn run() -> Result<(), Failure> {
    // First of all, so that nothing else ever reaches stdout.
    let stdout = take_stdout().map_err(|e| Failure::said(format!("stdout can't be used: {e}")))?;
    // Before drivers are started: from here on a signal ends them in order, too.
    let mut signals = signals::told_to_end()?;
    let stop = async move {
        let _which = signals.told().await;
    };
    let plane = setup::plane()?;
    let output = tokio::fs::File::from_std(stdout);
    let end = serve(Arc::new(plane), tokio::io::stdin(), output, stop).await;
    let end = end.map_err(|e| Failure::output(&e))?;
    tracing::debug!("the connection ended: {end:?}");
    Ok(())
}
