//! Pauses, events, and files as gates.

use super::super::complain;
use super::super::run::Run;
use crate::script::{Awaited, Sleep, Touch, WaitFor, WaitForFile};
use std::fs::OpenOptions;
use std::time::Duration;

/// Time between two looks for a file.
const BETWEEN_LOOKS: Duration = Duration::from_millis(2);

pub(super) fn sleep(run: &Run<'_>, step: &Sleep) {
    run.keep();
    run.call.bell.pause(Duration::from_millis(step.sleep_ms));
}

pub(super) fn wait_for(run: &Run<'_>, step: &WaitFor) {
    run.keep();
    match step.wait_for {
        Awaited::Cancel => run.call.bell.wait_for_cancel(),
    }
}

pub(super) fn wait_for_file(run: &Run<'_>, step: &WaitForFile) {
    run.keep();
    while !step.wait_for_file.exists() && run.call.bell.pause(BETWEEN_LOOKS) {}
}

pub(super) fn touch(run: &Run<'_>, step: &Touch) {
    // Whoever sees the file may look into the store.
    run.keep();
    if let Err(e) = OpenOptions::new().create(true).append(true).open(&step.touch) {
        complain(&format!("{} could not be made: {e}", step.touch.display()));
    }
}
