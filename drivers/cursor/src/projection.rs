//! Sessions of which only a transcript is left.

use crate::flat;
use crate::json::decoded;
use crate::key::{Kind, Source};
use crate::lines::{self, LineFeed, Told};
use crate::places::CURSOR;
use crate::prompt::one_line;
use crate::record::{About, BACKEND, Record, Times};
use crate::step::{Feed, Part, Step};
use crate::time;
use sepia_ir::{DriverError, ErrorCode, FileEntry, Session, Warning};
use sepia_sdk::Host;
use std::rc::Rc;

/// Of a longer file only the two ends are looked at for a row.
const SMALL: u64 = 4 << 20;
const END: u32 = 512 << 10;

/// What the row of a transcript needs.
#[derive(Default)]
struct Look {
    messages: bool,
    prompt: Option<String>,
    overview: Option<String>,
    first: Option<f64>,
    last: Option<f64>,
    ended: Option<crate::record::TurnEnded>,
}

impl Look {
    fn step(&mut self, step: Step) {
        self.messages = true;
        self.prompt = self.prompt.take().or(step.prompt.filter(|prompt| !prompt.trim().is_empty()));
        self.first = self.first.or(step.at);
        self.last = step.at.or(self.last);
    }

    fn lines(&mut self, bytes: &[u8]) {
        for line in bytes.split(|b| *b == b'\n') {
            match lines::told(&decoded(line).0) {
                Told::Message(step) => {
                    self.ended = None;
                    self.step(*step);
                }
                Told::Ended(ended) => self.ended = Some(ended),
                Told::Overview(overview) => self.overview = Some(overview),
                Told::Nothing | Told::Unknown => {}
            }
        }
    }
}

fn feed(host: &Host, source: &Source) -> Result<Box<dyn Feed>, DriverError> {
    Ok(match source.kind {
        Kind::FlatText => flat::text_feed(host, &source.path)?,
        Kind::FlatJson => flat::json_feed(host, &source.path)?,
        _ => Box::new(LineFeed::open(host, &source.path)),
    })
}

/// The file of a source; none when it is gone.
fn file(host: &Host, path: &str) -> Result<Option<FileEntry>, DriverError> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let report = host.walk(CURSOR, folder, 0, &[name.to_owned()])?;
    Ok(report.files.into_iter().find(|file| file.path == path))
}

fn look(host: &Host, source: &Source, file: &FileEntry) -> Result<Look, DriverError> {
    let mut look = Look::default();
    if matches!(source.kind, Kind::FlatText | Kind::FlatJson) {
        let (mut feed, mut steps) = (feed(host, source)?, Vec::new());
        while feed.next(&mut steps, &mut Vec::new())? {}
        for step in steps {
            look.step(step);
        }
        return Ok(look);
    }
    if file.bytes <= SMALL {
        look.lines(&host.read(CURSOR, &file.path, 0, u32::try_from(SMALL).unwrap_or(u32::MAX))?);
        return Ok(look);
    }
    let mut start = host.read(CURSOR, &file.path, 0, END)?;
    start.truncate(memchr::memrchr(b'\n', &start).unwrap_or(0));
    look.lines(&start);
    let end = host.read(CURSOR, &file.path, file.bytes - u64::from(END), END)?;
    look.lines(end.get(memchr::memchr(b'\n', &end).map_or(0, |at| at + 1)..).unwrap_or_default());
    Ok(look)
}

/// The session of a transcript; none when it is gone or holds no message. `parent` when it is a
/// sub-agent's.
pub(crate) fn record(
    host: &Host,
    source: &Source,
    id: &str,
    parent: Option<&str>,
) -> Result<Option<Record>, DriverError> {
    let Some(file) = file(host, &source.path)? else { return Ok(None) };
    let look = match look(host, source, &file) {
        Ok(look) => look,
        Err(error) if error.code == ErrorCode::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !look.messages && file.bytes <= SMALL {
        return Ok(None);
    }
    let mut about =
        About { space: source.kind.space(), subagent: parent.is_some(), turn_ended: look.ended, ..About::default() };
    let mut session = Session::new(id, BACKEND);
    "default".clone_into(&mut session.agent_mode);
    session.parent_session_id = parent.map(str::to_owned);
    session.agent_id = parent.map(|_| id.to_owned());
    session.working_directory = folder(host, &source.path, &mut about).unwrap_or_default();
    Times { created: look.first, active: look.last }.fill(&mut session, &mut about, time::of_file(file.modified_ns));
    let titles = [(look.overview, "generated"), (look.prompt, "first-prompt")];
    let mut titles = titles.into_iter().map(|(title, from)| (one_line(&title.unwrap_or_default()), from));
    (session.title, about.title_source) =
        titles.find(|(title, _)| !title.is_empty()).unwrap_or_else(|| (id.chars().take(8).collect(), "id"));
    let (host, source) = (host.clone(), source.clone());
    let file = Some(source.clone());
    Ok(Some(Record {
        session,
        about,
        reader: Rc::new(move |range| Ok(Part::of(feed(&host, &source)?, &range))),
        file,
        typed: None,
        more: None,
        kept: None,
    }))
}

/// The directory of a project folder. Its name can't be turned back into one; the log of a
/// background process names the directory, and counts when it has that name.
fn folder(host: &Host, path: &str, about: &mut About) -> Option<String> {
    let mut parts = path.split('/');
    let (Some(projects), Some(slug)) = (parts.next(), parts.next()) else { return None };
    let log = match host.read(CURSOR, &format!("{projects}/{slug}/worker.log"), 0, 64 << 10) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.code == ErrorCode::NotFound => return None,
        Err(error) => {
            let message = format!("the log of project `{slug}` was passed over: {error}");
            about.warnings.push(Warning::new("unreadable-file", message).in_file(path));
            return None;
        }
    };
    log.split("workspacePath=").skip(1).find_map(|rest| {
        let line = rest.lines().next().unwrap_or_default();
        let ends = line.char_indices().filter(|(_, c)| c.is_whitespace() || "\",}]".contains(*c)).map(|(at, _)| at);
        let candidates = ends.chain([line.len()]).map(|end| line[..end].trim_matches('"'));
        let mut candidates = candidates;
        candidates.find(|path| slug_of(path) == slug).map(str::to_owned)
    })
}

/// How the agent names the folder of a directory: each run of other characters than letters and
/// digits of ASCII becomes one `-`, and none stands at an end.
pub(crate) fn slug_of(directory: &str) -> String {
    let words: Vec<&str> =
        directory.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.join("-")
}

#[cfg(test)]
mod tests {
    use super::slug_of;

    #[test]
    fn folders_are_named_by_the_agents_rule() {
        assert_eq!(slug_of("/home/dev/my_app.v2"), "home-dev-my-app-v2");
        assert_eq!(slug_of("/p/a  b/"), "p-a-b");
        assert_eq!(slug_of("D:\\a"), "D-a");
    }
}
