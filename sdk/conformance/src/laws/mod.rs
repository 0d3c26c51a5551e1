//! The laws, by theme. Each is a function that says what is wrong, if something is.

pub(crate) mod listing;
pub(crate) mod nodes;
pub(crate) mod paging;
pub(crate) mod session;
pub(crate) mod twin;
pub(crate) mod unknown;

use sepia_ir::{ScanReport, Session, SessionRef, Summary};
use serde::Serialize;
use serde_json::Value;

/// What a law says: nothing, or one sentence about what is wrong.
pub(crate) type Verdict = Result<(), String>;
/// Laws by name.
pub(crate) type Verdicts = Vec<(&'static str, Verdict)>;

/// What the driver lists.
pub(crate) struct Listed {
    pub(crate) scan: ScanReport,
    pub(crate) keys: Vec<String>,
    pub(crate) rows: Vec<Summary>,
    pub(crate) stats: Vec<Summary>,
    /// Epoch seconds.
    pub(crate) now: f64,
}

impl Listed {
    /// Each row with the one that has stats.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&Session, &Session)> {
        let sessions = |(row, stats): (&'_ Summary, &'_ Summary)| -> Vec<(usize, usize)> {
            (0..row.sessions.len().min(stats.sessions.len())).map(|at| (at, at)).collect()
        };
        self.rows.iter().zip(&self.stats).flat_map(move |(row, stats)| {
            sessions((row, stats)).into_iter().map(move |(a, b)| (&row.sessions[a], &stats.sessions[b]))
        })
    }
}

/// What is known of one session before it is opened.
pub(crate) struct Facts<'a> {
    pub(crate) session: SessionRef,
    pub(crate) row: &'a Session,
    pub(crate) stats: &'a Session,
    /// Epoch seconds.
    pub(crate) now: f64,
}

/// Fails with a sentence unless a condition holds.
pub(crate) fn must(holds: bool, otherwise: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(otherwise()) }
}

/// As the wire has it.
pub(crate) fn wire(value: &impl Serialize) -> Result<Value, String> {
    serde_json::to_value(value).map_err(|e| format!("can't be JSON: {e}"))
}

/// Both are the same JSON; says where they differ.
pub(crate) fn same(what: &str, one: &impl Serialize, other: &impl Serialize) -> Verdict {
    let (one, other) = (wire(one)?, wire(other)?);
    match difference(&one, &other, "") {
        None => Ok(()),
        Some(place) => Err(format!("{what} differ at {place}")),
    }
}

fn difference(one: &Value, other: &Value, place: &str) -> Option<String> {
    match (one, other) {
        (Value::Object(a), Value::Object(b)) => {
            let missing = b.keys().find(|key| !a.contains_key(*key));
            if let Some(key) = missing.or_else(|| a.keys().find(|key| !b.contains_key(*key))) {
                return Some(format!("{place}.{key}, which is in one only"));
            }
            a.iter().find_map(|(key, value)| difference(value, &b[key], &format!("{place}.{key}")))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().find_map(|(at, (a, b))| difference(a, b, &format!("{place}[{at}]")))
        }
        (Value::Array(a), Value::Array(b)) => Some(format!("{place}: {} elements and {}", a.len(), b.len())),
        _ if one == other => None,
        _ => Some(format!("{place}: {} and {}", short(one), short(other))),
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() > 80 { text.chars().take(80).chain(['…']).collect() } else { text }
}

/// Names a law after its function.
macro_rules! laws {
    ($($law:ident($($argument:expr),*)),* $(,)?) => {
        vec![$((stringify!($law), $law($($argument),*))),*]
    };
}
pub(crate) use laws;
