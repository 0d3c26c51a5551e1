//! The files of a checkpoint, whoever keeps them: the agent, or version control.

use super::inside::Inside;
use super::{Wanted, git};
use crate::loader::{FaultKind, SessionWrite};
use crate::plane::{ErrorKind, PlaneError};
use crate::text::clean_line;
use sepia_ir::{ErrorCode, SessionRef};
use std::collections::HashSet;

/// The files of a checkpoint; all that it covers, or only these.
pub(super) async fn files(
    writer: &dyn SessionWrite,
    session: &SessionRef,
    inside: &Inside,
    checkpoint: &str,
    paths: Option<&[String]>,
) -> Result<Wanted, PlaneError> {
    let known = writer.checkpoints(session.clone()).await?;
    if !known.iter().any(|known| known.ref_ == checkpoint) {
        let shown = clean_line(checkpoint, 80);
        let message = format!("the session has no checkpoint `{shown}`; `sessions.summary` lists those that it has");
        return Err(PlaneError::new(ErrorKind::NotFound, message));
    }
    let asked: Option<HashSet<String>> = match paths {
        None => None,
        Some(paths) => Some(paths.iter().map(|path| inside.path_of(path)).collect::<Result<_, _>>()?),
    };
    let covered: Wanted = match writer.checkpoint_files(session.clone(), checkpoint).await {
        Ok(files) => files
            .into_iter()
            .map(|file| match inside.path_of(&file.path) {
                Ok(path) => (path, Ok(file.content)),
                Err(error) => (clean_line(&file.path, 200), Err(error.message)),
            })
            .collect(),
        Err(fault) if fault.kind == FaultKind::Said(ErrorCode::Unsupported) => {
            let (place, reference) = (inside.place().to_owned(), checkpoint.to_owned());
            let found = tokio::task::spawn_blocking(move || git::files(&place, &reference)).await;
            let found = found
                .map_err(|e| PlaneError::new(ErrorKind::Internal, "git could not be asked").because(e.to_string()))?;
            found?
        }
        Err(fault) => return Err(fault.into()),
    };
    let Some(asked) = asked else { return Ok(covered) };
    let (mut wanted, mut met) = (Wanted::new(), HashSet::new());
    for (path, content) in covered {
        if asked.contains(&path) {
            met.insert(path.clone());
            wanted.push((path, content));
        }
    }
    let mut missing: Vec<_> = asked.difference(&met).cloned().collect();
    missing.sort();
    wanted.extend(missing.into_iter().map(|path| (path, Err("the checkpoint does not cover it".to_owned()))));
    Ok(wanted)
}
