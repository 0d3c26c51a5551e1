//! List rows: the sessions of one transcript file.

use crate::about::About;
use crate::assemble::Envelope;
use crate::checkpoints;
use crate::draft::Draft;
use crate::ends::{self, Ends, FIRST_HEAD, FIRST_TAIL, Scope};
use crate::gather::{Gathered, gather, read_title};
use crate::json::{Number, Str, members, parse_file};
use crate::lines::{Lines, MAX_LINE};
use crate::place::{STORE, Transcript};
use crate::projection::Detail;
use crate::prompts;
use crate::restoring::Known;
use crate::time;
use crate::title::{self, Titles};
use sepia_ir::{
    DriverError, ErrorCode, FileEntry, Session, Summary, SummaryDetail, SurveyQuery, SurveyReport, Warning,
};
use sepia_sdk::Host;
use sepia_sdk::one_line;
use sepia_sdk::stats::Stats;

/// `backendType` of the sessions.
pub(crate) const BACKEND: &str = "claude";
/// Needles of title records come first (`customTitle` and `aiTitle` end alike), then that of
/// sub-agents kept in the same file. The agent writes JSON without blanks; files of other writers are looked through in full.
const TITLE_NEEDLES: usize = 2;
const NEEDLES: [&str; 3] = ["Title\"", "\"type\":\"summary\"", "\"isSidechain\":true"];
/// Bytes of a found line that are taken at once.
const LONGEST_TITLE_LINE: u32 = 4 << 10;
/// Lines of titles and of sub-agents, before the whole file is looked through instead.
const MOST_FOUND: u32 = 256;

/// The rows of one key.
pub(crate) fn summary(host: &Host, key: &str, detail: SummaryDetail) -> Summary {
    let mut summary = Summary { key: key.to_owned(), sessions: Vec::new(), warnings: Vec::new() };
    let Some((path, transcript)) = Transcript::of_key(key) else { return summary };
    match rows(host, path, &transcript, detail) {
        Ok(sessions) => summary.sessions = sessions.into_iter().map(|row| row.session).collect(),
        Err(error) if error.code == ErrorCode::NotFound => {}
        Err(error) => {
            let message = format!("the sessions of `{path}` are not listed: {error}");
            summary.warnings.push(Warning::new("unreadable-transcript", message).in_file(path));
        }
    }
    summary
}

/// A session, and where it is in what was gathered of its file.
pub(crate) struct Row {
    pub(crate) session: Session,
    /// Which draft; the first when the file was not looked through.
    pub(crate) draft: usize,
    pub(crate) envelope: Envelope,
}

/// The sessions of a file.
pub(crate) fn rows(
    host: &Host,
    path: &str,
    transcript: &Transcript<'_>,
    detail: SummaryDetail,
) -> Result<Vec<Row>, DriverError> {
    let scope = transcript.scope();
    // What a look through the whole file tells anyway is not looked for.
    let counted = detail == SummaryDetail::Stats;
    let report = host.survey(STORE, path, &query(if counted { &[] } else { needles(scope) }))?;
    let first = Found::of(&report);
    let foreign = memchr::memmem::find(&report.head, b"\"type\": \"").is_some();
    let file = report.file;
    let ends = ends::look(host, &file, report.head, report.tail, scope)?;
    let source = Source { host, transcript, file: &file };
    let whole = counted || first.sidechains || foreign || report.truncated || !ends.conversational;
    if !whole {
        let titles = first.titles(host, path)?;
        let envelope = envelope(&ends);
        let spoken_at = ends.spoken_at;
        let mut session = source.session(ends, &titles, Extra::default());
        source.restore(&mut session, &titles, spoken_at, false);
        return Ok(vec![Row { session, draft: 0, envelope }]);
    }
    let gathered = gather(host, path, scope, if counted { Detail::Tally } else { Detail::Counts })?;
    source.sessions(ends, &gathered, counted, false)
}

