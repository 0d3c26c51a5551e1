//! What a commit that stands for a checkpoint holds, asked of git with nothing of the repository being
//! run: no hooks, no filters, no monitor, no pager.

use super::{Content, Wanted};
use crate::plane::{ErrorKind, PlaneError};
use crate::text::clean_line;
use std::path::Path;
use std::process::{Command, Stdio};

/// Files at most of one checkpoint.
const MOST_FILES: usize = 10_000;

/// Files that differ between a commit's first parent and the commit, as they are in the commit; none: it does
/// not exist there. Paths are relative to the directory, and those outside of it are left out. What can't be had for
/// certain has the reason in its place.
pub(super) fn files(place: &Path, reference: &str) -> Result<Wanted, PlaneError> {
    if reference.is_empty() || reference.starts_with('-') || reference.chars().any(char::is_control) {
        return Err(unknown(reference));
    }
    let commit = object(place, &format!("{reference}^{{commit}}"))?.ok_or_else(|| unknown(reference))?;
    let mut changed = vec!["diff-tree", "-z", "-r", "--raw", "--no-abbrev", "--no-renames", "--no-commit-id"];
    changed.extend(["--relative", "--no-ext-diff", "--no-textconv"]);
    // A checkpoint may be a merge by its form, and only what the first parent has not is of it.
    let parent = object(place, &format!("{commit}^1"))?;
    match &parent {
        Some(parent) => changed.push(parent),
        None => changed.push("--root"),
    }
    changed.push(&commit);
    let changed = ask(place, &changed)?.ok_or_else(|| unknown(reference))?;
    let mut files = Wanted::new();
    let mut parts = changed.split(|byte| *byte == 0);
    while let (Some(what), Some(path)) = (parts.next(), parts.next()) {
        if files.len() == MOST_FILES {
            let message = format!("the checkpoint covers more than {MOST_FILES} files; name those that are wanted");
            return Err(PlaneError::new(ErrorKind::Conflict, message));
        }
        let content = match str::from_utf8(path) {
            Ok(_) => content(place, what)?,
            Err(_) => Err("its name is no text".to_owned()),
        };
        files.push((String::from_utf8_lossy(path).into_owned(), content));
    }
    Ok(files)
}

/// What a line of a raw difference says that the file is in the commit.
fn content(place: &Path, what: &[u8]) -> Result<Result<Content, String>, PlaneError> {
    let fields: Vec<&str> = str::from_utf8(what).unwrap_or_default().split(' ').collect();
    let [_, mode, _, id, status] = fields[..] else {
        return Ok(Err("git says something of it that is not understood".to_owned()));
    };
    if status.starts_with('D') {
        return Ok(Ok(None));
    }
    Ok(match mode {
        "100644" | "100755" | "100664" => match ask(place, &["cat-file", "blob", id])? {
            Some(content) => Ok(Some(content)),
            None => Err("git has not its content".to_owned()),
        },
        "120000" => Err("it was a link at the checkpoint, and links are not made".to_owned()),
        _ => Err("it was no regular file at the checkpoint".to_owned()),
    })
}

/// The id of what a revision names; none when there is no such thing.
fn object(place: &Path, revision: &str) -> Result<Option<String>, PlaneError> {
    let id = ask(place, &["rev-parse", "--verify", "--quiet", "--end-of-options", revision])?;
    Ok(id.map(|id| String::from_utf8_lossy(&id).trim().to_owned()))
}

fn unknown(reference: &str) -> PlaneError {
    let shown = clean_line(reference, 80);
    let message = format!(
        "`{shown}` is no commit of the repository in the session's working directory, so the checkpoint can't be restored"
    );
    PlaneError::new(ErrorKind::Conflict, message)
}

/// What git answers; none when it says that there is no such thing.
fn ask(place: &Path, arguments: &[&str]) -> Result<Option<Vec<u8>>, PlaneError> {
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
        Ok(answer) if answer.status.success() => Ok(Some(answer.stdout)),
        Ok(_) => Ok(None),
        Err(e) => {
            let message = "git is needed to restore this checkpoint and can't be run; is it installed?";
            Err(PlaneError::new(ErrorKind::Conflict, message).because(e.to_string()))
        }
    }
}
