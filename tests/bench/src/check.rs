//! What the program says, against the truth.

use crate::Failed;
use crate::truth::{Known, Recorded, Tokens, Truth, recorded};
use jiff::Timestamp;
use serde::Deserialize;
use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// A row of `sepia list --json`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    id: String,
    title: String,
    cwd: String,
    created_at: String,
    updated_at: String,
    stats: Option<Stats>,
}

#[derive(Debug, Deserialize)]
struct Stats {
    usage: Usage,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Usage {
    input: f64,
    output: f64,
    cache_read: f64,
    cache_write: f64,
}

impl Usage {
    fn tokens(&self) -> Tokens {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "counts of tokens are whole and far below 2^53"
        )]
        let whole = |count: f64| count as u64;
        Tokens {
            input: whole(self.input),
            output: whole(self.output),
            cache_creation: whole(self.cache_write),
            cache_read: whole(self.cache_read),
        }
    }
}

/// Whether a text is that time.
fn is(text: &str, time: Timestamp) -> bool {
    text.parse::<Timestamp>().is_ok_and(|parsed| parsed == time)
}

fn rows(output: &Path) -> Result<Vec<Row>, Failed> {
    Ok(serde_json::from_reader(BufReader::new(File::open(output)?))?)
}

/// Rows that differ from the truth in title, directory or time, are missing or too many.
pub(crate) fn listing(output: &Path, truth: &Truth, place: &Path) -> Result<usize, Failed> {
    let rows = rows(output)?;
    let known: HashMap<&str, &Known> = truth.sessions.iter().map(|known| (known.id.as_str(), known)).collect();
    let times = times(truth, place)?;
    let mut differ = truth.sessions.len().abs_diff(rows.len());
    for row in &rows {
        let right = known.get(row.id.as_str()).zip(times.get(row.id.as_str())).is_some_and(|(known, times)| {
            let title = known.title.as_deref().unwrap_or(&known.first_prompt);
            row.title == title
                && row.cwd == known.cwd
                && is(&row.created_at, times.created)
                && is(&row.updated_at, times.updated)
        });
        if !right {
            differ += 1;
            crate::say(&format!("differs: {row:?}, and true is {:?}", known.get(row.id.as_str())));
        }
    }
    Ok(differ)
}

/// Rows of an agent whose records are not read here that differ from the truth in title, directory or time, are
/// missing or too many.
pub(crate) fn listing_of_others(output: &Path, truth: &Truth) -> Result<usize, Failed> {
    let rows = rows(output)?;
    let shown = truth.sessions.iter().filter(|known| !known.hidden);
    let known: HashMap<&str, &Known> = shown.map(|known| (known.id.as_str(), known)).collect();
    let mut differ = known.len().abs_diff(rows.len());
    for row in &rows {
        let right = known.get(row.id.as_str()).is_some_and(|known| {
            // One that the agent cut may end in a blank.
            let title = known.title.as_deref().unwrap_or(&known.first_prompt).trim_end();
            let in_time = known
                .updated
                .as_ref()
                .is_none_or(|updated| updated.parse().is_ok_and(|updated| is(&row.updated_at, updated)));
            row.title == title && row.cwd == known.cwd && in_time
        });
        if !right {
            differ += 1;
            crate::say(&format!("differs: {row:?}, and true is {:?}", known.get(row.id.as_str())));
        }
    }
    Ok(differ)
}

/// Sessions whose tokens differ, and 1 more when the sum of all rows does.
pub(crate) fn usage(output: &Path, truth: &Truth) -> Result<usize, Failed> {
    let rows = rows(output)?;
    let mut sum = Tokens::default();
    let mut by_id = HashMap::new();
    for row in &rows {
        let tokens = row.stats.as_ref().map(|stats| stats.usage.tokens()).unwrap_or_default();
        sum += tokens;
        by_id.insert(row.id.as_str(), tokens);
    }
    let differ = truth.sessions.iter().filter(|known| by_id.get(known.id.as_str()) != Some(&known.usage)).count();
    Ok(differ + usize::from(sum != truth.tokens()))
}

/// Differences of an exported session: another id, or other tokens in its nodes.
pub(crate) fn export(output: &Path, known: &Known) -> Result<usize, Failed> {
    #[derive(Deserialize)]
    struct Export {
        session: Session,
    }
    #[derive(Deserialize)]
    struct Session {
        id: String,
        nodes: Vec<Node>,
    }
    #[derive(Deserialize)]
    struct Node {
        usage: Option<Usage>,
    }
    let export: Export = serde_json::from_reader(BufReader::with_capacity(256 << 10, File::open(output)?))?;
    let mut sum = Tokens::default();
    for usage in export.session.nodes.iter().filter_map(|node| node.usage.as_ref()) {
        sum += usage.tokens();
    }
    Ok(usize::from(export.session.id != known.id) + usize::from(sum != known.usage))
}

/// Times of all sessions by their records, read on all cores.
fn times<'t>(truth: &'t Truth, place: &Path) -> Result<HashMap<&'t str, Recorded>, Failed> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some(known) = truth.sessions.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.push((known.id.as_str(), recorded(&place.join(&known.path))?));
        }
        Ok::<_, Failed>(done)
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        let mut times = HashMap::new();
        for worker in workers {
            times.extend(worker.join().map_err(|_| "a thread broke off")??);
        }
        Ok(times)
    })
}
