//! Values of columns. SQLite keeps any type in any column, so nothing is taken for granted.

use sepia_ir::SqlValue;
use std::borrow::Cow;

/// One row, taken apart column by column, from the left.
pub(crate) struct Columns(std::vec::IntoIter<SqlValue>);

impl Columns {
    pub(crate) fn of(row: Vec<SqlValue>) -> Self {
        Self(row.into_iter())
    }

    fn value(&mut self) -> SqlValue {
        self.0.next().unwrap_or(SqlValue::Null)
    }

    /// Text, if the column holds text; a number reads as its digits.
    pub(crate) fn text(&mut self) -> Option<String> {
        match self.value() {
            SqlValue::Text(text) => Some(text),
            SqlValue::Integer(number) => Some(number.to_string()),
            SqlValue::Real(number) => Some(number.to_string()),
            SqlValue::Blob(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
            SqlValue::Null => None,
        }
    }

    /// A whole number.
    pub(crate) fn whole(&mut self) -> Option<i64> {
        whole(&self.value())
    }

    /// A finite number.
    #[expect(clippy::cast_precision_loss, reason = "times far below 2^53")]
    pub(crate) fn number(&mut self) -> Option<f64> {
        match self.value() {
            SqlValue::Integer(number) => Some(number as f64),
            SqlValue::Real(number) => Some(number).filter(|number| number.is_finite()),
            SqlValue::Text(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
            SqlValue::Null | SqlValue::Blob(_) => None,
        }
    }

    /// A flag kept as a number.
    pub(crate) fn flag(&mut self) -> bool {
        self.number().is_some_and(|number| number != 0.0)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "checked")]
fn whole(value: &SqlValue) -> Option<i64> {
    match value {
        SqlValue::Integer(number) => Some(*number),
        SqlValue::Real(number) if number.fract() == 0.0 && number.abs() < 9e15 => Some(*number as i64),
        SqlValue::Text(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// A list of values as one parameter, for `IN (SELECT value FROM json_each(?))`.
pub(crate) fn list<T: serde::Serialize>(values: &[T]) -> SqlValue {
    // Texts and numbers always have a JSON form.
    SqlValue::Text(serde_json::to_string(values).unwrap_or_else(|_| "[]".to_owned()))
}

/// A text as a parameter.
pub(crate) fn text(value: &str) -> SqlValue {
    SqlValue::Text(value.to_owned())
}

/// Bytes that stand for a value in a stamp.
pub(crate) fn bytes(value: &SqlValue) -> Cow<'_, [u8]> {
    match value {
        SqlValue::Null => Cow::Borrowed(b"\0n"),
        SqlValue::Integer(number) => Cow::Owned(number.to_le_bytes().to_vec()),
        SqlValue::Real(number) => Cow::Owned(number.to_bits().to_le_bytes().to_vec()),
        SqlValue::Text(text) => Cow::Borrowed(text.as_bytes()),
        SqlValue::Blob(bytes) => Cow::Borrowed(bytes),
    }
}
