//! Blobs by their id: of a chat's own database, or of the one that all composers share.

use sepia_ir::{DriverError, SqlValue};
use sepia_sdk::{Database, Query};
use std::rc::Rc;

/// Longer blobs are not read: of a message its two ends tell enough for a note.
pub(crate) const LONGEST: u64 = 64 << 20;
/// Bytes of the start of a longer blob, and of its end.
const EDGE: u32 = 512;

/// Where blobs are.
#[derive(Clone)]
pub(crate) struct Blobs {
    database: Rc<dyn Database>,
    table: Table,
}

#[derive(Debug, Clone, Copy)]
enum Table {
    /// `blobs(id, data)` of a chat.
    OfChat,
    /// Rows `agentKv:blob:<id>` of the IDE's database.
    OfIde,
}

impl std::fmt::Debug for Blobs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Blobs").field(&self.table).finish()
    }
}

/// A blob that was asked for.
#[derive(Debug)]
pub(crate) enum Blob {
    Missing,
    Read(Vec<u8>),
    /// Its start and its end, and its length.
    TooLong(Vec<u8>, u64),
}

impl Blobs {
    pub(crate) fn of_chat(database: Rc<dyn Database>) -> Self {
        Self { database, table: Table::OfChat }
    }

    pub(crate) fn of_ide(database: Rc<dyn Database>) -> Self {
        Self { database, table: Table::OfIde }
    }

    /// Where they are.
    pub(crate) fn database(&self) -> Rc<dyn Database> {
        Rc::clone(&self.database)
    }

    /// The messages of a chat of these ids, in their order, each with what rides along in the row
    /// of settings of this name and its number.
    pub(crate) fn with_carried(
        &self,
        ids: &[String],
        saved: &[Option<u32>],
        rows: &str,
    ) -> Result<BlobStream, DriverError> {
        let sql = format!(
            "SELECT octet_length(b.data), CASE WHEN octet_length(b.data) <= {LONGEST} THEN b.data \
             ELSE substr(CAST(b.data AS BLOB), 1, {EDGE}) || substr(CAST(b.data AS BLOB), -{EDGE}) END, \
             CASE WHEN octet_length(m.value) <= {LONGEST} THEN CAST(m.value AS TEXT) END \
             FROM json_each(?) AS wanted LEFT JOIN blobs AS b ON b.id = json_extract(wanted.value, '$[0]') \
             LEFT JOIN meta AS m ON m.key = ? || json_extract(wanted.value, '$[1]')"
        );
        let wanted: Vec<(&String, Option<u32>)> = ids.iter().zip(saved.iter().copied()).collect();
        let list = serde_json::to_string(&wanted).unwrap_or_else(|_| "[]".to_owned());
        Ok(BlobStream(self.database.query(&sql, &[SqlValue::Text(list), SqlValue::Text(rows.to_owned())])?))
    }

    /// The blobs of these ids, in their order.
    pub(crate) fn stream(&self, ids: &[String]) -> Result<BlobStream, DriverError> {
        // The left side of a left join is the outer loop, so rows come in the order of the list.
        let joined = match self.table {
            Table::OfChat => "FROM json_each(?) AS wanted LEFT JOIN blobs AS b ON b.id = wanted.value",
            Table::OfIde => {
                "FROM json_each(?) AS wanted LEFT JOIN cursorDiskKV AS b ON b.key = 'agentKv:blob:' || wanted.value"
            }
        };
        let column = match self.table {
            Table::OfChat => "data",
            Table::OfIde => "value",
        };
        let sql = format!(
            "SELECT octet_length(b.{column}), \
             CASE WHEN octet_length(b.{column}) <= {LONGEST} THEN b.{column} \
             ELSE substr(CAST(b.{column} AS BLOB), 1, {EDGE}) || substr(CAST(b.{column} AS BLOB), -{EDGE}) END {joined}"
        );
        let list = serde_json::to_string(ids).unwrap_or_else(|_| "[]".to_owned());
        Ok(BlobStream(self.database.query(&sql, &[SqlValue::Text(list)])?))
    }

    /// All of a few blobs.
    pub(crate) fn all(&self, ids: &[String]) -> Result<Vec<Blob>, DriverError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let (mut stream, mut blobs) = (self.stream(ids)?, Vec::with_capacity(ids.len()));
        loop {
            let some = stream.next(256)?;
            if some.is_empty() {
                return Ok(blobs);
            }
            blobs.extend(some);
        }
    }

    /// A row of settings of a chat, if it is there and not too long.
    pub(crate) fn setting(&self, key: &str) -> Result<Option<String>, DriverError> {
        let sql = format!("SELECT CAST(value AS TEXT) FROM meta WHERE key = ? AND octet_length(value) <= {LONGEST}");
        let rows = (*self.database).rows(&sql, &[SqlValue::Text(key.to_owned())])?;
        Ok(match rows.into_iter().next().and_then(|row| row.into_iter().next()) {
            Some(SqlValue::Text(text)) => Some(text),
            _ => None,
        })
    }

    /// One blob, if it is there and not too long.
    pub(crate) fn one(&self, id: &str) -> Result<Option<Vec<u8>>, DriverError> {
        Ok(match self.all(&[id.to_owned()])?.pop() {
            Some(Blob::Read(bytes)) => Some(bytes),
            _ => None,
        })
    }
}

/// Blobs that come one after another.
pub(crate) struct BlobStream(Box<dyn Query>);

impl BlobStream {
    /// The next blobs; none at the end.
    pub(crate) fn next(&mut self, max: usize) -> Result<Vec<Blob>, DriverError> {
        Ok(self.0.next(max)?.into_iter().map(|row| blob(&mut row.into_iter())).collect())
    }

    /// The same, each with what rides along.
    pub(crate) fn next_carried(&mut self, max: usize) -> Result<Vec<(Blob, Option<String>)>, DriverError> {
        let pair = |row: Vec<SqlValue>| {
            let mut values = row.into_iter();
            let blob = blob(&mut values);
            // What is missing or too long has one value of the two, or both.
            let carried = values.last().and_then(|value| match value {
                SqlValue::Text(text) => Some(text),
                _ => None,
            });
            (blob, carried)
        };
        Ok(self.0.next(max)?.into_iter().map(pair).collect())
    }
}

fn blob(values: &mut impl Iterator<Item = SqlValue>) -> Blob {
    let Some(SqlValue::Integer(length)) = values.next() else { return Blob::Missing };
    let length = u64::try_from(length).unwrap_or_default();
    let bytes = values.next().map(bytes_of).unwrap_or_default();
    if length > LONGEST { Blob::TooLong(bytes, length) } else { Blob::Read(bytes) }
}

/// A value as bytes, whether it is kept as text or not.
pub(crate) fn bytes_of(value: SqlValue) -> Vec<u8> {
    match value {
        SqlValue::Blob(bytes) => bytes,
        SqlValue::Text(text) => text.into_bytes(),
        SqlValue::Null | SqlValue::Integer(_) | SqlValue::Real(_) => Vec::new(),
    }
}

/// The lower-case hexadecimal form in which blobs are named.
pub(crate) fn hex(id: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut hex = vec![0; 2 * id.len()];
    for (pair, byte) in hex.as_chunks_mut::<2>().0.iter_mut().zip(id) {
        *pair = [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
    }
    // It is digits and nothing else.
    String::from_utf8(hex).unwrap_or_default()
}
