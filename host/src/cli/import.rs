//! `sepia import`

use super::args::ImportArgs;
use super::exit::Failure;
use super::{output, saved, setup};
use sepia_ir::Session;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::io::{self, BufReader, Read};

/// What `sepia export` writes.
#[derive(Deserialize)]
struct Bundle<S> {
    session: S,
}

/// The session that `sepia export` wrote, or one alone, as the wire has it. Which of both it is has to be known before it
/// is read: parts of a session are kept as the text that they are, which a value that is put aside first no longer has.
fn given(text: &str) -> serde_json::Result<Session> {
    if serde_json::from_str::<Bundle<IgnoredAny>>(text).is_ok() {
        serde_json::from_str(text).map(|Bundle { session }| session)
    } else {
        serde_json::from_str(text)
    }
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
    let session = given(&text).map_err(|why| {
        let form = "export it as JSON, without `--native`, `--markdown` and `--structure`";
        Failure::said(format!("{shown} is no session as `sepia export` writes it ({why}); {form}"))
    })?;
    drop(text);
    let plane = setup::plane()?;
    let mut to = args.to.destination();
    to.id = args.id;
    to.replace = args.replace;
    let done = plane.import(session, &to).await?;
    let told = if args.to.json { output::json(&done) } else { saved::tell(&done) };
    plane.overlay().noted().await;
    told
}
