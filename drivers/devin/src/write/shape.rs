//! Tables as a write has to fill them. Columns came with the versions of the agent, and other
//! tools made the same tables with other rules, so each column is filled as the database at hand
//! wants it.

use crate::value::Columns;
use sepia_ir::{DriverError, ErrorCode, SqlValue};
use sepia_sdk::{Database, WritableDatabase};
use std::collections::BTreeMap;

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Column {
    name: String,
    /// The declared type is one of numbers.
    is_number: bool,
    /// Nothing may not stand in it.
    filled: bool,
    /// It fills itself: it has a default, or counts up.
    own: bool,
}

/// All tables of a database.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shape {
    tables: BTreeMap<String, Vec<Column>>,
}

impl Shape {
    pub(crate) fn probe(database: &dyn Database) -> Result<Self, DriverError> {
        let sql = "SELECT t.name, c.name, c.type, c.\"notnull\", c.dflt_value IS NOT NULL, c.pk \
                   FROM sqlite_schema t, pragma_table_info(t.name) c \
                   WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND t.sql NOT LIKE 'CREATE VIRTUAL%'";
        let mut shape = Self::default();
        for row in database.rows(sql, &[])? {
            let mut row = Columns::of(row);
            let (Some(table), Some(name)) = (row.text(), row.text()) else { continue };
            let kind = row.text().unwrap_or_default().to_ascii_uppercase();
            let (filled, has_default, is_key) = (row.flag(), row.flag(), row.flag());
            let is_number = ["INT", "REAL", "NUM", "DOUB", "FLOA"].iter().any(|name| kind.contains(name));
            let own = has_default || is_key && kind == "INTEGER";
            shape.tables.entry(table).or_default().push(Column { name, is_number, filled, own });
        }
        Ok(shape)
    }

    /// Whether a table has these columns, all of them.
    pub(crate) fn has(&self, table: &str, columns: &[&str]) -> bool {
        let of_table = self.tables.get(table).map_or(&[][..], Vec::as_slice);
        columns.iter().all(|wanted| of_table.iter().any(|column| column.name == *wanted))
    }

    /// Whether nothing may not stand in a column.
    pub(crate) fn is_filled(&self, table: &str, column: &str) -> bool {
        self.tables.get(table).into_iter().flatten().any(|known| known.name == column && known.filled)
    }

    /// Tables whose rows belong to a session, with the column that names it; that of the sessions
    /// is the last. A later version may have more of them than are known today.
    pub(crate) fn of_session(&self) -> Vec<(&str, &'static str)> {
        let belongs = |table: &&String| table.as_str() != "sessions" && self.has(table, &["session_id"]);
        let mut tables: Vec<(&str, &'static str)> =
            self.tables.keys().filter(belongs).map(|table| (table.as_str(), "session_id")).collect();
        tables.push(("sessions", "id"));
        tables
    }

    /// Names of a table's columns, in the order of the table.
    pub(crate) fn columns(&self, table: &str) -> Vec<&str> {
        self.tables.get(table).into_iter().flatten().map(|column| column.name.as_str()).collect()
    }

    /// How rows with values of these names get into a table; none when there is no such table. A name
    /// without a column is left out; a column that wants something and has no name here is nothing
    /// that can be made up.
    pub(crate) fn filling(&self, table: &str, names: &[&str]) -> Result<Option<Filling>, DriverError> {
        let Some(columns) = self.tables.get(table) else { return Ok(None) };
        let mut places = Vec::new();
        let mut listed = Vec::new();
        for column in columns {
            if let Some(at) = names.iter().position(|name| *name == column.name) {
                let stead = column
                    .filled
                    .then(|| if column.is_number { SqlValue::Integer(0) } else { SqlValue::Text(String::new()) });
                listed.push(quoted(&column.name));
                places.push((at, stead));
            } else if column.filled && !column.own {
                let message = format!(
                    "this version of the agent keeps `{}` in table `{table}`, which this driver does not know how to \
                     fill; nothing was written",
                    column.name
                );
                return Err(DriverError::new(ErrorCode::Unsupported, message));
            }
        }
        let marks = vec!["?"; listed.len()].join(", ");
        let sql = format!("INSERT INTO {} ({}) VALUES ({marks})", quoted(table), listed.join(", "));
        Ok(Some(Filling { sql, places }))
    }
}

/// How rows get into a table.
#[derive(Debug)]
pub(crate) struct Filling {
    sql: String,
    /// For each column which value, and what stands there instead of nothing.
    places: Vec<(usize, Option<SqlValue>)>,
}

impl Filling {
    /// Puts a row into the table; its values in the order of the names.
    pub(crate) fn insert(&self, database: &dyn WritableDatabase, mut values: Vec<SqlValue>) -> Result<(), DriverError> {
        let row: Vec<SqlValue> = self
            .places
            .iter()
            .map(|(at, stead)| {
                let value =
                    values.get_mut(*at).map_or(SqlValue::Null, |value| std::mem::replace(value, SqlValue::Null));
                match (&value, stead) {
                    (SqlValue::Null, Some(stead)) => stead.clone(),
                    _ => value,
                }
            })
            .collect();
        database.execute(&self.sql, &row).map(drop)
    }
}

/// A name as it stands in a statement.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
