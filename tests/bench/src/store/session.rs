//! One transcript, record by record, and what is true of it.

use super::random::Random;
use super::words;
use crate::Failed;
use crate::truth::{Known, Tokens};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A transcript being written.
pub(super) struct Writer<'a> {
    random: &'a mut Random,
    out: BufWriter<File>,
    bytes: u64,
    /// The session that the records name.
    session: String,
    /// Set in the transcript of a sub-agent.
    agent: Option<String>,
    cwd: String,
    branch: &'static str,
    time: Timestamp,
    last: Option<String>,
    usage: Tokens,
}

const MODEL: &str = "claude-opus-4-6";
/// 2026-01-01.
const FIRST_DAY: i64 = 1_767_225_600;

impl<'a> Writer<'a> {
    /// Writes a session of about so many bytes, with its sub-agents.
    pub(super) fn write(random: &'a mut Random, place: &Path, cwd: &str, bytes: u64) -> Result<Known, Failed> {
        let id = random.uuid();
        let folder = PathBuf::from("claude/projects").join(cwd.replace(['/', '.'], "-"));
        let path = folder.join(format!("{id}.jsonl"));
        fs::create_dir_all(place.join(&folder))?;
        let since = i64::try_from(random.below(300 * 86_400_000))?;
        let time = Timestamp::from_millisecond(FIRST_DAY * 1_000 + since)?;
        let agents = if random.percent(20) { 1 + random.below(2) } else { 0 };
        let mut writer = Writer::open(&mut *random, &place.join(&path), &id, None, cwd, time)?;
        let (title, first_prompt) = writer.conversation(bytes)?;
        let (mut known, until) = writer.close(&place.join(&path), id, path)?;
        (known.title, known.first_prompt) = (title, first_prompt);
        for _ in 0..agents {
            let agent = random.hex(17);
            let folder = place.join(&folder).join(&known.id).join("subagents");
            fs::create_dir_all(&folder)?;
            let note = json!({ "agentType": "Explore", "description": words::title(random) });
            fs::write(folder.join(format!("agent-{agent}.meta.json")), note.to_string())?;
            let file = folder.join(format!("agent-{agent}.jsonl"));
            let most = 5_000 + random.below(60_000);
            let mut writer = Writer::open(&mut *random, &file, &known.id, Some(agent), cwd, until)?;
            writer.turn(most)?;
            let (of_agent, _) = writer.close(&file, String::new(), PathBuf::new())?;
            known.usage_subagents += of_agent.usage;
        }
        Ok(known)
    }

    fn open(
        random: &'a mut Random,
        file: &Path,
        session: &str,
        agent: Option<String>,
        cwd: &str,
        time: Timestamp,
    ) -> Result<Self, Failed> {
        let branch = ["main", "dev", "fix/tide"][usize::try_from(random.below(3))?];
        Ok(Self {
            random,
            out: BufWriter::with_capacity(256 << 10, File::create(file)?),
            bytes: 0,
            session: session.to_owned(),
            agent,
            cwd: cwd.to_owned(),
            branch,
            time,
            last: None,
            usage: Tokens::default(),
        })
    }

