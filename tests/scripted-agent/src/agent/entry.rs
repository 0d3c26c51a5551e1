//! The start of the process.

use super::recorder::Recorder;
use super::stdin::{self, Input, Reader};
use super::{Agent, complain, dispatch, stubborn};
use crate::record::Event;
use crate::script::{OnStdinEnd, Script, Step};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::{env, io};

/// Exit code for a wrong command line or script.
const USAGE: u8 = 64;

/// Runs the program with these arguments, its own name left out.
pub fn run(arguments: Vec<OsString>) -> ExitCode {
    let ended = match arguments.split_first() {
        Some((mode, rest)) if mode == stubborn::MODE => stubborn::stay(rest),
        Some((mode, rest)) if mode == stubborn::DEAF_MODE => start(rest, true),
        _ => start(&arguments, false),
    };
    let sentence = match ended {
        Ok(never) => match never {},
        Err(sentence) => sentence,
    };
    complain(&sentence);
    ExitCode::from(USAGE)
}

/// What is never there: the process has ended.
pub(super) enum Never {}

fn start(arguments: &[OsString], is_deaf: bool) -> Result<Never, String> {
    let Some((path, rest)) = arguments.split_first() else {
        return Err("no script is given; the first argument is its path".to_owned());
    };
    let script = Script::read(Path::new(path)).map_err(|e| e.to_string())?;
    let recorder = Recorder::open(script.record.as_deref()).map_err(|e| {
        format!("the record {} could not be opened: {e}", script.record.clone().unwrap_or_default().display())
    })?;
    if !is_deaf {
        recorder.record(started(path, rest));
    }
    if script.has(|step| matches!(step, Step::IgnoreSignals(_))) {
        if !is_deaf {
            return Err(format!("signals could not be ignored: {}", stubborn::ignore_signals(arguments)));
        }
        recorder.record(Event::IgnoresSignals);
    }
    let (reader, closer) = stdin::open().map_err(|e| format!("stdin could not be prepared: {e}"))?;
    serve(&Arc::new(Agent::new(script, recorder, closer)), reader)
}

fn serve(agent: &Arc<Agent>, mut stdin: Reader) -> Result<Never, String> {
    loop {
        match stdin.next().map_err(|e: io::Error| format!("stdin could not be read: {e}"))? {
            Input::Line(line) => dispatch::receive(agent, &line),
            Input::Closed => {}
            Input::End => {
                agent.record(Event::StdinEnd);
                if agent.script.on_stdin_end == OnStdinEnd::Exit {
                    agent.leave(0);
                }
            }
        }
    }
}

fn started(script: &OsString, arguments: &[OsString]) -> Event {
    let text = |text: &OsString| text.to_string_lossy().into_owned();
    let mut environment: Vec<String> = env::vars_os().map(|(name, _)| text(&name)).collect();
    environment.sort();
    Event::Started {
        script: text(script),
        arguments: arguments.iter().map(text).collect(),
        environment,
        cwd: env::current_dir().unwrap_or_default(),
    }
}
