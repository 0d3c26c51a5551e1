//! `sepia trash`

use super::args::TrashCommand;
use super::exit::Failure;
use super::{output, setup};
use crate::plane::{Plane, Trashed, Why};
use crate::text::clean_line;
use std::io::{self, BufRead, IsTerminal, Write};

pub(super) async fn run(command: TrashCommand) -> Result<(), Failure> {
    let plane = setup::plane()?;
    match command {
        TrashCommand::List { json } => {
            let trashed = plane.trashed()?;
            if json { output::json(&trashed) } else { told(|out| list(out, &trashed)) }
        }
        TrashCommand::Restore { entry } => {
            let restored = plane.restore_from_trash(&entry).await?;
            told(|out| writeln!(out, "session {} of {} is back", clean_line(&restored.session_id, 512), restored.agent))
        }
        TrashCommand::Empty { entry, yes } => empty(&plane, entry.as_deref(), yes),
    }
}

fn told(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = output::stdout();
    write(&mut out).and_then(|()| out.flush()).map_err(|e| Failure::output(&e))
}

fn list(out: &mut dyn Write, trashed: &[Trashed]) -> io::Result<()> {
    if trashed.is_empty() {
        return writeln!(out, "the trash is empty");
    }
    for one in trashed {
        let why = match one.why {
            Some(Why::Deleted) => "deleted",
            Some(Why::Rewound) => "before it was cut back",
            Some(Why::Replaced) => "before it was written over",
            None => "unknown",
        };
        let title = clean_line(&one.title, 60);
        let (agent, id) = (&one.agent, clean_line(&one.session_id, 80));
        writeln!(out, "{}  {agent}  {id}  {} bytes  {why}  {title}", one.entry, one.bytes)?;
    }
    Ok(())
}

fn empty(plane: &Plane, entry: Option<&str>, yes: bool) -> Result<(), Failure> {
    if !yes {
        if !io::stdin().is_terminal() {
            return Err(Failure::said("this can't be taken back; say --yes"));
        }
        let _gone = write!(io::stderr(), "This can't be taken back. Throw it away for good? [y/N] ");
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer).map_err(Failure::said)?;
        if !matches!(answer.trim(), "y" | "Y" | "yes") {
            return Ok(());
        }
    }
    let emptied = plane.empty_trash(entry)?;
    told(|out| writeln!(out, "{emptied} entries are gone for good"))
}
