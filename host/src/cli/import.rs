//! `sepia import`

use super::args::ImportArgs;
use super::exit::Failure;
use super::{output, saved, setup};
use sepia_ir::Session;
use serde::Deserialize;
use std::io::{self, BufReader, Read};

/// What `sepia export` writes, or the session alone.
#[derive(Deserialize)]
#[serde(untagged)]
enum Given {
    Bundle { session: Session },
    Session(Session),
}

pub(super) async fn run(args: ImportArgs) -> Result<(), Failure> {
    let shown = args.file.display().to_string();
    let mut text = String::new();
    let read = if shown == "-" {
        io::stdin().lock().read_to_string(&mut text)
    } else {
        std::fs::File::open(&args.file).and_then(|file| BufReader::new(file).read_to_string(&mut text))
    };
    read.map_err(|e| Failure::said(format!("{shown} can't be read: {e}")))?;
    let Ok(Given::Bundle { session } | Given::Session(session)) = serde_json::from_str(&text) else {
        // The error of an untagged type names no place; that of the session does.
        let why = serde_json::from_str::<Session>(&text).err().map(|e| e.to_string()).unwrap_or_default();
        let message = format!("{shown} is no session as `sepia export` writes it: {why}");
        return Err(Failure::said(message));
    };
    drop(text);
    let plane = setup::plane()?;
    let mut to = args.to.destination();
    to.id = args.id;
    to.replace = args.replace;
    let done = plane.import(session, &to).await?;
    if args.to.json { output::json(&done) } else { saved::tell(&done) }
}
