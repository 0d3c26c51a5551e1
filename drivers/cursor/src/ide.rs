//! The IDE's database: `state.vscdb` of all windows, and what it says of composers.
//!
//! It can have gigabytes: only ranges of keys are read, and lengths come before values. The keys
//! of what a person is signed in with are never asked for.

use crate::blobs::bytes_of;
use crate::json::{Object, decoded};
use crate::places::IDE;
use sepia_ir::{DriverError, ErrorCode, FileEntry, SqlValue, Warning};
use sepia_sdk::{Database, Host};
use std::collections::BTreeMap;
use std::rc::Rc;

/// The database of all windows.
pub(crate) const GLOBAL: &str = "globalStorage/state.vscdb";
/// Longer documents of composers are not read.
pub(crate) const LONGEST: u64 = 128 << 20;
/// A composer that was never begun.
const EMPTY_DRAFT: &str = "empty-state-draft";

/// See the module.
pub(crate) struct Ide {
    pub(crate) database: Rc<dyn Database>,
    tables: Vec<String>,
    /// Columns of `composerHeaders` that this version of the store has.
    columns: Vec<String>,
    /// When the database or its log changed, nanoseconds.
    pub(crate) modified_ns: u64,
}

/// What a composer's row in the list of headers says, and when its document changed.
#[derive(Debug, Default, Clone)]
pub(crate) struct Head {
    pub(crate) stamp: String,
    /// Bytes of its document.
    pub(crate) bytes: u64,
    /// Epoch milliseconds of the newest change that the header tells.
    pub(crate) updated_ms: f64,
}

/// Members of a composer's document that are read.
const MEMBERS: [&str; 18] = [
    "name",
    "subtitle",
    "status",
    "createdAt",
    "lastUpdatedAt",
    "unifiedMode",
    "forceMode",
    "isArchived",
    "isDraft",
    "modelConfig",
    "fullConversationHeadersOnly",
    "conversation",
    "subagentInfo",
    "workspaceIdentifier",
    "contextTokensUsed",
    "contextTokenLimit",
    "conversationState",
    "todos",
];

/// What the list of headers says of one composer.
#[derive(Debug, Default)]
pub(crate) struct Header {
    /// JSON text.
    pub(crate) value: String,
    pub(crate) archived: bool,
    pub(crate) subagent: bool,
    /// Epoch milliseconds of its newest date.
    pub(crate) updated_ms: f64,
}

/// The newest of dates in epoch milliseconds; 0 when there is none.
fn newest(dates: impl Iterator<Item = SqlValue>) -> f64 {
    let ms = dates.map(|date| match date {
        #[expect(clippy::cast_precision_loss, reason = "milliseconds are far below 2^53")]
        SqlValue::Integer(ms) => ms as f64,
        SqlValue::Real(ms) if ms.is_finite() => ms,
        _ => 0.0,
    });
    ms.fold(0.0, f64::max)
}

fn text(value: SqlValue) -> String {
    decoded(&bytes_of(value)).0.into_owned()
}

/// The database and its log, with their sizes and times.
pub(crate) fn files(host: &Host) -> Result<Vec<FileEntry>, DriverError> {
    let endings = ["state.vscdb".to_owned(), "state.vscdb-wal".to_owned()];
    let files = host.walk(IDE, "globalStorage", 0, &endings)?.files;
    Ok(files.into_iter().filter(|file| file.path == GLOBAL || file.path.ends_with("/state.vscdb-wal")).collect())
}

