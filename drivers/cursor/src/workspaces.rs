//! Databases of workspaces: which folder a workspace is, which composers were begun in it, and
//! the chats of the oldest versions, which are kept there alone.

use crate::blobs::bytes_of;
use crate::bubbles::{self, ListFeed};
use crate::json::{Object, decoded};
use crate::key::Kind;
use crate::places::{IDE, plausible};
use crate::prompt::one_line;
use crate::record::{About, BACKEND, Reader, Record, Times};
use crate::step::Part;
use crate::{time, uri};
use sepia_ir::{DriverError, ErrorCode, FileEntry, Session, SqlValue};
use sepia_sdk::{Database, Host};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Where the workspaces are.
const STORAGE: &str = "workspaceStorage";
/// Longer values are not read.
const LONGEST: u64 = 128 << 20;
/// Databases that are asked which composers are theirs, at most.
const MOST: usize = 1_000;
/// Chats of the oldest versions.
const TABS: &str = "workbench.panel.aichat.view.aichat.chatdata";
/// Composers of a workspace; old versions kept whole conversations in it.
const COMPOSERS: &str = "composer.composerData";

/// Folders of workspaces, looked up when they are asked for.
pub(crate) struct Workspaces {
    host: Host,
    files: OnceCell<Vec<FileEntry>>,
    /// Workspace by composer.
    members: OnceCell<HashMap<String, String>>,
}

/// The databases of workspaces, with what lies beside them.
pub(crate) fn files(host: &Host) -> Result<Vec<FileEntry>, DriverError> {
    let endings = ["state.vscdb", "state.vscdb-wal", "workspace.json"].map(str::to_owned);
    Ok(host.walk(IDE, STORAGE, 1, &endings)?.files)
}

/// The workspace of a file.
pub(crate) fn workspace_of(path: &str) -> Option<(&str, &str)> {
    let mut parts = path.strip_prefix(STORAGE)?.strip_prefix('/')?.split('/');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(workspace), Some(name), None) => Some((workspace, name)),
        _ => None,
    }
}

impl Workspaces {
    pub(crate) fn of(host: &Host) -> Self {
        Self { host: host.clone(), files: OnceCell::new(), members: OnceCell::new() }
    }

    fn files(&self) -> Result<&[FileEntry], DriverError> {
        if self.files.get().is_none() {
            let files = files(&self.host)?;
            return Ok(self.files.get_or_init(|| files));
        }
        Ok(self.files.get().map_or(&[], Vec::as_slice))
    }

    /// The folder of a workspace, or of the one that says that the composer is its own.
    pub(crate) fn folder(&self, workspace: Option<&str>, composer: &str) -> Result<Option<String>, DriverError> {
        match workspace {
            Some(workspace) => self.folder_of(workspace),
            None => match self.members()?.get(composer).cloned() {
                Some(workspace) => self.folder_of(&workspace),
                None => Ok(None),
            },
        }
    }

    /// An id is looked up among the workspaces that there are, and never made a path.
    pub(crate) fn folder_of(&self, workspace: &str) -> Result<Option<String>, DriverError> {
        let is_it = |file: &&FileEntry| workspace_of(&file.path) == Some((workspace, "workspace.json"));
        let Some(file) = self.files()?.iter().find(is_it) else { return Ok(None) };
        let bytes = match self.host.read(IDE, &file.path, 0, 64 << 10) {
            Ok(bytes) => bytes,
            Err(error) if error.code == ErrorCode::NotFound => return Ok(None),
            Err(error) => {
                self.host.log(sepia_ir::LogLevel::Warn, &format!("`{}` was passed over: {error}", file.path));
                return Ok(None);
            }
        };
        let text = decoded(&bytes).0;
        let note = Object::parse(&text).unwrap_or_default();
        Ok(note.filled("folder").or_else(|| note.filled("workspace")).and_then(|uri| uri::path(&uri)))
    }

    fn members(&self) -> Result<&HashMap<String, String>, DriverError> {
        if let Some(known) = self.members.get() {
            return Ok(known);
        }
        let mut members = HashMap::new();
        for file in self.files()?.iter().take(MOST) {
            let Some((workspace, "state.vscdb")) = workspace_of(&file.path) else { continue };
            // A database that can't be read names no composers; its own row says so.
            let Ok(database) = self.host.database(IDE, &file.path) else { continue };
            let Ok(Some(text)) = item(&*database, COMPOSERS) else { continue };
            let Some(all) = Object::parse(&text).and_then(|data| {
                data.list("allComposers").map(|l| l.into_iter().map(str::to_owned).collect::<Vec<_>>())
            }) else {
                continue;
            };
            for raw in all {
                if let Some(id) = Object::parse(&raw).and_then(|head| head.filled("composerId")) {
                    members.entry(id).or_insert_with(|| workspace.to_owned());
                }
            }
        }
        Ok(self.members.get_or_init(|| members))
    }
}

