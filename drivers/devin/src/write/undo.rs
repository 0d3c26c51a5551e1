//! What brings deleted rows back: the rows themselves, as JSON.

use crate::place::Source;
use sepia_ir::{DriverError, ErrorCode, SqlValue};
use serde::{Deserialize, Serialize};

/// Rows of a table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rows {
    pub(crate) table: String,
    pub(crate) columns: Vec<String>,
    pub(crate) values: Vec<Vec<SqlValue>>,
}

/// The rows of a session that was deleted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Deleted {
    pub(crate) source: Source,
    pub(crate) id: String,
    pub(crate) tables: Vec<Rows>,
}

/// How it is kept.
#[derive(Serialize, Deserialize)]
struct Kept {
    version: u32,
    sessions: Vec<KeptSession>,
}

#[derive(Serialize, Deserialize)]
struct KeptSession {
    database: String,
    id: String,
    tables: Vec<KeptRows>,
}

#[derive(Serialize, Deserialize)]
struct KeptRows {
    table: String,
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
}

/// A value. JSON has neither bytes nor every number.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Value {
    Null(()),
    Integer(i64),
    Text(String),
    Real { bits: u64 },
    Blob { bytes: Vec<u8> },
}

impl From<SqlValue> for Value {
    fn from(value: SqlValue) -> Self {
        match value {
            SqlValue::Null => Self::Null(()),
            SqlValue::Integer(number) => Self::Integer(number),
            SqlValue::Real(number) => Self::Real { bits: number.to_bits() },
            SqlValue::Text(text) => Self::Text(text),
            SqlValue::Blob(bytes) => Self::Blob { bytes },
        }
    }
}

impl From<Value> for SqlValue {
    fn from(value: Value) -> Self {
        match value {
            Value::Null(()) => Self::Null,
            Value::Integer(number) => Self::Integer(number),
            Value::Real { bits } => Self::Real(f64::from_bits(bits)),
            Value::Text(text) => Self::Text(text),
            Value::Blob { bytes } => Self::Blob(bytes),
        }
    }
}

/// Version of the form.
const VERSION: u32 = 1;

/// The bytes that [`read`] reads.
pub(crate) fn bytes(deleted: Vec<Deleted>) -> Vec<u8> {
    if deleted.is_empty() {
        return Vec::new();
    }
    let rows = |rows: Rows| KeptRows {
        table: rows.table,
        columns: rows.columns,
        rows: rows.values.into_iter().map(|row| row.into_iter().map(Value::from).collect()).collect(),
    };
    let session = |deleted: Deleted| KeptSession {
        database: deleted.source.file().to_owned(),
        id: deleted.id,
        tables: deleted.tables.into_iter().map(rows).collect(),
    };
    let kept = Kept { version: VERSION, sessions: deleted.into_iter().map(session).collect() };
    // Plain members with text keys always have a JSON form.
    serde_json::to_vec(&kept).unwrap_or_default()
}

/// What was deleted; nothing of no bytes.
pub(crate) fn read(bytes: &[u8]) -> Result<Vec<Deleted>, DriverError> {
    if bytes.is_empty() {
        return Ok(Vec::new());
    }
    let odd =
        |what: String| DriverError::new(ErrorCode::Invalid, format!("the deleted rows can't be brought back: {what}"));
    let kept: Kept = serde_json::from_slice(bytes).map_err(|e| odd(format!("they are not as they were kept ({e})")))?;
    if kept.version != VERSION {
        return Err(odd(format!("they were kept by another version of this driver (form {})", kept.version)));
    }
    let mut deleted = Vec::new();
    for session in kept.sessions {
        let source = Source::DATABASES.into_iter().find(|source| source.file() == session.database);
        let source = source.ok_or_else(|| odd(format!("there is no database `{}`", session.database)))?;
        let rows = |kept: KeptRows| Rows {
            table: kept.table,
            columns: kept.columns,
            values: kept.rows.into_iter().map(|row| row.into_iter().map(SqlValue::from).collect()).collect(),
        };
        deleted.push(Deleted { source, id: session.id, tables: session.tables.into_iter().map(rows).collect() });
    }
    Ok(deleted)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
    use super::{Deleted, Rows, bytes, read};
    use crate::place::Source;
    use sepia_ir::{ErrorCode, SqlValue};

    #[test]
    fn every_value_comes_back_as_it_was() {
        let row = vec![
            SqlValue::Null,
            SqlValue::Integer(i64::MIN),
            SqlValue::Real(0.1 + 0.2),
            SqlValue::Real(f64::INFINITY),
            SqlValue::Text("a\0\"é".to_owned()),
            SqlValue::Blob(vec![0, 255]),
        ];
        let rows = Rows { table: "t".into(), columns: vec!["c".into(); row.len()], values: vec![row] };
        let deleted = vec![Deleted { source: Source::Legacy, id: "a".into(), tables: vec![rows] }];
        assert_eq!(read(&bytes(deleted.clone())).unwrap(), deleted);
        assert_eq!((bytes(Vec::new()), read(b"").unwrap()), (Vec::new(), Vec::new()));
    }

    #[test]
    fn what_was_not_kept_here_is_refused() {
        for text in [
            "{}",
            "not json",
            r#"{"version":2,"sessions":[]}"#,
            r#"{"version":1,"sessions":[{"database":"x","id":"a","tables":[]}]}"#,
        ] {
            assert_eq!(read(text.as_bytes()).unwrap_err().code, ErrorCode::Invalid, "{text}");
        }
    }
}
