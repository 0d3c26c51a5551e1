//! The manifest of a session that is written, and the row of the index, if there is one.

use super::edit::{Form, written};
use crate::carried_header;
use crate::facts;
use crate::session;
use crate::time;
use sepia_ir::{CheckpointRef, DriverError, ErrorCode, Session, SqlValue, TokenUsage};
use sepia_sdk::Host;
use sepia_sdk::json::{Str, members, parse};
use sepia_sdk::metadata::{self, Members};

/// Longest title, in units of UTF-16: what the agent cuts titles to.
const TITLE: usize = 120;
/// Of a first prompt that is longer, only the start stands in the manifest.
const PROMPT: usize = 256 << 10;
/// More than this is not carried of a header, so that the manifest stays one that is read.
const CARRIED: usize = 4 << 20;

members! {
    /// Metadata of a session, of the agent's own or another's.
    Own {
        status: Str<'a> = "status",
        version: Str<'a> = "version",
        source: Str<'a> = "source",
        provider: Str<'a> = "provider",
        workspace_root: Str<'a> = "workspaceRoot",
        team: Str<'a> = "team",
        git_branch: Str<'a> = "gitBranch",
    }
}

/// What was learned of the session while its nodes were written.
#[derive(Debug, Default)]
pub(super) struct Learned {
    /// Tokens and dollars of the messages.
    pub(super) usage: TokenUsage,
    /// The first prompt.
    pub(super) prompt: Option<String>,
    /// The prompts are those that the header has.
    pub(super) same_prompts: bool,
}

/// A manifest, and what of the header it does not keep.
pub(super) struct Manifest {
    pub(super) json: String,
    /// Columns of the row of the same session.
    pub(super) columns: Vec<(&'static str, SqlValue)>,
    /// Members of the header that are too long to be carried.
    pub(super) lost: Option<&'static str>,
}

/// The title as the agent keeps it; none when there is none.
pub(super) fn title(title: &str) -> Option<String> {
    let mut units = 0;
    let fits = |c: &char| {
        units += c.len_utf16();
        units <= TITLE
    };
    let cut: String = title.trim().chars().take_while(fits).collect();
    Some(cut.trim_end().to_owned()).filter(|title| !title.is_empty())
}

/// ISO 8601 of epoch seconds, in UTC and to the millisecond, as the agent writes times.
pub(super) fn iso(seconds: f64) -> Option<String> {
    #[expect(clippy::cast_possible_truncation, reason = "checked by jiff")]
    let milliseconds = time::milliseconds(seconds) as i64;
    let time = jiff::Timestamp::from_millisecond(milliseconds).ok()?;
    (seconds > 0.0).then(|| time.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string())
}

/// Epoch seconds of now.
pub(super) fn now() -> f64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map(|since| since.as_secs_f64()).unwrap_or_default()
}

/// Makes the manifest of a session whose messages stand at this place.
pub(super) fn of(
    host: &Host,
    id: &str,
    header: &Session,
    messages_path: &str,
    learned: &Learned,
) -> Result<Manifest, DriverError> {
    let own: Own<'_> = parse(&header.metadata).unwrap_or_default();
    let text = metadata::string;
    let now = now();
    let ended = iso(header.last_activity_at).filter(|_| header.last_activity_at <= now);
    let ended = ended.or_else(|| iso(now)).unwrap_or_default();
    let started = iso(header.created_at).filter(|_| header.created_at <= now).unwrap_or_else(|| ended.clone());
    // A session that nobody runs has an end: the agent would take another for one that died.
    let status = own.status.get().filter(|status| ["completed", "failed", "cancelled"].contains(status));
    let status = status.unwrap_or("completed");
    let exit_code = i64::from(status == "failed");
    let title = title(&header.title);
    let prompt = learned.prompt.as_deref().map(|prompt| &prompt[..prompt.floor_char_boundary(PROMPT)]);
    let provider = own.provider.filled().unwrap_or("unknown");
    let model = Some(header.model.as_str()).filter(|model| !model.is_empty()).unwrap_or("unknown");
    let source = own.source.filled().unwrap_or("cli");
    let root = own.workspace_root.filled().unwrap_or(&header.working_directory);
    let mut meta: Vec<(String, String)> = Vec::new();
    let mut put = |key: &str, value: String| meta.push((key.to_owned(), value));
    if let Some(title) = &title {
        put("title", text(title));
    }
    let mut origin = Members::default();
    origin.text("mode", "user");
    origin.maybe("version", own.version.get());
    put("sessionHistoryOrigin", origin.finish());
    if let Some(branch) = own.git_branch.filled() {
        put("git", format!("{{\"branch\":{}}}", text(branch)));
    }
    if let Some(checkpoints) = checkpoints(&header.checkpoints) {
        put("checkpoint", checkpoints);
    }
    let usage = usage(&learned.usage);
    put("totalCost", number(learned.usage.cost.unwrap_or_default()));
    put("aggregatedAgentsCost", "0".to_owned());
    put("usage", usage.clone());
    put("aggregateUsage", usage);
    let put_together = |meta: &[(String, String)]| {
        let mut members: Vec<(String, String)> = Vec::new();
        let mut put = |key: &str, value: String| members.push((key.to_owned(), value));
        put("version", "1".to_owned());
        put("session_id", text(id));
        put("source", text(source));
        put("pid", "0".to_owned());
        put("started_at", text(&started));
        put("ended_at", text(&ended));
        put("exit_code", exit_code.to_string());
        put("status", text(status));
        put("interactive", "false".to_owned());
        put("provider", text(provider));
        put("model", text(model));
        put("cwd", text(&header.working_directory));
        put("workspace_root", text(root));
        if let Some(team) = own.team.filled() {
            put("team_name", text(team));
        }
        for name in ["enable_tools", "enable_spawn", "enable_teams"] {
            put(name, "true".to_owned());
        }
        if let Some(prompt) = prompt {
            put("prompt", text(prompt));
        }
        put("metadata", written(meta, Form::File(2)));
        put("messages_path", text(messages_path));
        written(&members, Form::File(0)) + "\n"
    };
    // What the reader would tell of it decides what has to ride along.
    let native = match facts::of_manifest(put_together(&meta).as_bytes(), id) {
        (facts, None) => session::of_facts(host, id, &facts, now)?,
        (_, Some(wrong)) => {
            let message = format!("the session can't be given a manifest that the agent reads: {wrong}");
            return Err(DriverError::new(ErrorCode::Invalid, message));
        }
    };
    let native = as_read(native, header, learned.same_prompts, title.is_none());
    let mut lost = None;
    if let Some(mut carried) = carried_header::difference(header, &native, title.as_deref(), &ended) {
        if carried.len() > CARRIED {
            lost = Some("the prompts and the metadata of the session are too long to be carried");
            let bare = Session {
                prompt_history: native.prompt_history.clone(),
                metadata: sepia_ir::json_text::null(),
                ..header.clone()
            };
            carried = carried_header::difference(&bare, &native, title.as_deref(), &ended).unwrap_or_default();
        }
        if !carried.is_empty() {
            meta.push((sepia_sdk::carried::KEY.to_owned(), carried));
        }
    }
    let column = |text: &str| SqlValue::Text(text.to_owned());
    let compact: Vec<String> = meta.iter().map(|(key, value)| format!("{}:{value}", text(key))).collect();
    let columns = vec![
        ("started_at", column(&started)),
        ("ended_at", column(&ended)),
        ("exit_code", SqlValue::Integer(exit_code)),
        ("status", column(status)),
        ("provider", column(provider)),
        ("model", column(model)),
        ("cwd", column(&header.working_directory)),
        ("workspace_root", column(root)),
        ("prompt", prompt.map_or(SqlValue::Null, column)),
        ("metadata_json", SqlValue::Text(format!("{{{}}}", compact.join(",")))),
        ("messages_path", column(messages_path)),
    ];
    Ok(Manifest { json: put_together(&meta), columns, lost })
}

