//! Which program serves which agent: the one that its driver names, or that
//! `SEPIA_AGENT_<ID>_COMMAND` does, with the agent's own way of saying a model.

use crate::environment::Environment;
use crate::process::Variable;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Variables that an agent's program gets; `XDG_*` besides, and those that move its stores.
/// All others are ours, or of whatever started us.
const PASSED: [&str; 13] = [
    "PATH",
    "HOME",
    "USER",
    "SHELL",
    "TMPDIR",
    "LANG",
    "LC_ALL",
    "TERM",
    "WINDSURF_API_KEY",
    "ANTHROPIC_API_KEY",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLINE_API_KEY",
    "CURSOR_API_KEY",
];

/// A program that can be started.
#[derive(Debug, Clone)]
pub(crate) struct Runtime {
    /// Name of the agent for people.
    pub(crate) label: String,
    /// The program, found.
    pub(crate) program: PathBuf,
    /// Its arguments.
    pub(crate) arguments: Vec<OsString>,
    /// Its whole environment.
    pub(crate) environment: Vec<Variable>,
    /// A model that is to be chosen in the session, for there is no argument for it.
    pub(crate) model: Option<String>,
}

/// What a person asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) model: Option<String>,
    pub(crate) fallbacks: Vec<String>,
}

/// The command that serves an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Command {
    /// Program and arguments; empty when the agent has none.
    pub(crate) words: Vec<String>,
    /// The variable that says so, where one does.
    pub(crate) variable: Option<String>,
    /// The program, when it is there.
    pub(crate) found: Option<PathBuf>,
}

impl Command {
    /// The command of an agent, by its driver's word or the variable that replaces it.
    pub(crate) fn of(agent: &str, named: &[String], variables: &Environment) -> Self {
        let name = format!("SEPIA_AGENT_{}_COMMAND", agent.to_uppercase().replace('-', "_"));
        let set = variables.get(&name).filter(|value| !value.is_empty());
        let words: Vec<String> = match &set {
            Some(command) => command.to_string_lossy().split_whitespace().map(str::to_owned).collect(),
            None => named.to_vec(),
        };
        let found = words.first().and_then(|word| find(Path::new(word), variables.get("PATH").as_deref()));
        Self { words, variable: set.map(|_| name), found }
    }
}

impl Runtime {
    /// How to start an agent's program. `moved` are the variables that say where its stores are.
    pub(crate) fn new(
        agent: &str,
        label: &str,
        command: &Command,
        choice: &Choice,
        moved: Vec<Variable>,
        variables: &Environment,
    ) -> Option<Self> {
        let program = command.found.clone()?;
        let mut arguments: Vec<OsString> = command.words.iter().skip(1).map(OsString::from).collect();
        let mut model = None;
        if let Some(wanted) = &choice.model {
            match model_argument(agent) {
                Some(flag) => arguments.extend([flag.into(), wanted.into()]),
                None => model = Some(wanted.clone()),
            }
        }
        if takes_fallbacks(agent) && !choice.fallbacks.is_empty() {
            arguments.extend(["--refusal-fallback".into(), choice.fallbacks.join(",").into()]);
        }
        Some(Self {
            label: label.to_owned(),
            program,
            arguments,
            environment: environment(agent, moved, variables),
            model,
        })
    }
}

/// The argument that names a model to an agent's program; none where it is chosen in the session.
fn model_argument(agent: &str) -> Option<&'static str> {
    match agent {
        "claude" | "cursor" => None,
        "cline" => Some("-m"),
        _ => Some("--model"),
    }
}

fn takes_fallbacks(agent: &str) -> bool {
    agent == "devin"
}

/// Variables that an agent's program is given for what it does for us.
fn own_variables(agent: &str) -> &'static [(&'static str, &'static str)] {
    match agent {
        // In its own process: its errors come to us, and no daemon outlives it.
        "cline" => &[("CLINE_SESSION_BACKEND_MODE", "local")],
        _ => &[],
    }
}