/// The sessions of a file that was looked through, prompts and checkpoints included.
pub(crate) fn in_full(host: &Host, file: &FileEntry, gathered: &Gathered) -> Result<Vec<Row>, DriverError> {
    let Some(transcript) = Transcript::of(&file.path) else { return Ok(Vec::new()) };
    let ends = read_ends(host, file, transcript.scope())?;
    Source { host, transcript: &transcript, file }.sessions(ends, gathered, true, true)
}

/// What most records of a file say alike.
pub(crate) fn envelope_of(host: &Host, file: &FileEntry, scope: Scope) -> Result<Envelope, DriverError> {
    Ok(envelope(&read_ends(host, file, scope)?))
}

fn read_ends(host: &Host, file: &FileEntry, scope: Scope) -> Result<Ends, DriverError> {
    let head = host.read(STORE, &file.path, 0, FIRST_HEAD)?;
    let tail = host.read(STORE, &file.path, file.bytes.saturating_sub(FIRST_TAIL.into()), FIRST_TAIL)?;
    ends::look(host, file, head, tail, scope)
}

fn envelope(ends: &Ends) -> Envelope {
    Envelope {
        cwd: ends.cwd.clone().unwrap_or_default(),
        version: ends.version.clone().unwrap_or_default(),
        git_branch: ends.git_branch.clone().unwrap_or_default(),
        entrypoint: ends.entrypoint.clone().unwrap_or_default(),
    }
}

fn needles(scope: Scope) -> &'static [&'static str] {
    if scope == Scope::Main { &NEEDLES } else { &NEEDLES[..TITLE_NEEDLES] }
}

fn query(needles: &[&str]) -> SurveyQuery {
    SurveyQuery {
        needles: needles.iter().map(|needle| needle.as_bytes().to_vec()).collect(),
        head: FIRST_HEAD,
        tail: FIRST_TAIL,
        max_line: LONGEST_TITLE_LINE,
        max_lines: MOST_FOUND,
    }
}

/// What the needles found.
struct Found {
    titles: Titles,
    /// Title lines that were cut: offset and length.
    cut: Vec<(u64, u64)>,
    sidechains: bool,
}

impl Found {
    fn of(report: &SurveyReport) -> Self {
        let mut found = Self { titles: Titles::default(), cut: Vec::new(), sidechains: false };
        for line in &report.lines {
            let sidechain = |text| memchr::memmem::find(text, NEEDLES[TITLE_NEEDLES].as_bytes()).is_some();
            found.sidechains |= line.needle as usize >= TITLE_NEEDLES || sidechain(&line.text);
            if line.needle as usize >= TITLE_NEEDLES {
                continue;
            }
            if line.bytes > line.text.len() as u64 {
                found.cut.push((line.offset, line.bytes));
            } else {
                read_title(line.offset, &line.text, &mut found.titles);
            }
        }
        found
    }

    fn titles(self, host: &Host, path: &str) -> Result<Titles, DriverError> {
        let mut titles = self.titles;
        let mut lines = Lines::sparse(host.clone(), path.to_owned());
        for (offset, bytes) in self.cut {
            // Long lines that hold a needle are messages about it, almost always.
            if let Some(length) = u32::try_from(bytes).ok().filter(|length| *length <= MAX_LINE) {
                read_title(offset, lines.get(offset, length)?, &mut titles);
            }
        }
        Ok(titles)
    }
}

members! {
    /// What the agent notes beside a sub-agent's transcript.
    AgentNote {
        agent_type: Str<'a> = "agentType",
        description: Str<'a> = "description",
        tool_use_id: Str<'a> = "toolUseId",
        spawn_depth: Number = "spawnDepth",
    }
}

members! {
    TitleFile {
        custom_title: Str<'a> = "customTitle",
    }
}

struct Source<'a> {
    host: &'a Host,
    transcript: &'a Transcript<'a>,
    file: &'a FileEntry,
}

/// What only a look through the whole file tells.
#[derive(Default)]
struct Extra {
    about: About,
    stats: Option<Stats>,
    tip: u32,
}

