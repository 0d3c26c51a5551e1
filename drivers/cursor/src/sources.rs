//! The sessions of a key: read from the best of its sources that has any messages.

use crate::ide::Ide;
use crate::key::{Key, Kind, Source};
use crate::places::{CURSOR, Places, plausible};
use crate::record::{Place, Record};
use crate::workspaces::{self, Workspaces};
use crate::{chat, composer, projection, time};
use sepia_ir::{DriverError, ErrorCode, Summary, SummaryDetail, Warning};
use sepia_sdk::Host;
use std::cell::OnceCell;

/// What one call of the driver opens at most once.
pub(crate) struct Stores {
    pub(crate) host: Host,
    pub(crate) workspaces: Workspaces,
    ide: OnceCell<Result<Option<Ide>, DriverError>>,
    places: OnceCell<Places>,
}

impl Stores {
    pub(crate) fn of(host: &Host) -> Self {
        let workspaces = Workspaces::of(host);
        Self { host: host.clone(), workspaces, ide: OnceCell::new(), places: OnceCell::new() }
    }

    /// The IDE's database, if there is one.
    pub(crate) fn ide(&self) -> Result<Option<&Ide>, DriverError> {
        match self.ide.get_or_init(|| Ide::open(&self.host)) {
            Ok(ide) => Ok(ide.as_ref()),
            Err(error) => Err(error.clone()),
        }
    }

    /// All files of the other spaces.
    pub(crate) fn places(&self) -> Result<&Places, DriverError> {
        if let Some(known) = self.places.get() {
            return Ok(known);
        }
        let places = Places::find(&self.host)?;
        Ok(self.places.get_or_init(|| places))
    }

    /// The rows of a key, given as text.
    pub(crate) fn summary(&self, key: &str, detail: SummaryDetail) -> Result<Summary, DriverError> {
        let mut summary = Summary { key: key.to_owned(), sessions: Vec::new(), warnings: Vec::new() };
        let Some(key) = Key::decode(key) else { return Ok(summary) };
        for record in self.records(&key, &mut summary.warnings)? {
            let row = match detail {
                SummaryDetail::Row => Ok(record.row()),
                SummaryDetail::Stats => record.in_full().map(|(session, _)| session),
            };
            // A database that breaks in the middle is still listed.
            summary.sessions.push(row.unwrap_or_else(|error| record.broken(&error)));
        }
        Ok(summary)
    }

    /// The sessions of a key. What could not be read becomes a warning: of the session when
    /// another source has it, else of the key.
    pub(crate) fn records(&self, key: &Key, warnings: &mut Vec<Warning>) -> Result<Vec<Record>, DriverError> {
        let mut failures = Vec::new();
        let mut records: Vec<Record> = Vec::new();
        let (mut chosen, mut empty) = (None, None);
        for (at, source) in key.sources.iter().enumerate() {
            match self.read(key, source) {
                Ok(Read::Sessions(read)) => {
                    (records, chosen) = (read, Some(at));
                    break;
                }
                Ok(Read::Empty(read)) => empty = empty.or(Some((read, at))),
                Ok(Read::Nothing) => {}
                Err(error) => {
                    let place = if source.path.is_empty() { crate::ide::GLOBAL } else { &source.path };
                    let code =
                        if error.code == ErrorCode::Unsupported { "unknown-layout" } else { "unreadable-database" };
                    let message = format!("a session in `{place}` could not be read: {error}");
                    failures.push(Warning::new(code, message).in_file(place));
                }
            }
        }
        if let (None, Some((read, at))) = (chosen, empty) {
            (records, chosen) = (read, Some(at));
        }
        match records.first_mut() {
            Some(first) => {
                first.about.warnings.append(&mut failures);
                let others = key.sources.iter().enumerate().filter(|(at, _)| Some(*at) != chosen);
                first.about.also_in = others
                    .map(|(_, source)| Place {
                        space: source.kind.space(),
                        store: source.kind.store(),
                        path: source.path.clone(),
                    })
                    .collect();
                if let Some(parent) = key.parent.as_ref().filter(|parent| **parent != key.id) {
                    first.session.parent_session_id.get_or_insert_with(|| parent.clone());
                    first.session.agent_id.get_or_insert_with(|| key.id.clone());
                    first.about.subagent = true;
                }
            }
            None => warnings.append(&mut failures),
        }
        self.subagents(key, &mut records)?;
        Ok(records)
    }