fn environment(agent: &str, moved: Vec<Variable>, variables: &Environment) -> Vec<Variable> {
    let inherit = variables.get("SEPIA_INHERIT_ENV").is_some_and(|value| value == "1" || value == "true");
    let is_passed =
        |name: &OsStr| name.to_str().is_some_and(|name| inherit || PASSED.contains(&name) || name.starts_with("XDG_"));
    let mut passed: Vec<Variable> = variables.all().iter().filter(|(name, _)| is_passed(name)).cloned().collect();
    let set = |passed: &mut Vec<Variable>, name: OsString, value: OsString| {
        passed.retain(|(known, _)| *known != name);
        passed.push((name, value));
    };
    for (name, value) in own_variables(agent) {
        if variables.get(name).is_none() {
            set(&mut passed, (*name).into(), (*value).into());
        }
    }
    for (name, value) in moved {
        set(&mut passed, name, value);
    }
    passed
}

/// A program by its path, or on the search path.
fn find(word: &Path, search: Option<&OsStr>) -> Option<PathBuf> {
    if word.components().count() > 1 || word.is_absolute() {
        return is_program(word).then(|| std::path::absolute(word).ok())?;
    }
    let folders: Vec<PathBuf> = std::env::split_paths(search?).collect();
    // An empty entry would be the session's own directory, where anything may lie.
    folders.iter().filter(|folder| folder.is_absolute()).map(|folder| folder.join(word)).find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{Choice, Command, Runtime};
    use crate::environment::Environment;

    fn start(agent: &str, choice: &Choice, variables: &[(&str, &str)], moved: &[(&str, &str)]) -> Runtime {
        let all: Environment = variables.iter().map(|(n, v)| (n.into(), v.into())).collect();
        let command = Command::of(agent, &["sh".to_owned(), "acp".to_owned()], &all);
        let moved = moved.iter().map(|(n, v)| ((*n).into(), (*v).into())).collect();
        Runtime::new(agent, agent, &command, choice, moved, &all).unwrap()
    }

    #[test]
    fn each_agent_is_told_its_model_in_its_own_way() {
        let choice = Choice { model: Some("m".to_owned()), fallbacks: vec!["a".to_owned(), "b".to_owned()] };
        let path = [("PATH", "/usr/bin:/bin")];
        let of = |agent: &str| start(agent, &choice, &path, &[]);
        assert_eq!(of("devin").arguments, ["acp", "--model", "m", "--refusal-fallback", "a,b"]);
        assert_eq!(of("cline").arguments, ["acp", "-m", "m"]);
        assert_eq!((of("claude").arguments.len(), of("claude").model.as_deref()), (1, Some("m")));
        assert_eq!(of("other").arguments, ["acp", "--model", "m"]);
    }

    #[test]
    fn the_environment_is_cleared_but_for_what_an_agent_needs() {
        let variables = [
            ("PATH", "/usr/bin:/bin"),
            ("HOME", "/home/a"),
            ("XDG_DATA_HOME", "/data"),
            ("SEPIA_HOME", "/sepia"),
            ("AWS_SECRET_ACCESS_KEY", "s"),
        ];
        let runtime = start("claude", &Choice::default(), &variables, &[("CLAUDE_CONFIG_DIR", "/store")]);
        let names: Vec<_> = runtime.environment.iter().map(|(name, _)| name.to_str().unwrap()).collect();
        assert_eq!(names, ["PATH", "HOME", "XDG_DATA_HOME", "CLAUDE_CONFIG_DIR"]);
        let mut all = variables.to_vec();
        all.push(("SEPIA_INHERIT_ENV", "1"));
        assert_eq!(start("claude", &Choice::default(), &all, &[]).environment.len(), all.len());
    }

    #[test]
    fn a_variable_replaces_the_command_and_relative_folders_are_not_searched() {
        let variables = [("SEPIA_AGENT_MY_NOTES_COMMAND", "/bin/sh  -c x"), ("PATH", ".::/bin")];
        let env: Environment = variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        let command = Command::of("my-notes", &[], &env);
        assert_eq!(command.words, ["/bin/sh", "-c", "x"]);
        assert_eq!(command.found.unwrap(), std::path::Path::new("/bin/sh"));
        assert_eq!(command.variable.as_deref(), Some("SEPIA_AGENT_MY_NOTES_COMMAND"));
        let none = Command::of("other", &["no-such-program-anywhere".to_owned()], &env);
        assert_eq!((none.found, none.variable), (None, None));
    }
}
