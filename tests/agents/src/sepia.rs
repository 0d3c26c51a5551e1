//! The program whose work is proven, run on a machine.

use crate::Failed;
use crate::machine::Machine;
use crate::process_group::Group;
use sepia_ir::{Loss, Session};
use serde::Deserialize;
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// No sample takes a second; on a machine that does much else the first start of a driver may.
const LIMIT: Duration = Duration::from_secs(180);
/// A listing may take as long, in milliseconds: one that was given up would hide sessions.
pub(crate) const LISTING: &str = "180000";

/// The built program.
#[derive(Debug)]
pub(crate) struct Sepia {
    pub(crate) program: PathBuf,
}

/// What `sepia convert --json` prints.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Converted {
    /// The new session.
    pub(crate) session_id: String,
    /// How it is resumed.
    pub(crate) resume: Resume,
    /// What the new session can't hold.
    pub(crate) losses: Vec<Loss>,
}

/// A command, and where it has to be run.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Resume {
    pub(crate) command: Vec<String>,
    pub(crate) working_directory: String,
}

impl Sepia {
    /// Fails when the program can't convert at all.
    pub(crate) fn can_convert(&self, machine: &Machine) -> Result<(), Failed> {
        match self.run(machine, &["convert", "--help"]) {
            Ok(_) => Ok(()),
            Err(e) => Err(format!("this `sepia` has no `convert`, so there is nothing to prove: {e}").into()),
        }
    }

    /// Ids of all sessions of an agent, those that another spawned and hidden ones too.
    pub(crate) fn sessions(&self, machine: &Machine, agent: &str) -> Result<Vec<String>, Failed> {
        let printed = self.run(machine, &["list", "--agent", agent, "--subagents", "--hidden", "--json"])?;
        let rows: Value = serde_json::from_str(&printed)?;
        let rows = rows.as_array().ok_or("`sepia list --json` printed no list")?;
        let (warnings, sessions): (Vec<&Value>, Vec<&Value>) = rows.iter().partition(|row| row["source"] == "warning");
        let mut ids: Vec<String> = sessions.iter().filter_map(|row| Some(row["id"].as_str()?.to_owned())).collect();
        if ids.is_empty() {
            let told: Vec<&str> = warnings.iter().filter_map(|row| row["title"].as_str()).collect();
            return Err(format!("`sepia list` shows no session of {agent}: {}", told.join("; ")).into());
        }
        ids.sort_unstable();
        Ok(ids)
    }

    /// A session as it is.
    pub(crate) fn session(&self, machine: &Machine, agent: &str, id: &str) -> Result<Session, Failed> {
        #[derive(Deserialize)]
        struct Bundle {
            session: Session,
        }
        let printed = self.run(machine, &["export", id, "--agent", agent, "--verbatim"])?;
        Ok(serde_json::from_str::<Bundle>(&printed)?.session)
    }

    /// Converts a session. One that does not say where it works gets the directory of the machine.
    pub(crate) fn convert(
        &self,
        machine: &Machine,
        agent: &str,
        session: &Session,
        to: &str,
    ) -> Result<Converted, Failed> {
        let cwd = machine.cwd().to_string_lossy();
        let mut arguments = vec!["convert", &session.id, "--agent", agent, "--to", to, "--json"];
        if session.working_directory.is_empty() {
            arguments.extend(["--cwd", &*cwd]);
        }
        let printed = self.run(machine, &arguments)?;
        serde_json::from_str(&printed).map_err(|e| format!("`sepia convert --json` printed something else: {e}").into())
    }

    fn run(&self, machine: &Machine, arguments: &[&str]) -> Result<String, Failed> {
        let mut command = Command::new(&self.program);
        machine.confine(&mut command).env("SEPIA_LIST_TIMEOUT_MS", LISTING).args(arguments);
        let ended = Group::run(&mut command, LIMIT)?;
        if ended.status.success() {
            return Ok(ended.stdout);
        }
        Err(format!("`sepia {}`: {}", arguments.join(" "), ended.said()).into())
    }
}
