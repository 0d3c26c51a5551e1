//! The cheap facts of a listing: one query over the small columns of a database, which looks
//! at no message.

use crate::heads::Heads;
use crate::place::{self, FOLDER, Opened, Source, TRANSCRIPTS, is_id};
use crate::row::LISTED;
use crate::time;
use crate::value;
use sepia_ir::{DriverError, ErrorCode, ScanEntry, ScanReport, SqlValue, Warning};
use sepia_sdk::Host;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Reads of a database that changes faster than it can be read, before giving up.
const ATTEMPTS: usize = 3;
/// Work that a row is, nominally: no row needs a look at its messages.
const ROW: u64 = 1 << 10;

/// Never fails as a whole: what can't be read is a warning.
pub(crate) fn scan(host: &Host) -> ScanReport {
    let mut report = ScanReport { entries: Vec::new(), warnings: Vec::new() };
    let mut met = HashSet::new();
    let mut whole = true;
    for source in Source::DATABASES {
        if let Err(error) = database(host, source, &mut report, &mut met) {
            report.warnings.push(place::unreadable(source, &error));
            whole = false;
        }
    }
    // Without all rows nobody knows which transcripts have none.
    if whole {
        transcripts(host, &mut report, &met);
    }
    report
}

fn database(
    host: &Host,
    source: Source,
    report: &mut ScanReport,
    met: &mut HashSet<String>,
) -> Result<(), DriverError> {
    let mut attempt = 1;
    loop {
        let Some(opened) = place::open(host, source)? else { return Ok(()) };
        if let Some(warning) = opened.unknown_layout() {
            report.warnings.push(warning);
            return Ok(());
        }
        match entries(&opened) {
            Ok(found) => {
                take(source, found, report, met);
                return Ok(());
            }
            Err(error) if error.code == ErrorCode::Busy && attempt < ATTEMPTS => attempt += 1,
            Err(error) => return Err(error),
        }
    }
}

/// A row, its stamp and its time.
struct Found {
    id: Option<String>,
    stamp: u64,
    changed: f64,
}

fn take(source: Source, found: Vec<Found>, report: &mut ScanReport, met: &mut HashSet<String>) {
    let mut invalid = 0;
    for Found { id, stamp, changed } in found {
        let Some(id) = id.filter(|id| is_id(id)) else {
            invalid += 1;
            continue;
        };
        let entry = ScanEntry {
            key: source.key(&id),
            stamp: format!("{stamp:016x}"),
            bytes: ROW,
            changed_at: changed,
            session_id: Some(id.clone()),
            sub_agent: false,
        };
        if met.insert(id) {
            report.entries.push(entry);
        }
    }
    if invalid > 0 {
        let message = format!("{invalid} sessions of `{}` have ids that can't be listed", source.file());
        report.warnings.push(Warning::new("invalid-id", message).in_file(source.file()));
    }
}

fn entries(opened: &Opened) -> Result<Vec<Found>, DriverError> {
    let heads = Heads::read(opened)?;
    // A damaged table of messages costs the sessions nothing.
    let rows = match opened.database.rows(&sql(opened, true), &[]) {
        Err(error) if error.code == ErrorCode::Store => opened.database.rows(&sql(opened, false), &[])?,
        rows => rows?,
    };
    Ok(rows.into_iter().map(|row| found(row, &heads)).collect())
}

/// The small columns of all sessions, and what tells that messages came or went.
pub(crate) fn sql(opened: &Opened, with_nodes: bool) -> String {
    let schema = &opened.schema;
    let columns = schema.select("sessions", "s", &LISTED);
    let growing = schema.growing();
    match (with_nodes && schema.has_nodes(), schema.indexed) {
        (false, _) => format!("SELECT {columns}, NULL FROM sessions s"),
        (true, true) => format!(
            "SELECT {columns}, (SELECT MAX(n.{growing}) FROM message_nodes n WHERE n.session_id = s.id) FROM sessions s"
        ),
        (true, false) => format!(
            "SELECT {columns}, n.last FROM sessions s LEFT JOIN \
             (SELECT session_id, MAX({growing}) AS last FROM message_nodes GROUP BY session_id) n ON n.session_id = s.id"
        ),
    }
}

fn found(row: Vec<SqlValue>, heads: &Heads) -> Found {
    let mut hasher = DefaultHasher::new();
    for value in &row {
        let bytes = value::bytes(value);
        // The length as the same number in every form of this driver.
        hasher.write_u64(bytes.len() as u64);
        hasher.write(&bytes);
    }
    let mut columns = value::Columns::of(row);
    let id = columns.text();
    // Columns of `LISTED`, whose times stand behind the id.
    let created = columns.number().and_then(time::plausible);
    let active = columns.number().and_then(time::plausible);
    let mut changed = active.or(created).unwrap_or_default().max(created.unwrap_or_default());
    if let Some(id) = &id {
        for head in heads.of(id) {
            (&head.agent, head.tip, head.updated.to_bits()).hash(&mut hasher);
            changed = changed.max(time::plausible(head.updated).unwrap_or_default());
        }
        if let Some(parent) = heads.parents.get(id) {
            // Not the option itself: its hash has the width of a pointer in it.
            (&parent.session, parent.node.is_some(), parent.node.unwrap_or_default()).hash(&mut hasher);
        }
    }
    Found { id, stamp: hasher.finish(), changed }
}

/// Transcripts of sessions that no database has.
fn transcripts(host: &Host, report: &mut ScanReport, met: &HashSet<String>) {
    let found = match host.walk(FOLDER, TRANSCRIPTS, 0, &[".json".to_owned()]) {
        Ok(found) => found,
        Err(error) if matches!(error.code, ErrorCode::NotFound | ErrorCode::Invalid) => return,
        Err(error) => {
            let message = format!("the transcripts are not listed: {error}");
            report.warnings.push(Warning::new("unreadable-place", message).in_file(TRANSCRIPTS));
            return;
        }
    };
    for (path, reason) in found.failures {
        let message = format!("`{path}` can't be read: {reason}");
        report.warnings.push(Warning::new("unreadable-place", message).in_file(path));
    }
    for file in found.files {
        let Some(id) = crate::atif::id_of(&file.path).filter(|id| is_id(id) && !met.contains(*id)) else { continue };
        report.entries.push(ScanEntry {
            key: Source::Transcript.key(id),
            stamp: format!("{}-{}-{}", file.bytes, file.modified_ns, file.inode),
            bytes: file.bytes,
            changed_at: time::of_file(file.modified_ns),
            session_id: Some(id.to_owned()),
            sub_agent: false,
        });
    }
}