    /// Ends the file; its time is that of its last record.
    fn close(self, path: &Path, id: String, relative: PathBuf) -> Result<(Known, Timestamp), Failed> {
        let file = self.out.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        let at = SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(self.time.as_millisecond())? + 1);
        file.set_modified(at)?;
        let bytes = fs::metadata(path)?.len();
        let known = Known { id, path: relative, cwd: self.cwd, bytes, usage: self.usage, ..Known::default() };
        Ok((known, self.time))
    }

    /// Turns until the size is reached, with a title somewhere; the title and the first prompt.
    fn conversation(&mut self, bytes: u64) -> Result<(Option<String>, String), Failed> {
        let kind = self.random.below(100);
        let title_at = self.random.below(bytes);
        let mut title = None;
        let mut first = None;
        while self.bytes < bytes || first.is_none() {
            if title.is_none() && self.bytes >= title_at && first.is_some() {
                title = self.title(kind)?;
            }
            if self.bytes > 300_000 && self.random.percent(2) {
                self.compaction()?;
            }
            let tip = self.last.clone();
            let prompt = self.turn(40_000.min(bytes))?;
            first.get_or_insert(prompt);
            if self.random.percent(1) && self.bytes < bytes {
                // A rewind: what follows goes on from before this turn.
                self.last = tip;
            }
        }
        Ok((title, first.unwrap_or_default()))
    }

    fn title(&mut self, kind: u64) -> Result<Option<String>, Failed> {
        let title = words::title(self.random);
        let record = match kind {
            0..55 => ["ai-title", "aiTitle"],
            55..65 => {
                self.titled(["ai-title", "aiTitle"], "given before")?;
                ["custom-title", "customTitle"]
            }
            65..70 => ["summary", "summary"],
            _ => return Ok(None),
        };
        self.titled(record, &title)?;
        Ok(Some(title))
    }

    fn titled(&mut self, [kind, member]: [&str; 2], title: &str) -> Result<(), Failed> {
        let of = if kind == "summary" { ("leafUuid", json!(self.last)) } else { ("sessionId", json!(self.session)) };
        self.put(&[("type", json!(kind)), (member, json!(title)), of])
    }

    /// A prompt and what the model does about it, up to so many bytes; the prompt.
    fn turn(&mut self, most: u64) -> Result<String, Failed> {
        let prompt = words::request(self.random);
        let mut content = vec![json!({ "type": "text", "text": prompt })];
        if self.random.percent(2) && self.agent.is_none() {
            let length = usize::try_from(20_000 + self.random.below(200_000))?;
            let data = self.random.base64(length);
            content.push(
                json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": data } }),
            );
        }
        self.record("user", &[("message", json!({ "role": "user", "content": content }))])?;
        if self.random.percent(30) && self.agent.is_none() {
            let snapshot =
                json!({ "messageId": self.last, "trackedFileBackups": {}, "timestamp": self.time.to_string() });
            let kind = ("type", json!("file-history-snapshot"));
            let rest = [("snapshot", snapshot), ("isSnapshotUpdate", json!(false))];
            self.put(&[&[kind, ("messageId", json!(self.last))], &rest[..]].concat())?;
        }
        let end = self.bytes + self.random.below(most).max(1);
        loop {
            let done = self.bytes >= end;
            self.message(!done)?;
            if done {
                return Ok(prompt);
            }
        }
    }

    /// A message of the model: thinking, text, calls, each a line; then the results.
    fn message(&mut self, calls: bool) -> Result<(), Failed> {
        let id = format!("msg_{}", self.random.hex(24));
        let usage = Tokens {
            input: 1 + self.random.below(40),
            output: 10 + self.random.below(1_500),
            cache_creation: self.random.below(9_000),
            cache_read: self.random.below(150_000),
        };
        self.usage += usage;
        let mut blocks = Vec::new();
        if self.random.percent(40) {
            let (length, sealed) = (100 + self.random.below(1_500), self.random.base64(400));
            blocks.push(
                json!({ "type": "thinking", "thinking": words::prose(self.random, length), "signature": sealed }),
            );
        }
        if !calls || self.random.percent(50) {
            let length = 40 + self.random.below(900);
            blocks.push(json!({ "type": "text", "text": words::prose(self.random, length) }));
        }
        let mut called = Vec::new();
        if calls {
            for _ in 0..=self.random.skewed(3) {
                let call = format!("toolu_{}", self.random.hex(22));
                let input = json!({ "command": words::title(self.random), "description": words::request(self.random) });
                blocks.push(json!({ "type": "tool_use", "id": call, "name": "Bash", "input": input }));
                called.push(call);
            }
        }
        let early = self.random.percent(30);
        let count = blocks.len();
        let mut lines = Vec::new();
        for (at, block) in blocks.into_iter().enumerate() {
            let last = at + 1 == count;
            let output = if early && !last { 1 } else { usage.output };
            let stop = if early && !last { Value::Null } else { json!(if calls { "tool_use" } else { "end_turn" }) };
            let message = json!({ "id": id, "type": "message", "role": "assistant", "model": MODEL, "content": [block],
                "stop_reason": stop, "usage": { "input_tokens": usage.input, "output_tokens": output,
                "cache_creation_input_tokens": usage.cache_creation, "cache_read_input_tokens": usage.cache_read } });
            let request = json!(format!("req_{}", &id[4..]));
            self.record("assistant", &[("message", message), ("requestId", request)])?;
            lines.push(self.last.clone());
        }
        let of_calls = lines.split_off(lines.len() - called.len());
        for (call, line) in called.into_iter().zip(of_calls) {
            // Each result follows the line of its own call, so that the tree forks.
            self.last = line;
            let length = 100 + self.random.skewed(12_000);
            let (text, failed) = (words::output(self.random, length), self.random.percent(5));
            let result = json!({ "type": "tool_result", "tool_use_id": call, "content": text, "is_error": failed });
            let twice = json!({ "stdout": text, "stderr": "", "interrupted": false });
            let message = json!({ "role": "user", "content": [result] });
            self.record("user", &[("message", message), ("toolUseResult", twice)])?;
        }
        Ok(())
    }

    fn compaction(&mut self) -> Result<(), Failed> {
        let before = self.last.take();
        let boundary = [
            ("logicalParentUuid", json!(before)),
            ("subtype", json!("compact_boundary")),
            ("content", json!("Conversation compacted")),
            ("compactMetadata", json!({ "trigger": "auto", "preTokens": 180_000 })),
        ];
        self.record("system", &boundary)?;
        let length = 2_000 + self.random.below(6_000);
        let text = format!(
            "This session is being continued from a previous conversation. {}",
            words::prose(self.random, length)
        );
        let message = json!({ "role": "user", "content": text });
        self.record("user", &[("message", message), ("isCompactSummary", json!(true))])
    }

    /// A record of the tree, after the last one.
    fn record(&mut self, kind: &str, own: &[(&str, Value)]) -> Result<(), Failed> {
        let uuid = self.random.uuid();
        self.time =
            self.time.checked_add(SignedDuration::from_millis(i64::try_from(50 + self.random.below(20_000))?))?;
        let mut record = vec![("parentUuid", json!(self.last)), ("isSidechain", json!(self.agent.is_some()))];
        record.extend(self.agent.as_ref().map(|agent| ("agentId", json!(agent))));
        record.push(("type", json!(kind)));
        record.extend_from_slice(own);
        record.extend([
            ("uuid", json!(uuid)),
            ("timestamp", json!(format!("{:.3}", self.time))),
            ("userType", json!("external")),
            ("entrypoint", json!("cli")),
            ("cwd", json!(self.cwd)),
            ("sessionId", json!(self.session)),
            ("version", json!("2.1.40")),
            ("gitBranch", json!(self.branch)),
        ]);
        self.last = Some(uuid);
        self.put(&record)
    }

    /// A line with these members, in this order, without blanks: as the agent writes it.
    fn put(&mut self, members: &[(&str, Value)]) -> Result<(), Failed> {
        let members: Vec<String> = members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        let line = format!("{{{}}}\n", members.join(","));
        self.bytes += line.len() as u64;
        Ok(self.out.write_all(line.as_bytes())?)
    }
}
