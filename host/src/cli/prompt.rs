//! `sepia prompt`

use super::args::{LiveArgs, PermissionArgs, PromptArgs};
use super::exit::Failure;
use super::setup;
use super::signals::Stop;
use super::talk::{Answering, Conversation, Keyboard, TurnOutcome};
use crate::plane::{AttachRequest, CreateRequest, ErrorKind, Plane, PlaneError, PromptPart, TurnEnd};
use std::fmt::Write as _;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

/// Largest prompt that is read from stdin, bytes.
const MOST: u64 = 64 << 20;

pub(super) async fn run(args: PromptArgs, mut stop: Stop) -> Result<(), Failure> {
    let (session, text) = words(&args)?;
    let mut parts = vec![PromptPart::Text { text }];
    for file in &args.files {
        parts.push(link(file)?);
    }
    let plane = Arc::new(setup::plane()?);
    let done = talk(&plane, &args, session, parts, &mut stop).await;
    end(&plane, &mut stop).await;
    done
}

/// Lets all go; another signal leaves at once.
pub(super) async fn end(plane: &Plane, stop: &mut Stop) {
    tokio::select! {
        () = plane.shutdown() => {}
        _ = stop.told() => {}
    }
}

async fn talk(
    plane: &Arc<Plane>,
    args: &PromptArgs,
    session: Option<&str>,
    parts: Vec<PromptPart>,
    stop: &mut Stop,
) -> Result<(), Failure> {
    let opened = async {
        match session {
            Some(id) => {
                let session = plane.resolve(id, args.agent.as_deref()).await?;
                attach(plane, session.id, session.agent, &args.live).await
            }
            None => create(plane, args).await,
        }
    };
    let (id, agent) = tokio::select! {
        opened = opened => opened?,
        signal = stop.told() => return Err(Failure::Signal(signal.as_raw_value())),
    };
    let answering = answering(args.permission);
    let mut conversation = Conversation::new(Arc::clone(plane), id.clone(), agent, answering, args.json).await?;
    if session.is_none() && !args.json {
        conversation.line(&format!("new session {}", crate::text::clean_line(&id, 200)))?;
    }
    match conversation.turn(parts, stop).await? {
        TurnOutcome::Ended(end) => ended(&end),
        TurnOutcome::Interrupted(number) => Err(Failure::Signal(number)),
    }
}

/// Who answers the agent.
pub(super) fn answering(args: PermissionArgs) -> Answering {
    Answering::of(args.allow, args.deny, Keyboard::has_person())
}

/// Brings a session live, or says who holds it.
pub(super) async fn attach(
    plane: &Arc<Plane>,
    id: String,
    agent: Option<String>,
    live: &LiveArgs,
) -> Result<(String, String), Failure> {
    let request = AttachRequest {
        id: id.clone(),
        agent,
        takeover: live.takeover,
        model: live.model.clone(),
        fallbacks: live.fallbacks.clone(),
    };
    let attached = plane.attach(request).await?;
    if attached.attached {
        return Ok((id, attached.agent_id));
    }
    let holder = attached.lock_holder_pid.map_or_else(|| "another program".to_owned(), |pid| format!("process {pid}"));
    let shown = crate::text::clean_line(&id, 80);
    let message = format!("session `{shown}` is held by {holder}; end it there, or take it over with --takeover");
    Err(PlaneError::new(ErrorKind::Locked, message).into())
}

async fn create(plane: &Arc<Plane>, args: &PromptArgs) -> Result<(String, String), Failure> {
    let cwd = match &args.cwd {
        Some(cwd) => std::path::absolute(cwd),
        None => std::env::current_dir(),
    };
    let cwd = cwd.map_err(|e| Failure::said(format!("the working directory can't be told: {e}")))?;
    // Agents know a directory by its real path.
    let cwd = cwd.canonicalize().unwrap_or(cwd);
    let request = CreateRequest {
        cwd: cwd.to_string_lossy().into_owned(),
        agent: args.agent.clone(),
        title: args.title.clone(),
        model: args.live.model.clone(),
        fallbacks: args.live.fallbacks.clone(),
    };
    let created = plane.create(request).await?;
    Ok((created.id, created.agent_id))
}

fn words(args: &PromptArgs) -> Result<(Option<&str>, String), Failure> {
    let (session, text) = match (args.new, args.words.as_slice()) {
        (true, [text]) => (None, text),
        (false, [session, text]) => (Some(session.as_str()), text),
        (true, _) => return Err(Failure::said("with --new give the text alone, in quotes")),
        (false, _) => return Err(Failure::said("give the session and the text, in quotes; or --new and the text")),
    };
    if text != "-" {
        return Ok((session, text.clone()));
    }
    let mut read = String::new();
    let bytes = io::stdin().lock().take(MOST + 1).read_to_string(&mut read);
    let bytes = bytes.map_err(|e| Failure::said(format!("the text can't be read from stdin: {e}")))?;
    if bytes as u64 > MOST {
        return Err(Failure::said(format!("the text on stdin has more than {} MB", MOST >> 20)));
    }
    Ok((session, read))
}

fn link(file: &Path) -> Result<PromptPart, Failure> {
    let path = file.canonicalize().map_err(|e| Failure::said(format!("{} can't be named: {e}", file.display())))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut uri = "file://".to_owned();
    for byte in path.to_string_lossy().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => uri.push(char::from(byte)),
            byte => {
                let _infallible = write!(uri, "%{byte:02X}");
            }
        }
    }
    Ok(PromptPart::ResourceLink { uri, name, mime_type: None, size: None })
}

/// What the end of a turn is to whoever called us.
pub(super) fn ended(end: &TurnEnd) -> Result<(), Failure> {
    match end.stop_reason.as_str() {
        "end_turn" => Ok(()),
        // As if the interrupt had ended us.
        "cancelled" => Err(Failure::Signal(2)),
        "refusal" => Err(Failure::said("the model refused to go on")),
        "max_tokens" => Err(Failure::said("the model reached the most tokens that it may use")),
        "max_turn_requests" => Err(Failure::said("the agent reached the most requests that a turn may have")),
        other => Err(Failure::said(format!("the turn stopped early: {}", crate::text::clean_line(other, 80)))),
    }
}