/// A value of `ItemTable`, if there is such a table and such a key.
fn item(database: &dyn Database, key: &str) -> Result<Option<String>, DriverError> {
    let tables = database.rows("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'ItemTable'", &[])?;
    if tables.is_empty() {
        return Ok(None);
    }
    let sql = format!("SELECT value FROM ItemTable WHERE key = ? AND octet_length(value) <= {LONGEST}");
    let row = database.rows(&sql, &[SqlValue::Text(key.to_owned())])?.into_iter().next();
    Ok(row.and_then(|row| row.into_iter().next()).map(|value| decoded(&bytes_of(value)).0.into_owned()))
}

/// Chats that a database keeps in the ways of old versions.
pub(crate) fn records(host: &Host, path: &str, workspaces: &Workspaces) -> Result<Vec<Record>, DriverError> {
    let database = match host.database(IDE, path) {
        Ok(database) => database,
        Err(error) if error.code == ErrorCode::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found: Vec<(Object<'_>, Vec<String>)> = Vec::new();
    let tabs = item(&*database, TABS)?.unwrap_or_default();
    let composers = item(&*database, COMPOSERS)?.unwrap_or_default();
    let owned = |list: Vec<&str>| list.into_iter().map(str::to_owned).collect::<Vec<_>>();
    for raw in Object::parse(&tabs).and_then(|data| data.list("tabs")).unwrap_or_default() {
        let Some(tab) = Object::parse(raw) else { continue };
        let bubbles = tab.list("bubbles").map(owned).unwrap_or_default();
        found.push((tab, bubbles));
    }
    for raw in Object::parse(&composers).and_then(|data| data.list("allComposers")).unwrap_or_default() {
        let Some(composer) = Object::parse(raw) else { continue };
        let bubbles = composer.list("conversation").map(owned).unwrap_or_default();
        found.push((composer, bubbles));
    }
    found.retain(|(_, bubbles)| !bubbles.is_empty());
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let files = files_beside(host, path)?;
    let modified = files.iter().map(|file| file.modified_ns).max().unwrap_or_default();
    let folder = match workspace_of(path) {
        Some((workspace, _)) => workspaces.folder_of(workspace)?,
        None => None,
    };
    Ok(found.into_iter().filter_map(|(tab, bubbles)| record(&tab, bubbles, path, folder.clone(), modified)).collect())
}

/// The database and its log.
fn files_beside(host: &Host, path: &str) -> Result<Vec<FileEntry>, DriverError> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let endings = ["state.vscdb", "state.vscdb-wal"].map(str::to_owned);
    Ok(host.walk(IDE, folder, 0, &endings)?.files)
}

fn record(tab: &Object<'_>, bubbles: Vec<String>, path: &str, folder: Option<String>, modified: u64) -> Option<Record> {
    let id = ["tabId", "composerId", "id"].iter().find_map(|name| tab.filled(name)).filter(|id| plausible(id))?;
    let mut about = About {
        space: Kind::Workspace.space(),
        workspace_id: workspace_of(path).map(|(id, _)| id.to_owned()),
        ..About::default()
    };
    let mut session = Session::new(&id, BACKEND);
    session.agent_mode =
        tab.filled("unifiedMode").or_else(|| tab.filled("chatMode")).unwrap_or_else(|| "chat".to_owned());
    session.working_directory = folder.unwrap_or_default();
    let (mut prompt, mut first, mut last) = (None, None, None);
    for step in bubbles.iter().flat_map(|text| bubbles::steps(text, "").unwrap_or_default()) {
        prompt = prompt.or(step.prompt.filter(|prompt| !prompt.trim().is_empty()));
        first = first.or(step.at);
        last = step.at.or(last);
        if let Some(model) = step.node.model {
            session.model = model;
        }
    }
    let number = |names: [&str; 2]| names.iter().find_map(|name| tab.number(name)).and_then(time::of_number);
    let times = Times {
        created: number(["createdAt", "createdAt"]).or(first),
        active: number(["lastUpdatedAt", "lastSendTime"]).or(last).or_else(|| number(["createdAt", "createdAt"])),
    };
    times.fill(&mut session, &mut about, time::of_file(modified));
    let named = ["chatTitle", "name", "title"].iter().find_map(|name| tab.filled(name)).map(|name| one_line(&name));
    (session.title, about.title_source) = match (named.filter(|name| !name.is_empty()), prompt) {
        (Some(name), _) => (name, "generated"),
        (None, Some(prompt)) => (one_line(&prompt), "first-prompt"),
        (None, None) => (id.chars().take(8).collect(), "id"),
    };
    let (bubbles, shown) = (Rc::new(bubbles), format!("chat {id} in `{path}`"));
    let reader: Reader =
        Rc::new(move |range| Ok(Part::of(Box::new(ListFeed::new(Rc::clone(&bubbles), shown.clone())), &range)));
    Some(Record { session, about, reader, file: None, typed: None, more: None, kept: None })
}
