//! What a statement may do, and for how long.
//!
//! | connection | may |
//! |---|---|
//! | that reads | read, and ask what the tables are |
//! | that writes | also insert, update and delete rows |
//! | on a new database, not yet in its place | also make tables, indexes, views and triggers, and set what its file is like |

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

/// Pragmas that say what a new file is like.
const FORMING: [&str; 5] = ["journal_mode", "user_version", "application_id", "page_size", "auto_vacuum"];

/// Confines a connection to reading, before any statement of a driver runs.
pub(super) fn confine(connection: &mut Connection) -> Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    guarded(connection)?;
    connection.authorizer(Some(allowed))
}

/// Confines a connection to reading and changing rows; on a new database also to forming it. While `own` is set it
/// may begin and end transactions: another authorizer for that would have every statement prepared anew.
pub(super) fn confine_writing(connection: &mut Connection, new: bool, own: Arc<AtomicBool>) -> Result<()> {
    guarded(connection)?;
    connection.authorizer(Some(move |context: AuthContext<'_>| {
        if matches!(context.action, AuthAction::Transaction { .. }) && own.load(Ordering::Relaxed) {
            return Authorization::Allow;
        }
        let forms = || new && forms(&context.action);
        if changes_rows(&context.action) || forms() { Authorization::Allow } else { allowed(context) }
    }))
}

fn changes_rows(action: &AuthAction<'_>) -> bool {
    // The schema is a table as well; nobody changes rows of it.
    let own = |table: &str| table.to_ascii_lowercase().starts_with("sqlite_") && table != "sqlite_sequence";
    match action {
        AuthAction::Insert { table_name }
        | AuthAction::Delete { table_name }
        | AuthAction::Update { table_name, .. } => !own(table_name),
        _ => false,
    }
}

fn forms(action: &AuthAction<'_>) -> bool {
    match action {
        AuthAction::CreateTable { .. }
        | AuthAction::CreateIndex { .. }
        | AuthAction::CreateView { .. }
        | AuthAction::CreateTrigger { .. }
        | AuthAction::Reindex { .. } => true,
        // Making a table writes the schema.
        AuthAction::Insert { table_name } | AuthAction::Update { table_name, .. } => *table_name == "sqlite_master",
        AuthAction::Pragma { pragma_name, .. } => FORMING.iter().any(|name| name.eq_ignore_ascii_case(pragma_name)),
        _ => false,
    }
}

fn guarded(connection: &Connection) -> Result<()> {
    // A database is data: nothing in its schema is trusted to run.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.set_limit(Limit::SQLITE_LIMIT_WORKER_THREADS, 0)?;
    Ok(())
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
