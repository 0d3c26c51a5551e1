//! The agents' own programs, in the versions that the facts were gathered on: installed from
//! the npm registry, once, into a folder that is kept.

use crate::{Failed, say};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A program of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Program {
    /// Claude Code.
    ClaudeCode,
    /// Claude Code behind the Agent Client Protocol, with a Claude Code of its own inside.
    ClaudeAgentAcp,
    /// Cline's command line.
    Cline,
}

impl Program {
    /// How it is called in what is printed.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::ClaudeAgentAcp => "claude-agent-acp",
            Self::Cline => "Cline",
        }
    }

    fn package(self) -> &'static str {
        match self {
            Self::ClaudeCode => "@anthropic-ai/claude-code",
            Self::ClaudeAgentAcp => "@agentclientprotocol/claude-agent-acp",
            Self::Cline => "cline",
        }
    }

    fn version(self) -> &'static str {
        match self {
            Self::ClaudeCode => "2.1.197",
            Self::ClaudeAgentAcp => "0.49.0",
            Self::Cline => "3.0.65",
        }
    }

    /// The script in the package that starts it. Both native programs come in packages for one
    /// platform each, among which these scripts choose; what would copy the right one into its
    /// place is an installation script, and none is run here.
    fn script(self) -> &'static str {
        match self {
            Self::ClaudeCode => "cli-wrapper.cjs",
            Self::ClaudeAgentAcp => "dist/index.js",
            Self::Cline => "bin/cline",
        }
    }
}

/// Where programs are installed.
#[derive(Debug)]
pub(crate) struct Programs {
    folder: PathBuf,
}

impl Programs {
    /// A folder that may have programs already. Fails when there is no node to run them.
    pub(crate) fn in_folder(folder: &Path) -> Result<Self, Failed> {
        for tool in ["node", "npm"] {
            let found = Command::new(tool).arg("--version").stdin(Stdio::null()).output();
            if !found.is_ok_and(|output| output.status.success()) {
                return Err(format!("`{tool}` can't be run, and the agents' programs need it: install Node.js").into());
            }
        }
        fs::create_dir_all(folder).map_err(|e| format!("{} can't be made: {e}", folder.display()))?;
        Ok(Self { folder: folder.canonicalize()? })
    }

    /// A command that starts the program, which is installed when it is not there.
    pub(crate) fn command(&self, program: Program) -> Result<Command, Failed> {
        let home = self.installed(program)?;
        let mut command = Command::new("node");
        command.arg(module(&home, program).join(program.script()));
        Ok(command)
    }

    fn installed(&self, program: Program) -> Result<PathBuf, Failed> {
        let name = format!("{}-{}", program.package().replace(['/', '@'], "_"), program.version());
        let home = self.folder.join(&name);
        if is_whole(&home, program) {
            return Ok(home);
        }
        let wanted = format!("{}@{}", program.package(), program.version());
        say(&format!("Installing {wanted} into {} (once; needs the network)", self.folder.display()));
        // Under a name of its own until it is whole: half an installation is never run.
        let fresh = tempfile::Builder::new().prefix(&name).tempdir_in(&self.folder)?;
        let output = Command::new("npm")
            .args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"])
            .arg(fresh.path())
            .arg(&wanted)
            .current_dir(fresh.path())
            .stdin(Stdio::null())
            .output()
            .map_err(|e| format!("npm can't be run: {e}"))?;
        if !output.status.success() || !is_whole(fresh.path(), program) {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(
                format!("npm did not install {wanted}: check that the npm registry can be reached\n{said}").into()
            );
        }
        let fresh = fresh.keep();
        match fs::rename(&fresh, &home) {
            Ok(()) => Ok(home),
            // Another run was faster; or what is there is no installation, and is not ours to remove.
            Err(_) if is_whole(&home, program) => {
                fs::remove_dir_all(&fresh)?;
                Ok(home)
            }
            Err(e) => Err(format!("{} can't become {}: {e}", fresh.display(), home.display()).into()),
        }
    }
}

fn module(home: &Path, program: Program) -> PathBuf {
    home.join("node_modules").join(program.package())
}

/// Whether the program is there in its version.
fn is_whole(home: &Path, program: Program) -> bool {
    let module = module(home, program);
    let about = fs::read(module.join("package.json")).ok();
    let about: Option<Value> = about.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    about.is_some_and(|about| about["version"] == program.version()) && module.join(program.script()).is_file()
}