    fn read(&self, key: &Key, source: &Source) -> Result<Read, DriverError> {
        let one = |record: Option<Record>| record.map_or(Read::Nothing, |record| Read::Sessions(vec![record]));
        Ok(match source.kind {
            Kind::Chat | Kind::ConfigChat | Kind::Acp | Kind::Sdk => match chat::open(&self.host, source)? {
                None => Read::Nothing,
                Some(chat) => {
                    let has_messages = chat.has_messages();
                    let records = chat.records(&self.host, &key.id, self.file_time(source)?)?;
                    if records.is_empty() {
                        Read::Nothing
                    } else if has_messages {
                        Read::Sessions(records)
                    } else {
                        Read::Empty(records)
                    }
                }
            },
            Kind::Composer => match self.ide()? {
                None => Read::Nothing,
                Some(ide) => one(composer::record(ide, &key.id, &self.workspaces)?),
            },
            Kind::Transcript | Kind::FlatLines | Kind::FlatJson | Kind::FlatText => {
                one(projection::record(&self.host, source, &key.id, None)?)
            }
            Kind::Workspace => {
                let mut records = workspaces::records(&self.host, &source.path, &self.workspaces)?;
                let mut kept = Vec::with_capacity(records.len());
                for record in records.drain(..) {
                    if !self.is_elsewhere(&record.session.id)?
                        && kept.iter().all(|other: &Record| other.session.id != record.session.id)
                    {
                        kept.push(record);
                    }
                }
                if kept.is_empty() { Read::Nothing } else { Read::Sessions(kept) }
            }
        })
    }

    /// Whether a chat of an old version has moved to where newer ones keep it.
    fn is_elsewhere(&self, id: &str) -> Result<bool, DriverError> {
        if self.places()?.kept.contains_key(id) {
            return Ok(true);
        }
        Ok(match self.ide() {
            Ok(Some(ide)) => composer::record(ide, id, &self.workspaces)?.is_some(),
            // That database has a row of its own that says so.
            Ok(None) | Err(_) => false,
        })
    }

    /// When the newest of a chat's files changed, epoch seconds.
    fn file_time(&self, source: &Source) -> Result<f64, DriverError> {
        let folder = source.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let endings = ["store.db", "store.db-wal", "meta.json"].map(str::to_owned);
        let files = self.host.walk(source.kind.store(), folder, 0, &endings)?.files;
        let is_its = |path: &str| endings.iter().any(|name| path.rsplit('/').next() == Some(name));
        let newest = files.iter().filter(|file| is_its(&file.path)).map(|file| file.modified_ns).max();
        Ok(time::of_file(newest.unwrap_or_default()))
    }

    /// Sub-agents: those inside the chat, then those that only have a transcript. One that has a
    /// store of its own is a session of its own.
    fn subagents(&self, key: &Key, records: &mut Vec<Record>) -> Result<(), DriverError> {
        if records.len() > 1 && !key.id.is_empty() {
            let places = self.places()?;
            let first = key.id.as_str();
            records.retain(|record| {
                let id = &record.session.id;
                id == first || places.kept.get(id).is_none_or(|kept| kept.sources.is_empty())
            });
        }
        for folder in &key.subagents {
            for file in self.host.walk(CURSOR, folder, 0, &[".jsonl".to_owned()])?.files {
                let name = file.path.rsplit('/').next().unwrap_or_default();
                let Some(id) = name.strip_suffix(".jsonl").filter(|id| plausible(id) && *id != key.id) else {
                    continue;
                };
                let source = Source { kind: Kind::Transcript, path: file.path.clone() };
                if let Some(known) = records.iter_mut().find(|record| record.session.id == id) {
                    let place = Place { space: source.kind.space(), store: CURSOR, path: source.path };
                    known.about.also_in.push(place);
                    continue;
                }
                if self.places()?.kept.get(id).is_some_and(|kept| !kept.sources.is_empty()) {
                    continue;
                }
                let cwd = records.first().map(|record| record.session.working_directory.clone());
                if let Some(mut record) = projection::record(&self.host, &source, id, Some(&key.id))? {
                    if record.session.working_directory.is_empty() {
                        record.session.working_directory = cwd.unwrap_or_default();
                    }
                    records.push(record);
                }
            }
        }
        Ok(())
    }
}

/// What a source has.
enum Read {
    Sessions(Vec<Record>),
    /// A session in which nothing was said, or of which nothing is left.
    Empty(Vec<Record>),
    Nothing,
}