impl Source<'_> {
    fn sessions(&self, ends: Ends, gathered: &Gathered, stats: bool, full: bool) -> Result<Vec<Row>, DriverError> {
        let mut lines = Lines::sparse(self.host.clone(), self.file.path.clone());
        let titles = gathered.titles(&mut lines)?;
        let cwd = ends.cwd.clone();
        let envelope = envelope(&ends);
        let spoken_at = ends.spoken_at;
        let mut main_ends = Some(ends);
        let mut rows = Vec::new();
        for (at, draft) in gathered.drafts.iter().enumerate() {
            if !draft.conversational {
                continue;
            }
            let mut extra = Extra { tip: draft.index.tip, ..Extra::default() };
            let prompts = if stats { prompts::read(&mut lines, &draft.prompts)? } else { prompts::Prompts::default() };
            if stats {
                let mut stats = Stats { user_prompts: prompts.typed, ..draft.stats.clone() };
                stats.total();
                extra.stats = Some(stats);
            }
            let mut checkpoints = Vec::new();
            if at == 0 {
                extra.about.opaque = gathered.opaque.clone();
                extra.about.warnings.clone_from(&gathered.warnings);
                if full {
                    (checkpoints, extra.about.file_history) =
                        checkpoints::read(&mut lines, &gathered.snapshots, self.transcript.stem)?;
                }
            }
            let mut session = match (&draft.root, main_ends.take_if(|_| draft.root.is_none())) {
                (None, Some(ends)) => self.session(draft_into(ends, draft), &titles, extra),
                (None, None) => continue,
                (Some(root), _) => self.inline(root, draft, cwd.clone(), &mut lines, extra)?,
            };
            session.checkpoints = checkpoints;
            if full {
                session.prompt_history = prompts.history;
            }
            if draft.root.is_none() {
                self.restore(&mut session, &titles, spoken_at, full);
            }
            rows.push(Row { session, draft: at, envelope: envelope.clone() });
        }
        Ok(rows)
    }

    /// Puts on a session what its file carries of it.
    fn restore(&self, session: &mut Session, titles: &Titles, spoken_at: Option<u64>, full: bool) {
        let Some(carried) = titles.carried.as_ref().filter(|_| !self.transcript.is_agent()) else { return };
        let known =
            Known { renamed: titles.custom.is_some(), spoken_at, full, file: time::of_file(self.file.modified_ns) };
        carried.restore(session, &known);
    }

    /// The session that the file is named after.
    fn session(&self, ends: Ends, titles: &Titles, extra: Extra) -> Session {
        let stem = self.transcript.stem;
        let mut session = Session::new(stem, BACKEND);
        let mut about = extra.about;
        let mut titles = titles.clone();
        if self.transcript.is_agent() {
            session.parent_session_id = self.transcript.parent.map(str::to_owned).or_else(|| ends.session_id.clone());
            session.agent_id =
                ends.agent_id.clone().or_else(|| Some(stem.strip_prefix("agent-").unwrap_or(stem).to_owned()));
            self.note(&mut about);
        } else if let Some(title) = self.title_file(&mut about) {
            titles.custom = Some(title);
        }
        match about.description.as_deref().map(one_line) {
            Some(title) if !title.is_empty() => {
                session.title = title;
                about.title_source = "description";
            }
            _ => (session.title, about.title_source) = title::choose(&titles, &ends, stem),
        }
        self.fill(session, ends, about, extra.stats, extra.tip)
    }

    /// A sub-agent whose lines are in the file of its session.
    fn inline(
        &self,
        root: &str,
        draft: &Draft,
        cwd: Option<String>,
        lines: &mut Lines,
        extra: Extra,
    ) -> Result<Session, DriverError> {
        let mut session = Session::new(format!("agent-{root}"), BACKEND);
        session.parent_session_id = Some(self.transcript.stem.to_owned());
        session.agent_id = Some(draft.agent_id.clone().unwrap_or_else(|| root.to_owned()));
        let mut ends = Ends { cwd, ..draft_into(Ends::default(), draft) };
        if let Some(first) =
            prompts::read(lines, draft.prompts.get(..1).unwrap_or_default())?.history.into_iter().next()
        {
            ends.first_prompt = Some(first.content);
        }
        let mut about = extra.about;
        (session.title, about.title_source) = title::choose(&Titles::default(), &ends, &session.id);
        Ok(self.fill(session, ends, about, extra.stats, extra.tip))
    }

    fn fill(&self, mut session: Session, ends: Ends, mut about: About, stats: Option<Stats>, tip: u32) -> Session {
        let file_time = time::of_file(self.file.modified_ns);
        let (last, last_clamped) = time::not_after(ends.last_activity.or(ends.created).unwrap_or(file_time), file_time);
        let (created, created_clamped) = time::not_after(ends.created.unwrap_or(last), file_time);
        if ends.last_activity.is_none() {
            about.time_source = Some("file");
        } else if last_clamped || created_clamped {
            about.time_source = Some("clamped");
        }
        session.created_at = created.min(last);
        session.last_activity_at = last;
        session.working_directory = ends.cwd.unwrap_or_default();
        session.model = ends.model.unwrap_or_default();
        session.main_chain_id = tip.into();
        if let Some(mode) = ends.permission_mode {
            session.agent_mode = kebab(&mode);
        }
        about.git_branch = ends.git_branch;
        about.version = ends.version;
        about.entrypoint = ends.entrypoint;
        about.last_prompt = ends.last_prompt;
        about.stats = stats;
        if about.warnings.is_empty() {
            about.warnings = ends.warnings;
        }
        about.warnings.append(&mut about.warnings_beside);
        session.metadata = about.json();
        session
    }

    fn note(&self, about: &mut About) {
        let Some(bytes) = self.beside(self.transcript.meta_path(), about) else { return };
        let Some(note) = parse_file::<AgentNote<'_>>(&bytes) else {
            let message = format!("what is noted beside `{}` is no JSON and was passed over", self.file.path);
            about.warnings_beside.push(Warning::new("broken-note", message).in_file(&self.file.path));
            return;
        };
        about.agent_type = note.agent_type.filled().map(str::to_owned);
        about.description = note.description.filled().map(str::to_owned);
        about.tool_use_id = note.tool_use_id.filled().map(str::to_owned);
        about.spawn_depth = note.spawn_depth.0.map(crate::projection::count);
    }

    fn title_file(&self, about: &mut About) -> Option<String> {
        let bytes = self.beside(self.transcript.title_path(), about)?;
        parse_file::<TitleFile<'_>>(&bytes)?.custom_title.filled().map(str::to_owned)
    }

    /// A small file beside the transcript, if it is there. One that can't be read, such as one
    /// behind a link that leads out, is no reason to lose the session.
    fn beside(&self, path: Option<String>, about: &mut About) -> Option<Vec<u8>> {
        let path = path?;
        match self.host.read(STORE, &path, 0, 64 << 10) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.code == ErrorCode::NotFound => None,
            Err(error) => {
                let message = format!("`{path}` was passed over: {error}");
                about.warnings_beside.push(Warning::new("unreadable-file", message).in_file(path));
                None
            }
        }
    }
}

/// What a look through the file tells better than its ends.
fn draft_into(mut ends: Ends, draft: &Draft) -> Ends {
    ends.created = draft.created.or(ends.created);
    ends.last_activity = draft.last_activity.or(ends.last_activity);
    ends.model = draft.model.clone().or(ends.model);
    ends
}

/// `acceptEdits` as `accept-edits`.
fn kebab(mode: &str) -> String {
    let mut out = String::with_capacity(mode.len() + 2);
    for c in mode.chars() {
        if c.is_ascii_uppercase() {
            if !out.is_empty() {
                out.push('-');
            }
            out.push(c.to_ascii_lowercase());
        } else {
            out.push(c);
        }
    }
    out
}
