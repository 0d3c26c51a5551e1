//! The bare programs: the same work with nothing around it, each a run of this binary.

mod databases;
mod manifests;

use crate::Failed;
use memchr::memmem::Finder;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// `list PROJECTS`, `usage PROJECTS`, `stat PROJECTS`, `tojson SESSION OUT`, `manifests DIR`, `chats DIR`,
/// `rows DATABASE`, `messages DATABASE`, `nothing`.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failed> {
    let at = |n: usize| arguments.get(n).map(Path::new).ok_or("an argument is missing");
    match arguments.first().map(String::as_str) {
        Some("nothing") => Ok(()),
        Some("stat") => say(&[transcripts(at(1)?, false)?.iter().map(|(_, bytes)| bytes).sum()]),
        Some("list") => {
            let titles = TITLES.map(Finder::new);
            let files = transcripts(at(1)?, false)?;
            say(&of_files(&files, |bytes| titles_and_lines(bytes, &titles))?)
        }
        Some("usage") => {
            let needle = Finder::new("\"usage\":{");
            say(&of_files(&transcripts(at(1)?, true)?, |bytes| tokens(bytes, &needle))?)
        }
        Some("tojson") => tojson(at(1)?, at(2)?),
        Some("manifests") => say(&manifests::read(at(1)?)?),
        Some("chats") => say(&databases::chats(at(1)?)?),
        Some("rows") => say(&databases::rows(at(1)?)?),
        Some("messages") => say(&databases::messages(at(1)?)?),
        other => Err(format!("there is no bare program {other:?}").into()),
    }
}

const TITLES: [&str; 3] = ["\"customTitle\"", "\"aiTitle\"", "\"type\":\"summary\""];

fn say(figures: &[u64]) -> Result<(), Failed> {
    Ok(writeln!(io::stdout(), "{figures:?}")?)
}

/// Transcripts below a folder with their sizes, the largest first; `deep`: those of
/// sub-agents too.
fn transcripts(root: &Path, deep: bool) -> io::Result<Vec<(PathBuf, u64)>> {
    let mut found = Vec::new();
    let mut folders = vec![(root.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            let path = entry.path();
            if kind.is_dir() {
                if deep || depth == 0 {
                    folders.push((path, depth + 1));
                }
            } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                found.push((path, entry.metadata()?.len()));
            }
        }
    }
    found.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    Ok(found)
}

/// Sums of what `work` gives for each file, read as a whole.
fn of_files<const N: usize>(
    files: &[(PathBuf, u64)],
    work: impl Fn(&[u8]) -> [u64; N] + Sync,
) -> Result<[u64; N], Failed> {
    on_all_cores(files, |(path, _), bytes| {
        bytes.clear();
        File::open(path)?.read_to_end(bytes)?;
        Ok(work(bytes))
    })
}

/// Sums of what `work` gives for each item. It may use a buffer, of which each core has one.
fn on_all_cores<T: Sync, const N: usize>(
    items: &[T],
    work: impl Fn(&T, &mut Vec<u8>) -> Result<[u64; N], Failed> + Sync,
) -> Result<[u64; N], Failed> {
    let next = AtomicUsize::new(0);
    let one_core = || -> Result<[u64; N], Failed> {
        let (mut buffer, mut sums) = (Vec::new(), [0; N]);
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            sums = add(sums, work(item, &mut buffer)?);
        }
        Ok(sums)
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(one_core)).collect();
        let mut sums = [0; N];
        for worker in workers {
            sums = add(sums, worker.join().map_err(|_| "a thread broke off")??);
        }
        Ok(sums)
    })
}

fn add<const N: usize>(a: [u64; N], b: [u64; N]) -> [u64; N] {
    std::array::from_fn(|at| a[at] + b[at])
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut start = 0;
    memchr::memchr_iter(b'\n', bytes).map(move |end| &bytes[std::mem::replace(&mut start, end + 1)..end])
}

