//! What a session that was written is told as.

use super::args::DestinationArgs;
use super::exit::Failure;
use super::output;
use crate::plane::{Destination, Resume, Saved, summed};
use crate::text::clean_line;
use std::io::Write;

/// Sentences about losses that are shown.
const LOSSES: usize = 12;

impl DestinationArgs {
    /// Where the session is to go.
    pub(super) fn destination(&self) -> Destination {
        let cwd = self
            .cwd
            .as_ref()
            .map(|dir| std::path::absolute(dir).unwrap_or_else(|_| dir.clone()).to_string_lossy().into_owned());
        Destination {
            agent: self.to.clone(),
            cwd,
            title: self.title.clone(),
            model: self.model.clone(),
            dry_run: self.dry_run,
            ..Destination::default()
        }
    }
}

/// Tells people what was written, and how to resume it.
pub(super) fn tell(saved: &Saved) -> Result<(), Failure> {
    let mut out = output::stdout();
    let told = write(&mut out, saved).and_then(|()| out.flush());
    told.map_err(|e| Failure::output(&e))
}

fn write(out: &mut impl Write, saved: &Saved) -> std::io::Result<()> {
    let id = clean_line(&saved.id, 512);
    if saved.dry_run {
        writeln!(out, "nothing was written; it would be a session of {}", saved.agent_id)?;
    } else {
        writeln!(out, "{id} is a session of {} now", saved.agent_id)?;
    }
    let sums = summed(&saved.losses);
    for (kind, message, count) in sums.iter().take(LOSSES) {
        let times = if *count > 1 { format!(" ({count} times)") } else { String::new() };
        writeln!(out, "  {}: {}{times}", verb(kind), clean_line(message, 300))?;
    }
    if sums.len() > LOSSES {
        writeln!(out, "  and {} more kinds of change; --json tells all", sums.len() - LOSSES)?;
    }
    for warning in &saved.warnings {
        writeln!(out, "  note: {}", clean_line(warning, 300))?;
    }
    if !saved.dry_run {
        writeln!(out, "resume it:")?;
        writeln!(out, "  {}", shell_line(&saved.resume))?;
    }
    Ok(())
}

fn verb(kind: &str) -> &'static str {
    match kind {
        "mapped" => "changed",
        "metadata-only" => "kept aside",
        _ => "left out",
    }
}

/// What a person types into a POSIX shell, each word quoted as that shell needs it.
pub(super) fn shell_line(resume: &Resume) -> String {
    // A word with a NUL in it can't be typed; there is none in what passed the loader.
    let quoted = |word: &str| shlex::try_quote(word).map_or_else(|_| String::new(), std::borrow::Cow::into_owned);
    let words: Vec<String> = resume.command.iter().map(|word| quoted(word)).collect();
    format!("cd {} && {}", quoted(&resume.working_directory), words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::shell_line;
    use crate::plane::Resume;

    #[test]
    fn a_directory_can_say_nothing_to_the_shell() {
        let resume = Resume {
            command: vec!["agent".into(), "--resume".into(), "-x y".into()],
            working_directory: "/p/a b'; touch canary; '".into(),
        };
        let line = shell_line(&resume);
        let words = shlex::split(&line).unwrap_or_default();
        assert_eq!(words, ["cd", "/p/a b'; touch canary; '", "&&", "agent", "--resume", "-x y"]);
    }
}
