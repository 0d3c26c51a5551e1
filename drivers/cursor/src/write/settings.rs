//! The row of settings of a chat that is there already. It is changed inside the database: a key that
//! the agent encrypts with may stand in it, and never leaves it.

use sepia_ir::{DriverError, ErrorCode, SqlValue};
use sepia_sdk::WritableDatabase;

/// Sets members of the row, given as their names and values; it keeps the form that it is in, mostly
/// hexadecimal text of JSON.
pub(crate) fn set(database: &dyn WritableDatabase, members: &[(&str, SqlValue)]) -> Result<(), DriverError> {
    let paths: Vec<String> = members.iter().map(|(name, _)| format!(", '$.{name}', ?")).collect();
    let paths = paths.concat();
    let values: Vec<SqlValue> = members.iter().map(|(_, value)| value.clone()).collect();
    let hexadecimal = format!(
        "UPDATE meta SET value = lower(hex(json_set(CAST(unhex(value) AS TEXT){paths}))) \
         WHERE key = '0' AND json_valid(CAST(unhex(value) AS TEXT))"
    );
    if database.execute(&hexadecimal, &values)? == 1 {
        return Ok(());
    }
    let plain = format!(
        "UPDATE meta SET value = json_set(CAST(value AS TEXT){paths}) WHERE key = '0' AND json_valid(CAST(value AS TEXT))"
    );
    if database.execute(&plain, &values)? == 1 {
        return Ok(());
    }
    Err(DriverError::new(
        ErrorCode::Conflict,
        "the settings of the chat are missing or no JSON, so it was left as it is",
    ))
}
