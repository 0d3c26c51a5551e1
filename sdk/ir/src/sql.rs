//! Values and columns of a database.

use serde::{Deserialize, Serialize};
#[cfg(feature = "component")]
use wasmtime::component::{ComponentType, Lift, Lower};

/// Sql value.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(variant))]
pub enum SqlValue {
    /// Null.
    #[cfg_attr(feature = "component", component(name = "null"))]
    Null,
    /// Integer.
    #[cfg_attr(feature = "component", component(name = "integer"))]
    Integer(i64),
    /// Real.
    #[cfg_attr(feature = "component", component(name = "real"))]
    Real(f64),
    /// Text.
    #[cfg_attr(feature = "component", component(name = "text"))]
    Text(String),
    /// Blob.
    #[cfg_attr(feature = "component", component(name = "blob"))]
    Blob(Vec<u8>),
}

/// Sql column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct SqlColumn {
    /// Name.
    pub name: String,
    /// Declared type.
    #[cfg_attr(feature = "component", component(name = "declared-type"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared_type: Option<String>,
}