impl Ide {
    /// Opens the database of all windows; none when there is none.
    pub(crate) fn open(host: &Host) -> Result<Option<Self>, DriverError> {
        let files = files(host)?;
        if files.iter().all(|file| file.path != GLOBAL) {
            return Ok(None);
        }
        let database: Rc<dyn Database> = match host.database(IDE, GLOBAL) {
            Ok(database) => database.into(),
            Err(error) if error.code == ErrorCode::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let modified_ns = files.iter().map(|file| file.modified_ns).max().unwrap_or_default();
        let mut ide = Self { database, tables: Vec::new(), columns: Vec::new(), modified_ns };
        ide.tables = ide.names("SELECT name FROM sqlite_schema WHERE type = 'table'")?;
        if ide.has("composerHeaders") {
            ide.columns = ide.names("SELECT name FROM pragma_table_info('composerHeaders')")?;
        }
        Ok(Some(ide))
    }

    pub(crate) fn rows(&self, sql: &str, parameters: &[SqlValue]) -> Result<Vec<Vec<SqlValue>>, DriverError> {
        (*self.database).rows(sql, parameters)
    }

    fn names(&self, sql: &str) -> Result<Vec<String>, DriverError> {
        Ok(self.rows(sql, &[])?.into_iter().filter_map(|row| row.into_iter().next().map(text)).collect())
    }

    pub(crate) fn has(&self, table: &str) -> bool {
        self.tables.iter().any(|name| name == table)
    }

    /// A warning when the database has tables, and none that composers are known to be kept in.
    pub(crate) fn unknown_layout(&self) -> Option<Warning> {
        if self.tables.is_empty() || self.has("cursorDiskKV") || self.has("composerHeaders") {
            return None;
        }
        let strange: Vec<&str> =
            self.tables.iter().map(String::as_str).filter(|name| *name != "ItemTable").take(5).collect();
        if strange.is_empty() {
            return None;
        }
        let message = format!(
            "`{GLOBAL}` has no table that composers are known to be kept in, but `{}`: its layout is not known to this driver, so its sessions are missing",
            strange.join("`, `")
        );
        Some(Warning::new("unknown-layout", message).in_file(GLOBAL))
    }

    /// All composers that may be sessions, by id.
    pub(crate) fn composers(&self) -> Result<BTreeMap<String, Head>, DriverError> {
        let mut heads: BTreeMap<String, Head> = BTreeMap::new();
        if self.has("cursorDiskKV") {
            let sql = "SELECT substr(key, 14), rowid, octet_length(value) FROM cursorDiskKV \
                       WHERE key >= 'composerData:' AND key < 'composerData;'";
            for row in self.rows(sql, &[])? {
                let Ok([id, rowid, bytes]) = <[SqlValue; 3]>::try_from(row) else { continue };
                let (SqlValue::Integer(rowid), SqlValue::Integer(bytes)) = (rowid, bytes) else { continue };
                let head = heads.entry(text(id)).or_default();
                head.bytes = u64::try_from(bytes).unwrap_or_default();
                head.stamp = format!("{rowid}:{bytes}");
            }
        }
        if self.columns.iter().any(|name| name == "composerId") && self.columns.iter().any(|name| name == "value") {
            let dates = ["lastUpdatedAt", "recency", "createdAt"].map(|name| self.column(name));
            let sql = format!("SELECT composerId, value, {} FROM composerHeaders", dates.join(", "));
            for row in self.rows(&sql, &[])? {
                let mut values = row.into_iter();
                let (Some(id), Some(value)) = (values.next(), values.next()) else { continue };
                let id = text(id);
                let value = bytes_of(value);
                let head = heads.entry(id).or_default();
                head.updated_ms = newest(values);
                head.stamp = format!("{}+{:x}:{}", head.stamp, fnv(&value), head.updated_ms);
            }
        }
        heads.retain(|id, _| id != EMPTY_DRAFT && crate::places::plausible(id));
        Ok(heads)
    }

    fn column(&self, name: &str) -> String {
        if self.columns.iter().any(|known| known == name) { name.to_owned() } else { "NULL".to_owned() }
    }

    /// What the list of headers says of a composer.
    pub(crate) fn header(&self, id: &str) -> Result<Option<Header>, DriverError> {
        if !self.columns.iter().any(|name| name == "composerId") || !self.columns.iter().any(|name| name == "value") {
            return Ok(None);
        }
        let columns = ["isArchived", "isSubagent", "lastUpdatedAt", "recency", "createdAt"];
        let columns = columns.map(|name| self.column(name)).join(", ");
        let sql = format!("SELECT value, {columns} FROM composerHeaders WHERE composerId = ?");
        let row = self.rows(&sql, &[SqlValue::Text(id.to_owned())])?.into_iter().next();
        let mut values = row.unwrap_or_default().into_iter();
        let (Some(value), Some(archived), Some(subagent)) = (values.next(), values.next(), values.next()) else {
            return Ok(None);
        };
        let set = |value: SqlValue| matches!(value, SqlValue::Integer(1));
        let (archived, subagent) = (set(archived), set(subagent));
        Ok(Some(Header { value: text(value), archived, subagent, updated_ms: newest(values) }))
    }

    /// Members of a composer's document, as one JSON object; the large ones that nobody asks for
    /// stay in the database. None when there is no document, an error when it can't be read.
    pub(crate) fn document(&self, id: &str) -> Result<Option<Result<String, Warning>>, DriverError> {
        if !self.has("cursorDiskKV") {
            return Ok(None);
        }
        let members: Vec<String> = MEMBERS.iter().map(|name| format!("'{name}', doc -> '$.{name}'")).collect();
        let sql = format!(
            "WITH kept AS (SELECT octet_length(value) AS bytes, CASE WHEN octet_length(value) <= {LONGEST} \
             THEN CAST(value AS TEXT) END AS doc FROM cursorDiskKV WHERE key = 'composerData:' || ?) \
             SELECT bytes, CASE WHEN json_valid(doc) THEN CASE WHEN json_type(doc) = 'object' THEN json_object({}) END END FROM kept",
            members.join(", ")
        );
        let row = self.rows(&sql, &[SqlValue::Text(id.to_owned())])?.into_iter().next();
        let Some(Ok([bytes, doc])) = row.map(<[SqlValue; 2]>::try_from) else { return Ok(None) };
        let length = match bytes {
            SqlValue::Integer(bytes) => u64::try_from(bytes).unwrap_or_default(),
            // A row whose value was taken away.
            _ => return Ok(None),
        };
        Ok(Some(match doc {
            SqlValue::Null => {
                let message = format!(
                    "the document of composer {id} in `{GLOBAL}`, {length} bytes, is no JSON object or too long, so only its bubbles are shown"
                );
                Err(Warning::new("unreadable-record", message).in_file(GLOBAL).passing_over(length))
            }
            doc => Ok(text(doc)),
        }))
    }

    /// Ids of the bubbles that are kept under a composer, in the order in which they were made.
    pub(crate) fn bubbles_kept(&self, id: &str) -> Result<Vec<String>, DriverError> {
        if !self.has("cursorDiskKV") {
            return Ok(Vec::new());
        }
        let sql = "SELECT substr(key, length(?) + 11) FROM cursorDiskKV \
                   WHERE key >= 'bubbleId:' || ? || ':' AND key < 'bubbleId:' || ? || ';' \
                   ORDER BY CASE WHEN json_valid(CAST(value AS TEXT)) THEN json_extract(CAST(value AS TEXT), '$.createdAt') END, rowid";
        let id = SqlValue::Text(id.to_owned());
        Ok(self
            .rows(sql, &[id.clone(), id.clone(), id])?
            .into_iter()
            .filter_map(|row| row.into_iter().next().map(text))
            .collect())
    }

    /// An object of a composer's header or document.
    pub(crate) fn folder_of(identifier: &Object<'_>) -> Option<String> {
        let uri = identifier.object("uri")?;
        let remote = uri.text("scheme").is_some_and(|scheme| scheme != "file");
        let external = || uri.filled("external").and_then(|uri| crate::uri::path(&uri));
        if remote { external() } else { uri.filled("fsPath").or_else(|| uri.filled("path")).or_else(external) }
    }
}

/// A digest for stamps: FNV-1a, 64 bits.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}
