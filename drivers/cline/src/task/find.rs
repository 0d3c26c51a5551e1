//! Where tasks are, and their rows.

use super::list::{Item, Lists};
use super::told;
use crate::about::About;
use crate::elements::Elements;
use crate::gather;
use crate::head;
use crate::index::{Dialect, Source};
use crate::json_value::JsonValue;
use crate::pieces::Place;
use crate::place::{EXTENSION, Kept, STORE, TASKS, file_name, is_id, is_there, place, stamp};
use crate::scan::Scan;
use crate::session::{BACKEND, Found, times};
use crate::text::Text;
use crate::time;
use crate::title::Titles;
use sepia_ir::{DriverError, FileEntry, Session, Warning};
use sepia_sdk::Host;
use sepia_sdk::metadata::Members;
use std::collections::BTreeMap;

/// What went to the model.
const API: &str = "api_conversation_history.json";
/// What was shown, by the newer and the older name.
const SHOWN: [&str; 2] = ["ui_messages.json", "claude_messages.json"];

/// The files of a task with messages in them.
#[derive(Debug, Clone, Default)]
pub(crate) struct TaskFiles {
    pub(crate) api: Option<FileEntry>,
    pub(crate) shown: Option<FileEntry>,
}

impl TaskFiles {
    fn of(files: &[FileEntry]) -> Self {
        let named = |name: &str| files.iter().find(|file| file_name(file) == name).cloned();
        Self { api: named(API), shown: SHOWN.iter().find_map(|name| named(name)) }
    }

    fn all(&self) -> impl Iterator<Item = &FileEntry> {
        self.api.iter().chain(&self.shown)
    }

    fn stamp(&self) -> String {
        self.all().map(|file| stamp(file) + "+").collect()
    }

    /// When one of them changed last, epoch seconds.
    fn time(&self) -> Option<f64> {
        self.all().map(|file| time::of_file(file.modified_ns)).reduce(f64::max)
    }
}

fn names() -> Vec<String> {
    [API, SHOWN[0], SHOWN[1]].map(str::to_owned).to_vec()
}

/// Adds the tasks of a store to a scan.
pub(crate) fn scan(host: &Host, store: &'static str, found: &mut Scan) -> Result<(), DriverError> {
    if !is_there(host, store) {
        return Ok(());
    }
    let mut walked = host.walk(store, TASKS, 1, &names())?;
    found.failures(&walked);
    let mut folders: BTreeMap<String, Vec<FileEntry>> = BTreeMap::new();
    for file in walked.files.drain(..) {
        if let Some(id) = folder_of(&file) {
            folders.entry(id.to_owned()).or_default().push(file);
        }
    }
    let lists = Lists::new(host);
    let list = lists.of(store)?;
    found.warnings.extend(list.warnings.iter().cloned());
    for id in list.items.keys() {
        folders.entry(id.clone()).or_default();
    }
    for (id, files) in folders {
        let files = TaskFiles::of(&files);
        let item = list.items.get(&id).map(|item| item.stamp.as_str()).unwrap_or_default();
        let stamp = format!("{}{item}", files.stamp());
        let bytes = files.all().map(|file| file.bytes).sum();
        let changed_at = time::bound(files.time().unwrap_or(list.file_time));
        let kept = Kept::Task { store, id };
        if !found.entry(&kept, stamp, bytes, changed_at) {
            let message = format!("task `{}` of store `{store}` is listed from another place already", kept.id());
            found.warnings.push(Warning::new("duplicate-task", message));
        }
    }
    Ok(())
}

/// The task of a file.
fn folder_of(file: &FileEntry) -> Option<&str> {
    let (folder, name) = file.path.strip_prefix(TASKS)?.strip_prefix('/')?.split_once('/')?;
    (is_id(folder) && !name.contains('/')).then_some(folder)
}

/// Looks a task up by its id.
pub(crate) fn locate(host: &Host, id: &str) -> Result<Option<Kept>, DriverError> {
    let lists = Lists::new(host);
    for store in [STORE, EXTENSION].into_iter().filter(|store| is_there(host, store)) {
        let files = host.walk(store, TASKS, 1, &names())?.files;
        if files.iter().any(|file| folder_of(file) == Some(id)) || lists.of(store)?.items.contains_key(id) {
            return Ok(Some(Kept::Task { store, id: id.to_owned() }));
        }
    }
    Ok(None)
}