/// What is read of the header, apart from the members of the store that are told by the messages.
fn as_read(mut native: Session, header: &Session, same_prompts: bool, untitled: bool) -> Session {
    if same_prompts {
        native.prompt_history.clone_from(&header.prompt_history);
    } else if header.prompt_history.is_empty() {
        native.prompt_history = vec![sepia_ir::PromptHistoryEntry::default()];
    }
    if native_checkpoints(&header.checkpoints) {
        native.checkpoints.clone_from(&header.checkpoints);
    }
    if untitled {
        native.title.clone_from(&header.title);
    }
    // These are decided by the place.
    native.main_chain_id = header.main_chain_id;
    native
}

/// Whether the agent has these as they are: points in the person's own repository, one a turn.
fn native_checkpoints(checkpoints: &[CheckpointRef]) -> bool {
    let native = |checkpoint: &CheckpointRef| {
        matches!(checkpoint.kind.as_deref(), Some("commit" | "stash"))
            && checkpoint.run_count.is_some()
            && checkpoint.created_at.is_finite()
            && !checkpoint.ref_.is_empty()
    };
    checkpoints.iter().enumerate().all(|(at, checkpoint)| native(checkpoint) && !checkpoints[..at].contains(checkpoint))
}

fn checkpoints(checkpoints: &[CheckpointRef]) -> Option<String> {
    if checkpoints.is_empty() || !native_checkpoints(checkpoints) {
        return None;
    }
    let history: Vec<String> = checkpoints
        .iter()
        .map(|checkpoint| {
            let mut members = Members::default();
            members.text("ref", &checkpoint.ref_);
            members.raw("createdAt", &number(checkpoint.created_at));
            members.maybe_number("runCount", checkpoint.run_count);
            members.maybe("kind", checkpoint.kind.as_deref());
            members.finish()
        })
        .collect();
    let latest = history.last().cloned().unwrap_or_default();
    Some(format!("{{\"latest\":{latest},\"history\":[{}]}}", history.join(",")))
}

fn usage(usage: &TokenUsage) -> String {
    let mut members = Members::default();
    let read = usage.cache_read.unwrap_or_default();
    members.raw("inputTokens", &number(usage.input + read));
    members.raw("outputTokens", &number(usage.output));
    members.raw("cacheReadTokens", &number(read));
    members.raw("cacheWriteTokens", &number(usage.cache_write.unwrap_or_default()));
    members.raw("totalCost", &number(usage.cost.unwrap_or_default()));
    members.finish()
}

/// A number as JSON.
fn number(number: f64) -> String {
    if number.is_finite() { number.to_string() } else { "0".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::{iso, title};

    #[test]
    fn times_are_written_as_the_agent_writes_them() {
        assert_eq!(iso(1_796_033_865.816).as_deref(), Some("2026-11-30T10:17:45.816Z"));
        assert_eq!(iso(1_767_225_600.0).as_deref(), Some("2026-01-01T00:00:00.000Z"));
        assert_eq!((iso(0.0), iso(f64::NAN), iso(1e300)), (None, None, None));
    }

    #[test]
    fn titles_are_cut_where_the_agent_cuts_them() {
        assert_eq!(title(" Cart ").as_deref(), Some("Cart"));
        assert_eq!(title(&"x".repeat(200)).map(|title| title.len()), Some(120));
        assert_eq!(title(&"😀".repeat(200)).map(|title| title.chars().count()), Some(60));
        assert_eq!(title("  "), None);
    }
}
