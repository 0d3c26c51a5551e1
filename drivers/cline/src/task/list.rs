//! The list that the extension keeps of its tasks.

use crate::elements::{Elements, End};
use crate::place::{TASKS, is_id};
use crate::text::Text;
use crate::time;
use sepia_ir::{DriverError, FileEntry, Warning};
use sepia_sdk::Host;
use sepia_sdk::json::{Flag, Number, Str, members};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

/// Where the list may be; of two entries of one task the first counts.
const PLACES: [&str; 2] = ["state", TASKS];
const NAME: &str = "taskHistory.json";

members! {
    Record {
        id: Str<'a> = "id",
        ts: Number = "ts",
        task: Str<'a> = "task",
        tokens_in: Number = "tokensIn",
        tokens_out: Number = "tokensOut",
        cache_writes: Number = "cacheWrites",
        cache_reads: Number = "cacheReads",
        total_cost: Number = "totalCost",
        cwd: Str<'a> = "cwdOnTaskInitialization",
        model: Str<'a> = "modelId",
        favorite: Flag = "isFavorited",
    }
}

/// An entry of the list.
#[derive(Debug, Clone, Default)]
pub(crate) struct Item {
    /// Epoch seconds of the last activity.
    pub(crate) time: Option<f64>,
    pub(crate) prompt: Option<String>,
    /// Tokens in, out, written to and read from the cache.
    pub(crate) tokens: [Option<f64>; 4],
    pub(crate) cost: Option<f64>,
    pub(crate) cwd: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) favorite: bool,
    /// Changes with the entry.
    pub(crate) stamp: String,
}

/// The list of a store.
#[derive(Debug, Default)]
pub(crate) struct List {
    pub(crate) items: BTreeMap<String, Item>,
    pub(crate) warnings: Vec<Warning>,
    /// When it changed last, epoch seconds.
    pub(crate) file_time: f64,
}

/// The lists of the stores, each read when it is first asked.
pub(crate) struct Lists {
    host: Host,
    known: RefCell<HashMap<&'static str, Rc<List>>>,
}

impl Lists {
    pub(crate) fn new(host: &Host) -> Self {
        Self { host: host.clone(), known: RefCell::default() }
    }

    pub(crate) fn of(&self, store: &'static str) -> Result<Rc<List>, DriverError> {
        if let Some(list) = self.known.borrow().get(store) {
            return Ok(Rc::clone(list));
        }
        let list = Rc::new(read(&self.host, store)?);
        self.known.borrow_mut().insert(store, Rc::clone(&list));
        Ok(list)
    }
}

fn read(host: &Host, store: &'static str) -> Result<List, DriverError> {
    let mut list = List::default();
    for place in PLACES {
        for file in host.walk(store, place, 0, &[NAME.to_owned()])?.files {
            if crate::place::file_name(&file) != NAME {
                continue;
            }
            if let Err(error) = add(host, store, &file, &mut list) {
                let message = format!("the list of tasks `{}` can't be read: {error}", file.path);
                list.warnings.push(Warning::new("unreadable-list", message).in_file(&file.path));
            }
        }
    }
    Ok(list)
}

fn add(host: &Host, store: &'static str, file: &FileEntry, list: &mut List) -> Result<(), DriverError> {
    list.file_time = list.file_time.max(time::of_file(file.modified_ns));
    let mut elements = Elements::new(host, crate::place::place(store, file));
    let mut broken = 0u64;
    while let Some(element) = elements.next()? {
        let text = Text::of(element.bytes.unwrap_or_default());
        let record = text.parse::<Record<'_>>().ok();
        let item =
            record.and_then(|record| Some((record.id.get().filter(|id| is_id(id))?.to_owned(), item(&record, &text))));
        match item {
            Some((id, item)) => {
                list.items.entry(id).or_insert(item);
            }
            None => broken += 1,
        }
    }
    let end = elements.end()?;
    let what = match end {
        End::Whole if broken == 0 => return Ok(()),
        End::Whole => "holds entries that can't be read",
        End::Torn { .. } => "ends before its last entry does",
        End::Trailing { .. } => "goes on behind its end",
        End::NoList => "holds no list",
    };
    let message = format!("the list of tasks `{}` {what}; the tasks themselves are listed all the same", file.path);
    let mut warning = Warning::new("damaged-list", message).in_file(&file.path);
    if let End::Torn { offset, bytes } | End::Trailing { offset, bytes } = end {
        warning.offset = Some(offset);
        warning.bytes = Some(bytes);
    }
    list.warnings.push(warning);
    Ok(())
}

fn item(record: &Record<'_>, text: &Text<'_>) -> Item {
    let mut hasher = DefaultHasher::new();
    text.get().hash(&mut hasher);
    let owned = |text: &Str<'_>| text.filled().map(str::to_owned);
    Item {
        time: record.ts.0.and_then(time::of_number),
        prompt: owned(&record.task),
        tokens: [record.tokens_in.0, record.tokens_out.0, record.cache_writes.0, record.cache_reads.0],
        cost: record.total_cost.0.filter(|cost| *cost > 0.0),
        cwd: owned(&record.cwd),
        model: owned(&record.model),
        favorite: record.favorite.0,
        stamp: format!("{:x}", hasher.finish()),
    }
}
