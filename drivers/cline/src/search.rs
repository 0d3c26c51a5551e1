//! Which sessions can't hold what is looked for, told by a look through their files.

use crate::place::{COMPACTION, Kept, MESSAGES, SESSIONS, STORE};
use crate::summary;
use sepia_ir::{DriverError, SearchPart, SearchQuery, SummaryDetail};
use sepia_sdk::Host;

/// Files of a session that its text is in.
const FILES: [&str; 3] = [MESSAGES, COMPACTION, ".json"];

/// For each key whether it may hold what is looked for. Only session folders are looked through: of the rest there
/// is little.
pub(crate) fn may_hold(host: &Host, keys: &[String], query: &SearchQuery) -> Result<Vec<bool>, DriverError> {
    let mut may = vec![true; keys.len()];
    if !is_spelled_as_it_stands(query) {
        return Ok(may);
    }
    let folder = |(at, key): (usize, &String)| match Kept::of(key) {
        Some(Kept::Folder(name)) => Some((at, name)),
        _ => None,
    };
    let folders: Vec<(usize, String)> = keys.iter().enumerate().filter_map(folder).collect();
    let file = |(_, name): &(usize, String)| FILES.map(|ending| format!("{SESSIONS}/{name}/{name}{ending}"));
    let files: Vec<String> = folders.iter().flat_map(file).collect();
    let held = host.may_hold(query, STORE, &files)?;
    let ruled_out = |(_, held): &(&(usize, String), &[Option<bool>])| {
        // A transcript that can't be looked into is read, to say why.
        held.first() == Some(&Some(false)) && !held.contains(&Some(true))
    };
    let ruled_out = folders.iter().zip(held.chunks(FILES.len())).filter(ruled_out);
    let places: Vec<usize> = ruled_out.map(|((at, _), _)| *at).collect();
    // A title may come from elsewhere.
    let named = if query.looks_at(SearchPart::Title) {
        are_named(host, &places.iter().map(|at| keys[*at].clone()).collect::<Vec<_>>(), query)?
    } else {
        vec![false; places.len()]
    };
    for (at, named) in places.into_iter().zip(named) {
        may[at] = named;
    }
    Ok(may)
}

/// For each key whether its title matches, or isn't known.
fn are_named(host: &Host, keys: &[String], query: &SearchQuery) -> Result<Vec<bool>, DriverError> {
    let rows = summary::summaries(host, keys, SummaryDetail::Row);
    let titles: Vec<&str> =
        rows.iter().map(|row| row.sessions.first().map_or("", |session| session.title.as_str())).collect();
    let found = host.find(query, &titles, 1)?;
    let unknown = rows.iter().map(|row| row.sessions.len() != 1 || !row.warnings.is_empty());
    Ok(found.iter().zip(unknown).map(|(spans, unknown)| unknown || !spans.is_empty()).collect())
}

/// Whether the agent spells the text alike wherever it stands: some results are JSON inside a string of JSON, where
/// what is escaped is escaped twice.
fn is_spelled_as_it_stands(query: &SearchQuery) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '_' | '-' | '.');
    !query.regex && query.text.chars().all(plain)
}
