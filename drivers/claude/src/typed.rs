//! The prompts of a session in the agent's file of all prompts that were typed.

use crate::json::{Str, members, parse};
use crate::place::STORE;
use crate::save::target::MODE;
use memchr::memchr_iter;
use sepia_ir::{DriverError, ErrorCode};
use sepia_sdk::Host;
use serde::{Deserialize, Serialize};

/// The file.
const FILE: &str = "history.jsonl";
/// A longer file is left alone.
const LONGEST: usize = 64 << 20;
/// Bytes that are read at once.
const PIECE: u32 = 8 << 20;

members! {
    Prompt {
        session_id: Str<'a> = "sessionId",
    }
}

/// Lines of the file that were taken away.
#[derive(Debug, Serialize, Deserialize)]
struct Undo {
    /// Position among all lines, from 0, and text with its line feed.
    lines: Vec<(usize, String)>,
}

/// The prompts of a session.
pub(crate) struct Typed {
    id: String,
    content: Vec<u8>,
    /// Its lines by position.
    own: Vec<usize>,
}

/// The lines of the file, each with its line feed.
fn lines(content: &[u8]) -> impl Iterator<Item = &[u8]> {
    let ends = memchr_iter(b'\n', content).map(|at| at + 1).chain([content.len()]);
    ends.scan(0, |from, to| Some(&content[std::mem::replace(from, to)..to])).filter(|line| !line.is_empty())
}

fn content(host: &Host) -> Result<Vec<u8>, DriverError> {
    let mut content = Vec::new();
    loop {
        match host.read(STORE, FILE, content.len() as u64, PIECE) {
            Ok(piece) if piece.is_empty() => return Ok(content),
            Ok(piece) => content.extend(piece),
            Err(e) if e.code == ErrorCode::NotFound => return Ok(content),
            Err(e) => return Err(e),
        }
        if content.len() > LONGEST {
            let message = format!("`{FILE}` has more than {} MiB and is left alone; shorten it first", LONGEST >> 20);
            return Err(DriverError::new(ErrorCode::Unsupported, message));
        }
    }
}

impl Typed {
    /// The prompts of a session, if there are any.
    pub(crate) fn of(host: &Host, id: &str) -> Result<Option<Self>, DriverError> {
        let content = content(host)?;
        if memchr::memmem::find(&content, id.as_bytes()).is_none() {
            return Ok(None);
        }
        let is_own = |line: &[u8]| {
            memchr::memmem::find(line, id.as_bytes()).is_some()
                && std::str::from_utf8(line)
                    .is_ok_and(|line| parse::<Prompt<'_>>(line).is_ok_and(|prompt| prompt.session_id.is(id)))
        };
        let own: Vec<usize> = lines(&content).enumerate().filter(|(_, line)| is_own(line)).map(|(at, _)| at).collect();
        Ok((!own.is_empty()).then(|| Self { id: id.to_owned(), content, own }))
    }

    /// Where they are, for people.
    pub(crate) fn place(&self) -> String {
        format!("{FILE}:{}", self.id)
    }

    pub(crate) fn bytes(&self) -> u64 {
        let is_own = |at: &usize| self.own.binary_search(at).is_ok();
        lines(&self.content).enumerate().filter(|(at, _)| is_own(at)).map(|(_, line)| line.len() as u64).sum()
    }

    /// Writes the file without them; what brings them back.
    pub(crate) fn take_away(self, host: &Host) -> Result<Vec<u8>, DriverError> {
        let mut rest = Vec::with_capacity(self.content.len());
        let mut undo = Undo { lines: Vec::new() };
        for (at, line) in lines(&self.content).enumerate() {
            match self.own.binary_search(&at) {
                Ok(_) => undo.lines.push((at, String::from_utf8_lossy(line).into_owned())),
                Err(_) => rest.extend_from_slice(line),
            }
        }
        let undo = serde_json::to_vec(&undo)
            .map_err(|e| DriverError::new(ErrorCode::Store, format!("the prompts can't be kept: {e}")))?;
        host.replace(STORE, FILE, &rest, MODE, Some(self.content.len() as u64))?;
        Ok(undo)
    }
}

/// Puts prompts back where they were; those that are there already are left.
pub(crate) fn put_back(host: &Host, undo: &[u8]) -> Result<(), DriverError> {
    if undo.is_empty() {
        return Ok(());
    }
    let undo: Undo = serde_json::from_slice(undo).map_err(|e| {
        DriverError::new(ErrorCode::Invalid, format!("what was kept to bring prompts back can't be read: {e}"))
    })?;
    let content = content(host)?;
    let there: std::collections::HashSet<&[u8]> = lines(&content).collect();
    let mut missing = undo.lines.into_iter().filter(|(_, line)| !there.contains(line.as_bytes())).peekable();
    if missing.peek().is_none() {
        return Ok(());
    }
    let mut all = Vec::with_capacity(content.len());
    let mut at = 0;
    let mut rest = lines(&content);
    let mut add = |line: &[u8]| {
        if all.last().is_some_and(|byte| *byte != b'\n') {
            all.push(b'\n');
        }
        all.extend_from_slice(line);
    };
    loop {
        if let Some((_, line)) = missing.next_if(|(place, _)| *place <= at) {
            add(line.as_bytes());
        } else if let Some(line) = rest.next() {
            add(line);
        } else if let Some((_, line)) = missing.next() {
            add(line.as_bytes());
        } else {
            break;
        }
        at += 1;
    }
    // A file that isn't there is as long as one that is to be made.
    host.replace(STORE, FILE, &all, MODE, Some(content.len() as u64))
}
