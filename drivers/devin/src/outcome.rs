//! What became of a tool call. Three places tell, each weightier than the one before: the
//! snapshot of the call in the message that made it, the row of the result, and the last
//! update that the agent keeps in `tool_call_state`.

use crate::message::Chat;
use crate::place::Opened;
use crate::schema::Schema;
use crate::value::{Columns, text};
use sepia_ir::{Diff, DriverError, Location, ToolCall, ToolCallStatus, ToolResult, Warning};
use sepia_sdk::json::{List, Number, Object, Raw, Str, Whole, members, part};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// As far as one place tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub(crate) status: Option<ToolCallStatus>,
    pub(crate) exit_code: Option<i64>,
    pub(crate) duration_ms: Option<f64>,
}

impl Outcome {
    /// With what a weightier place tells.
    fn under(self, over: Self) -> Self {
        Self {
            status: over.status.or(self.status),
            exit_code: over.exit_code.or(self.exit_code),
            duration_ms: over.duration_ms.or(self.duration_ms),
        }
    }

    /// Writes it onto its call.
    pub(crate) fn fold(self, call: &mut ToolCall) {
        call.status = self.status.or(call.status);
        call.exit_code = self.exit_code.or(call.exit_code);
        call.duration_ms = self.duration_ms.or(call.duration_ms);
    }

    /// As the result of a row that is there.
    pub(crate) fn result(self) -> ToolResult {
        ToolResult {
            status: self.status.unwrap_or(ToolCallStatus::Success),
            exit_code: self.exit_code,
            duration_ms: self.duration_ms,
        }
    }
}

fn status(word: &str) -> Option<ToolCallStatus> {
    match word {
        "completed" => Some(ToolCallStatus::Success),
        "failed" => Some(ToolCallStatus::Error),
        "pending" | "in_progress" => Some(ToolCallStatus::Pending),
        _ => None,
    }
}

members! {
    Meta {
        success: Raw<'a> = "success",
        kind: Str<'a> = "kind",
    }
}

members! {
    Terminal {
        exit: Exit<'a> = "exit",
    }
}

members! {
    Exit {
        code: Whole = "exit_code",
    }
}

members! {
    Timing {
        duration: Number = "duration_ms",
    }
}

/// What the row of a result tells, and the tool's name in it.
pub(crate) fn of_result(chat: &Chat<'_>) -> (Outcome, Option<String>) {
    let extensions = &chat.about.extensions;
    let mut meta: Meta<'_> = part(extensions.get("chisel/tool_result_meta"));
    let failed = meta.success.is_some_and(|success| success.get() == "false");
    let terminal: Terminal<'_> = part(extensions.get("chisel/terminal_output"));
    let timing: Timing<'_> = part(extensions.get("chisel/tool_call_timing"));
    let outcome = Outcome {
        status: Some(if failed { ToolCallStatus::Error } else { ToolCallStatus::Success }),
        exit_code: terminal.exit.code.0,
        duration_ms: timing.duration.0.filter(|duration| *duration >= 0.0),
    };
    (outcome, meta.kind.take_owned().filter(|kind| !kind.is_empty()))
}

members! {
    /// A call as it stood when its message was written.
    Snapshot {
        status: Str<'a> = "status",
        locations: List<Place<'a>> = "locations",
        content: List<Shown<'a>> = "content",
    }
}

members! {
    Place {
        path: Str<'a> = "path",
        line: Whole = "line",
    }
}

members! {
    /// Content of a call; only changes of files are looked at.
    Shown {
        kind: Str<'a> = "type",
        path: Str<'a> = "path",
        old: Str<'a> = "oldText",
        new: Str<'a> = "newText",
    }
}

/// Writes onto the calls of a message what their snapshots tell.
pub(crate) fn of_snapshots(snapshots: Raw<'_>, calls: &mut [ToolCall]) {
    if calls.is_empty() || snapshots.is_none() {
        return;
    }
    let snapshots: Object<'_> = part(snapshots);
    for call in calls {
        let snapshot: Snapshot<'_> = part(snapshots.get(&call.id));
        call.status = snapshot.status.get().and_then(status);
        for mut place in snapshot.locations.items {
            if let Some(path) = place.path.take_owned() {
                call.locations.push(Location { path, line: place.line.0 });
            }
        }
        for mut shown in snapshot.content.items {
            if shown.kind.get() == Some("diff")
                && let Some(path) = shown.path.take_owned()
            {
                call.diffs.push(Diff { path, old_text: shown.old.take_owned(), new_text: shown.new.take_owned() });
            }
        }
    }
}

/// The last update of each call of a session.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub(crate) struct Updates {
    outcomes: HashMap<String, Outcome>,
}

impl Updates {
    /// The query whose rows [`Updates::take`] takes; none when the version of the store keeps no
    /// updates. An update that is not there is none: the call is still at work.
    pub(crate) fn sql(schema: &Schema) -> Option<&'static str> {
        // The texts may be long (they hold what a tool printed), and little of them is needed.
        schema.has("tool_call_state", &["session_id", "tool_call_id", "tool_call_update_json"]).then_some(
            "SELECT tool_call_id, fine, CASE WHEN fine THEN json_extract(u, '$.status') END, \
             CASE WHEN fine THEN json_extract(u, '$._meta.\"cognition.ai/terminal_exit\".exit_code') END \
             FROM (SELECT tool_call_id, tool_call_update_json AS u, json_valid(tool_call_update_json) AS fine \
             FROM tool_call_state WHERE session_id = ?1 AND tool_call_update_json IS NOT NULL)",
        )
    }

    /// Reads the updates of a session.
    pub(crate) fn read(opened: &Opened, session: &str) -> Result<(Self, Vec<Warning>), DriverError> {
        let (mut updates, mut warnings) = (Self::default(), Vec::new());
        if let Some(sql) = Self::sql(&opened.schema) {
            for row in opened.database.rows(sql, &[text(session)])? {
                warnings.extend(updates.take(&mut Columns::of(row)));
            }
        }
        Ok((updates, warnings))
    }

    /// Notes the update of a call that is being written; whether it is the first of that call.
    pub(crate) fn note(&mut self, call: &str, outcome: Outcome) -> bool {
        if self.outcomes.contains_key(call) {
            return false;
        }
        self.outcomes.insert(call.to_owned(), outcome);
        true
    }

    /// Takes a row; a warning when it can't be read.
    pub(crate) fn take(&mut self, row: &mut Columns) -> Option<Warning> {
        let call = row.text()?;
        if !row.flag() {
            let message = format!("the state of tool call `{call}` is no JSON; the result in the conversation counts");
            return Some(Warning::new("broken-tool-state", message));
        }
        let status = row.text().as_deref().and_then(status);
        self.outcomes.insert(call, Outcome { status, exit_code: row.whole(), duration_ms: None });
        None
    }

    /// What is known of a call in the end, `result` being what its row tells.
    pub(crate) fn over(&self, call: &str, result: Option<Outcome>) -> Outcome {
        result.unwrap_or_default().under(self.outcomes.get(call).copied().unwrap_or_default())
    }
}
