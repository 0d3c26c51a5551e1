//! `sepia restore`

use super::args::RestoreArgs;
use super::exit::Failure;
use super::{output, setup};
use crate::plane::{FileAction, FilesRestored, RestoreRequest};
use crate::text::clean_line;
use std::io::Write;

pub(super) async fn run(args: RestoreArgs) -> Result<(), Failure> {
    let only = (!args.only.is_empty()).then_some(args.only);
    let request = match (args.path, args.checkpoint) {
        (Some(path), _) => RestoreRequest::changes(&path, args.call, args.dry_run, args.force),
        (_, Some(checkpoint)) => RestoreRequest::checkpoint(&checkpoint, only, args.dry_run, args.force),
        (None, None) => return Err(Failure::said("say what to bring back: --path or --checkpoint")),
    };
    let plane = setup::plane()?;
    let session = plane.resolve(&args.session.id, args.session.agent.as_deref()).await?;
    let done = plane.restore(&session.id, session.agent.as_deref(), &request).await?;
    if args.json {
        return output::json(&done);
    }
    let mut out = output::stdout();
    write(&mut out, &done).and_then(|()| out.flush()).map_err(|e| Failure::output(&e))?;
    match done.skipped.len() {
        0 => Ok(()),
        left => Err(Failure::said(format!("{left} files were left as they are"))),
    }
}

fn write(out: &mut impl Write, done: &FilesRestored) -> std::io::Result<()> {
    for file in &done.restored {
        let verb = match (file.action, done.dry_run) {
            (FileAction::Written, false) => "written",
            (FileAction::Written, true) => "would be written",
            (FileAction::Deleted, false) => "deleted",
            (FileAction::Deleted, true) => "would be deleted",
            (FileAction::Unchanged, _) => "unchanged",
        };
        writeln!(out, "{verb}: {}", clean_line(&file.path, 500))?;
    }
    for file in &done.skipped {
        writeln!(out, "left as it is: {}: {}", clean_line(&file.path, 500), clean_line(&file.reason, 300))?;
    }
    Ok(())
}
