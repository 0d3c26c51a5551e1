//! Names its sessions with what should not be a name.

use sepia_hostile::{Guest, Misdeed, row};
use sepia_ir::{DriverError, LockState, Summary};
use sepia_sdk::Host;

struct Bad;

impl Misdeed for Bad {
    fn summaries(_host: &Host, keys: &[String]) -> Result<Vec<Summary>, DriverError> {
        let mut sessions: Vec<_> = ids().iter().map(|id| row(id)).collect();
        let mut child = row("child");
        child.agent_id = Some("\u{202e}drawkcab".into());
        sessions.push(child);
        let summary = |key: &String| Summary { key: key.clone(), sessions: sessions.clone(), warnings: vec![] };
        Ok(keys.iter().map(summary).collect())
    }

    fn summary_of(_host: &Host, _order: &str) -> Result<sepia_ir::Session, DriverError> {
        Ok(row("a\0b"))
    }

    fn locks(_host: &Host) -> Result<Vec<LockState>, DriverError> {
        Ok(ids().into_iter().map(|id| LockState { id, holder_pid: Some(1) }).collect())
    }
}

/// The first two are odd and allowed: an id is looked up, never joined into a path.
fn ids() -> Vec<String> {
    let odd = ["../../x", "other-driver:1", "", "a\0b", "\u{202e}fdp.exe", "line\nfeed", "\x1b[2J"];
    odd.into_iter().map(str::to_owned).chain(["x".repeat(1 << 20)]).collect()
}

sepia_sdk::export_driver!(Guest<Bad>);