/// Whether there is a title, and how many lines.
fn titles_and_lines(bytes: &[u8], titles: &[Finder<'_>]) -> [u64; 2] {
    let (mut found, mut count) = (0, 0);
    for line in lines(bytes) {
        count += 1;
        // Title records are short and begin with their type.
        let start = &line[..line.len().min(64)];
        if titles.iter().any(|title| title.find(start).is_some()) {
            found = 1;
        }
    }
    [found, count]
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default)]
struct Usage {
    #[serde(rename = "input_tokens")]
    input: u64,
    #[serde(rename = "output_tokens")]
    output: u64,
    #[serde(rename = "cache_creation_input_tokens")]
    cache_creation: u64,
    #[serde(rename = "cache_read_input_tokens")]
    cache_read: u64,
}

/// Messages of the model and their tokens, each message once.
fn tokens(bytes: &[u8], finder: &Finder<'_>) -> [u64; 5] {
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow)]
        id: Option<Cow<'a, str>>,
        usage: Option<Usage>,
    }
    #[derive(Deserialize)]
    struct Line<'a> {
        #[serde(borrow, rename = "type")]
        kind: Cow<'a, str>,
        #[serde(borrow)]
        message: Option<Message<'a>>,
    }
    let mut latest: HashMap<Cow<'_, str>, Usage> = HashMap::new();
    for line in lines(bytes).filter(|line| finder.find(line).is_some()) {
        let Ok(Line { kind, message: Some(Message { id: Some(id), usage: Some(usage) }) }) =
            serde_json::from_slice(line)
        else {
            continue;
        };
        if kind == "assistant" {
            latest.insert(id, usage);
        }
    }
    latest
        .values()
        .fold([0; 5], |sum, usage| add(sum, [1, usage.input, usage.output, usage.cache_creation, usage.cache_read]))
}

#[derive(Deserialize)]
struct Record<'a> {
    #[serde(borrow)]
    uuid: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "parentUuid")]
    parent: Option<Cow<'a, str>>,
    #[serde(borrow)]
    timestamp: Option<Cow<'a, str>>,
    #[serde(rename = "isSidechain", default)]
    sidechain: bool,
    #[serde(borrow)]
    message: Option<Message<'a>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow)]
    model: Option<Cow<'a, str>>,
    #[serde(borrow)]
    content: &'a RawValue,
    usage: Option<Usage>,
}

/// A piece of a message; what is not text passes as it is.
#[derive(Deserialize, Serialize, Default)]
#[serde(default)]
struct Piece<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    thinking: Option<Cow<'a, str>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    signature: Option<Cow<'a, str>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    tool_use_id: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_error: Option<bool>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    input: Option<&'a RawValue>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    source: Option<&'a RawValue>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    content: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct Out<'a> {
    id: Option<&'a str>,
    parent: Option<&'a str>,
    role: &'a str,
    model: Option<&'a str>,
    timestamp: Option<&'a str>,
    input: u64,
    output: u64,
    pieces: Vec<Piece<'a>>,
}

/// Line by line through a typed model into JSON.
fn tojson(session: &Path, out: &Path) -> Result<(), Failed> {
    let mut reader = BufReader::with_capacity(256 << 10, File::open(session)?);
    let mut writer = BufWriter::with_capacity(256 << 10, File::create(out)?);
    let (mut line, mut count) = (Vec::new(), 0u64);
    while reader.read_until(b'\n', &mut line)? > 0 {
        let record: Record<'_> = serde_json::from_slice(&line)?;
        if let (false, Some(message)) = (record.sidechain, &record.message) {
            let content = message.content.get();
            let pieces = if content.starts_with('"') {
                let text = Some(serde_json::from_str::<String>(content)?.into());
                vec![Piece { kind: "text".into(), text, ..Piece::default() }]
            } else {
                serde_json::from_str(content)?
            };
            let usage = message.usage.unwrap_or_default();
            let entry = Out {
                id: message.id.as_deref().or(record.uuid.as_deref()),
                parent: record.parent.as_deref(),
                role: &message.role,
                model: message.model.as_deref(),
                timestamp: record.timestamp.as_deref(),
                input: usage.input,
                output: usage.output,
                pieces,
            };
            writer.write_all(if count == 0 { b"[" } else { b",\n" })?;
            serde_json::to_writer(&mut writer, &entry)?;
            count += 1;
        }
        line.clear();
    }
    writer.write_all(b"]\n")?;
    writer.flush()?;
    say(&[count])
}
