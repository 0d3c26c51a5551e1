//! What a driver answers to writing.

use super::{Breach, breach, is_id, json};
use crate::text::clean_line;
use sepia_ir::{Artifact, DeleteOutcome, SaveReport, ToolUse};

/// Longest sentence of a driver, bytes.
const SENTENCE: usize = 1 << 10;
/// Longest place of an artifact, bytes.
const PLACE: usize = 4 << 10;
/// Arguments of a program at most.
const ARGUMENTS: usize = 64;

/// What a save came to.
pub fn saved(mut report: SaveReport) -> Result<SaveReport, Breach> {
    if !is_id(&report.id) {
        return breach(format!("the id `{}` of a saved session can't be one", clean_line(&report.id, 80)));
    }
    let words = &report.resume_command;
    if words.len() > ARGUMENTS || words.iter().any(|word| word.contains('\0') || word.len() > PLACE) {
        return breach("its command to resume the session is none that could be run");
    }
    for loss in &mut report.losses {
        loss.message = clean_line(&loss.message, SENTENCE);
    }
    Ok(report)
}

/// What belongs to a session.
pub fn artifacts(mut artifacts: Vec<Artifact>) -> Vec<Artifact> {
    for artifact in &mut artifacts {
        artifact.place = clean_line(&artifact.place, PLACE);
        artifact.store = clean_line(&artifact.store, 64);
    }
    artifacts
}

/// What a deletion came to.
pub fn deleted(outcome: DeleteOutcome) -> DeleteOutcome {
    let failed = outcome.failed.into_iter().map(|(artifact, why)| (artifact, clean_line(&why, SENTENCE)));
    let (failed, why): (Vec<_>, Vec<_>) = failed.unzip();
    let failed = artifacts(failed).into_iter().zip(why).collect();
    DeleteOutcome { removed: artifacts(outcome.removed), failed, undo: outcome.undo }
}

/// Translated calls, one answer for each that was asked.
pub fn translated(mut answer: Vec<Option<ToolUse>>, asked: usize) -> Result<Vec<Option<ToolUse>>, Breach> {
    if answer.len() != asked {
        return breach(format!("{} translated calls came and {asked} were asked for", answer.len()));
    }
    for call in answer.iter_mut().flatten() {
        if call.name.is_empty() || call.name.len() > 256 {
            return breach("a translated call has no name, or one that is none");
        }
        json("arguments of a translated call", &mut call.arguments)?;
    }
    Ok(answer)
}
