//! Session folders: the manifest of each read and parsed, and the start of its transcript read.

use crate::Failed;
use serde::Deserialize;
use std::borrow::Cow;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

#[derive(Deserialize)]
struct Manifest<'a> {
    #[serde(borrow)]
    session_id: Cow<'a, str>,
    #[serde(borrow)]
    cwd: Cow<'a, str>,
    #[serde(borrow)]
    prompt: Option<Cow<'a, str>>,
}

/// Bytes of the start of a transcript: what a list looks at.
const START: usize = 4 << 10;

/// Sessions below a data folder, and bytes of what their manifests tell and their transcripts begin with.
pub(super) fn read(place: &Path) -> Result<[u64; 2], Failed> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(place.join("sessions"))? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            folders.push(entry.path());
        }
    }
    super::on_all_cores(&folders, |folder, _| Ok([1, of_session(folder)?]))
}

fn of_session(folder: &Path) -> Result<u64, Failed> {
    let name = folder.file_name().and_then(|name| name.to_str()).ok_or("a folder without a name")?;
    let manifest = fs::read(folder.join(format!("{name}.json")))?;
    let told: Manifest<'_> = serde_json::from_slice(&manifest)?;
    let mut start = vec![0; START];
    let begun = File::open(folder.join(format!("{name}.messages.json")))?.read(&mut start)?;
    Ok((told.session_id.len() + told.cwd.len() + told.prompt.map_or(0, |prompt| prompt.len()) + begun) as u64)
}
