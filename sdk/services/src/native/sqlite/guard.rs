//! What a statement may do, and for how long.

use super::super::store::Deadline;
use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::{Connection, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of one value, and of one row, at most.
const VALUE: i32 = 256 << 20;
/// Steps of SQLite's machine between two looks at the clock, some 0.1 ms.
const STEPS: i32 = 10_000;

/// Pragmas that tell and set nothing.
const TELLING: [&str; 9] = [
    "table_info",
    "table_xinfo",
    "table_list",
    "index_list",
    "index_info",
    "foreign_key_list",
    "user_version",
    "schema_version",
    "data_version",
];

/// Confines a connection to reading, before any statement of a driver runs.
pub(super) fn confine(connection: &mut Connection) -> Result<()> {
    // A database is data: nothing in its schema is trusted to run.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.set_limit(Limit::SQLITE_LIMIT_WORKER_THREADS, 0)?;
    connection.authorizer(Some(allowed))
}

fn allowed(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => Authorization::Allow,
        AuthAction::Function { function_name } if !function_name.eq_ignore_ascii_case("load_extension") => {
            Authorization::Allow
        }
        AuthAction::Pragma { pragma_name, pragma_value } => {
            let tells = TELLING.iter().any(|name| name.eq_ignore_ascii_case(pragma_name));
            // A value names what to tell of, but sets a version.
            let sets = pragma_value.is_some() && pragma_name.to_ascii_lowercase().ends_with("_version");
            if tells && !sets { Authorization::Allow } else { Authorization::Deny }
        }
        _ => Authorization::Deny,
    }
}

/// Has the statements of a connection stop at the deadline, or when told to.
pub(super) fn bound(connection: &mut Connection, deadline: Deadline, stop: Arc<AtomicBool>) -> Result<()> {
    connection.progress_handler(STEPS, Some(move || stop.load(Ordering::Relaxed) || deadline.is_over()))
}
