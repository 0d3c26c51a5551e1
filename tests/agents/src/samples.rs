//! The sample stores of the agents, and where each agent keeps its store in a home directory.

use crate::Failed;
use crate::machine::Machine;
use std::path::Path;

/// A store with sessions of one agent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    /// The agent.
    pub(crate) agent: &'static str,
    /// What tells it from others of the agent.
    pub(crate) name: &'static str,
    /// Folders in `tests/data`, and the places that they have in a home directory.
    folders: &'static [(&'static str, &'static str)],
}

const CLINE: &str = ".cline/data";
const DEVIN: &str = ".local/share/devin/cli";

/// All stores whose sessions are whole enough to be resumed.
pub(crate) const SAMPLES: &[Sample] = &[
    Sample { agent: "claude", name: "store", folders: &[("claude/store", ".claude")] },
    Sample { agent: "cline", name: "store", folders: &[("cline/store", CLINE)] },
    Sample { agent: "cline", name: "hub", folders: &[("cline/hub", CLINE)] },
    Sample { agent: "cline", name: "compacted", folders: &[("cline/compacted", CLINE)] },
    Sample { agent: "cline", name: "file-mention", folders: &[("cline/file-mention", CLINE)] },
    Sample {
        agent: "cursor",
        name: "home",
        folders: &[("cursor/home/.cursor", ".cursor"), ("cursor/home/.config/Cursor/User", ".config/Cursor/User")],
    },
    Sample { agent: "devin", name: "basic", folders: &[("devin/basic/cli", DEVIN)] },
    Sample { agent: "devin", name: "tools", folders: &[("devin/tools/cli", DEVIN)] },
    Sample { agent: "devin", name: "branches", folders: &[("devin/branches/cli", DEVIN)] },
    Sample { agent: "devin", name: "subagent", folders: &[("devin/subagent/cli", DEVIN)] },
    Sample { agent: "devin", name: "compaction", folders: &[("devin/compaction/cli", DEVIN)] },
];

impl Sample {
    /// Puts a copy of it into the home directory of a machine.
    pub(crate) fn put(&self, data: &Path, machine: &Machine) -> Result<(), Failed> {
        self.folders.iter().try_for_each(|(folder, place)| machine.take(&data.join(folder), place))
    }
}