/// The row of a task, and what its messages are read from.
pub(crate) fn find(host: &Host, store: &'static str, id: &str, lists: &Lists) -> Result<Option<Found>, DriverError> {
    let list = lists.of(store)?;
    let item = list.items.get(id);
    let walked = host.walk(store, &format!("{TASKS}/{id}"), 0, &names())?.files;
    let files = TaskFiles::of(&walked);
    if item.is_none() && files.all().next().is_none() {
        return Ok(None);
    }
    let mut about = About::default();
    let source = source(host, store, &files)?;
    about.state = Some(state(&files, source.as_ref(), item.is_some()));
    about.read_from = source.as_ref().map(|source| source.place.path.clone());
    if source.is_none() {
        let message = "the task has no messages that can be read";
        about.warnings.push(Warning::new("no-transcript", message));
    }
    let file_time = files.time().unwrap_or(list.file_time);
    let mut session = Session::new(id, BACKEND);
    let mut titles = Titles { stored: None, prompt: item.and_then(|item| item.prompt.clone()) };
    let mut started = time::of_id(id);
    if let Some(source) = source.as_ref().filter(|_| titles.prompt.is_none() || started.is_none()) {
        let head = head::look(host, &Source::head_of(source.place.clone(), source.dialect), true)?;
        titles.prompt = titles.prompt.or(head.prompt);
        started = started.or(head.started);
    }
    (session.title, about.title_source) = titles.choose(id);
    // Without an entry in the list only the files tell when the task went on.
    let last = item.and_then(|item| item.time);
    times(&mut session, &mut about, started, last.or(Some(file_time)), file_time);
    if last.is_none() {
        about.time_source = Some("file");
    }
    if let Some(item) = item {
        session.working_directory = item.cwd.clone().unwrap_or_default();
        session.model = item.model.clone().unwrap_or_default();
        about.favorite = item.favorite;
        about.total_cost = item.cost;
        about.aggregate_usage = totals(item).map(JsonValue);
    }
    Ok(Some(Found { session, about, source, compaction: None, checkpoints: Vec::new(), task: Some((store, files)) }))
}

/// The tokens that the list has of a task.
fn totals(item: &Item) -> Option<String> {
    let mut members = Members::default();
    for (name, count) in ["tokensIn", "tokensOut", "cacheWrites", "cacheReads"].iter().zip(item.tokens) {
        if let Some(count) = count.filter(|count| count.is_finite()) {
            members.raw(name, &count.to_string());
        }
    }
    Some(members.finish()).filter(|json| json.starts_with('{'))
}

fn state(files: &TaskFiles, source: Option<&Source>, listed: bool) -> &'static str {
    match source {
        None => "no-files",
        Some(_) if !listed => "unlisted",
        Some(source) if source.dialect == Dialect::Shown => "shown-only",
        Some(_) if files.shown.is_none() => "api-only",
        Some(_) => "complete",
    }
}

/// What the messages are read from: what went to the model, as long as any of it can be read.
fn source(host: &Host, store: &'static str, files: &TaskFiles) -> Result<Option<Source>, DriverError> {
    for (file, dialect) in [(&files.api, Dialect::Task), (&files.shown, Dialect::Shown)] {
        let Some(file) = file else { continue };
        let place = place(store, file);
        if !holds_messages(host, place.clone(), dialect)? {
            continue;
        }
        let file_time = time::of_file(file.modified_ns);
        return Ok(Some(Source { place, dialect, file_time, stamp: files.stamp(), ..Source::default() }));
    }
    Ok(None)
}

fn holds_messages(host: &Host, place: Place, dialect: Dialect) -> Result<bool, DriverError> {
    let mut elements = Elements::head(host, place);
    while let Some(element) = elements.next()? {
        let Some(bytes) = element.bytes else { return Ok(true) };
        if matches!(gather::made(&Text::of(bytes), 1, dialect), Ok(Some(_))) {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Found {
    /// Adds what was shown to the person to what the messages are read with.
    pub(crate) fn with_shown(&mut self, host: &Host) -> Result<(), DriverError> {
        let Some((store, files)) = self.task.take() else { return Ok(()) };
        let Some(source) = &mut self.source else { return Ok(()) };
        let read = if source.dialect == Dialect::Shown { &files.api } else { &files.shown };
        let Some(other) = read else { return Ok(()) };
        if source.dialect == Dialect::Shown {
            let message =
                format!("`{}` holds no messages that can be read; those that were shown stand for them", other.path);
            self.about.warnings.push(Warning::new("no-messages", message).in_file(&other.path));
            return Ok(());
        }
        let told = told::read(host, place(store, other))?;
        source.times = told.times;
        source.tokens = told.tokens;
        self.checkpoints = told.checkpoints;
        self.about.warnings.extend(told.warnings);
        Ok(())
    }
}
