//! What a commit that stands for a checkpoint holds, asked of git with nothing of the repository being
//! run: no hooks, no filters, no monitor, no pager.

use super::Content;
use crate::plane::{ErrorKind, PlaneError};
use crate::text::clean_line;
use std::path::Path;
use std::process::{Command, Stdio};

/// Files at most of one checkpoint.
const MOST_FILES: usize = 10_000;

/// Files that differ between a commit's first parent and the commit, as they are in the commit; none: it does
/// not exist there. Paths are relative to the directory, and those outside of it are left out.
pub(super) fn files(place: &Path, reference: &str) -> Result<Vec<(String, Content)>, PlaneError> {
    if reference.is_empty() || reference.starts_with('-') || reference.chars().any(char::is_control) {
        return Err(unknown(reference));
    }
    let commit =
        ask(place, &["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{reference}^{{commit}}")]);
    let commit = commit.map_err(|e| e.unwrap_or_else(|| unknown(reference)))?;
    let commit = String::from_utf8_lossy(&commit).trim().to_owned();
    let changed = [
        "diff-tree",
        "-z",
        "-r",
        "--root",
        "--no-commit-id",
        "--name-only",
        "--relative",
        "--no-ext-diff",
        "--no-textconv",
        "-m",
        "--first-parent",
        &commit,
    ];
    let changed = ask(place, &changed).map_err(|e| e.unwrap_or_else(|| unknown(reference)))?;
    let prefix = ask(place, &["rev-parse", "--show-prefix"]).map_err(|e| e.unwrap_or_else(|| unknown(reference)))?;
    let prefix = String::from_utf8_lossy(&prefix).trim_end_matches('\n').to_owned();
    let mut files = Vec::new();
    for path in changed.split(|byte| *byte == 0).filter(|path| !path.is_empty()) {
        if files.len() == MOST_FILES {
            let message = format!("the checkpoint covers more than {MOST_FILES} files; name those that are wanted");
            return Err(PlaneError::new(ErrorKind::Conflict, message));
        }
        // A name that is no text can't be told of, and is left alone.
        let Ok(path) = str::from_utf8(path) else { continue };
        let object = format!("{commit}:{prefix}{path}");
        let content = match ask(place, &["cat-file", "blob", &object]) {
            Ok(content) => Some(content),
            Err(None) => None,
            Err(Some(error)) => return Err(error),
        };
        files.push((path.to_owned(), content));
    }
    Ok(files)
}

fn unknown(reference: &str) -> PlaneError {
    let shown = clean_line(reference, 80);
    let message = format!(
        "`{shown}` is no commit of the repository in the session's working directory, so the checkpoint can't be restored"
    );
    PlaneError::new(ErrorKind::Conflict, message)
}

/// What git answers; none when it says that there is no such thing.
fn ask(place: &Path, arguments: &[&str]) -> Result<Vec<u8>, Option<PlaneError>> {
    let mut git = Command::new("git");
    git.arg("--no-pager").arg("--no-optional-locks").arg("--literal-pathspecs");
    for setting in ["core.fsmonitor=false", "core.hooksPath=/dev/null", "protocol.allow=never", "core.quotePath=false"]
    {
        git.arg("-c").arg(setting);
    }
    git.arg("-C").arg(place).args(arguments);
    // A repository that is named in our own environment is another one.
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_EXTERNAL_DIFF"] {
        git.env_remove(name);
    }
    git.env("GIT_TERMINAL_PROMPT", "0").env("GIT_NO_LAZY_FETCH", "1").stdin(Stdio::null()).stderr(Stdio::null());
    match git.output() {
        Ok(answer) if answer.status.success() => Ok(answer.stdout),
        Ok(_) => Err(None),
        Err(e) => {
            let message = "git is needed to restore this checkpoint and can't be run; is it installed?";
            Err(Some(PlaneError::new(ErrorKind::Conflict, message).because(e.to_string())))
        }
    }
}
