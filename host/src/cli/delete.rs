//! `sepia delete`

use super::args::DeleteArgs;
use super::exit::Failure;
use super::{output, setup};
use crate::plane::{DeleteOptions, Deleted};
use crate::text::clean_line;
use std::io::Write;

pub(super) async fn run(args: DeleteArgs) -> Result<(), Failure> {
    let plane = setup::plane()?;
    let session = plane.resolve(&args.session.id, args.session.agent.as_deref()).await?;
    let options = DeleteOptions { dry_run: args.dry_run, force: args.force, permanently: args.permanently };
    let deleted = plane.delete(&session.id, session.agent.as_deref(), options).await?;
    if args.json {
        output::json(&deleted)?;
    } else {
        let mut out = output::stdout();
        write(&mut out, &deleted).and_then(|()| out.flush()).map_err(|e| Failure::output(&e))?;
    }
    match deleted.failed.len() {
        0 => Ok(()),
        left => Err(Failure::said(format!("{left} parts of the session are still there"))),
    }
}

fn write(out: &mut impl Write, deleted: &Deleted) -> std::io::Result<()> {
    let verb = if deleted.dry_run { "would go" } else { "gone" };
    for part in &deleted.removed {
        writeln!(out, "{verb}: {}: {} ({} bytes)", part.store, clean_line(&part.place, 500), part.bytes)?;
    }
    for left in &deleted.failed {
        let (place, reason) = (clean_line(&left.part.place, 500), clean_line(&left.reason, 300));
        writeln!(out, "still there: {}: {place}: {reason}", left.part.store)?;
    }
    match &deleted.trash {
        Some(entry) => writeln!(out, "in the trash as {entry}; `sepia trash restore {entry}` brings it back"),
        None => Ok(()),
    }
}
