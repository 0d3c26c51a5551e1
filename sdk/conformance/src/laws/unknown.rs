//! Laws of sessions that do not exist. An id is looked up, never joined into a path.

use super::{Listed, Verdict, Verdicts, laws, must};
use crate::failure::Failure;
use crate::subject::Subject;
use sepia_ir::{Branch, HistoryQuery, SessionRef};

pub(crate) fn all(subject: &dyn Subject, listed: &Listed) -> Verdicts {
    let known = listed.rows.iter().flat_map(|summary| &summary.sessions).map(|row| row.id.as_str()).next();
    laws![ids_that_nobody_has_are_not_found(subject, known), sub_agents_that_nobody_has_are_not_found(subject, known)]
}

/// Ids that are paths, options, commands, names of devices, or a real id with something more.
fn strange_ids(known: Option<&str>) -> Vec<String> {
    let real = known.unwrap_or("S1");
    let mut ids: Vec<String> = [
        "",
        ".",
        "..",
        "/",
        "/etc/passwd",
        "%2e%2e%2fS1",
        "-h",
        "--dangerously-skip-permissions",
        "x\"; touch canary; \"",
        "$(touch canary)",
        "CON",
        "*",
        "00000000-0000-0000-0000-000000000000",
    ]
    .map(str::to_owned)
    .to_vec();
    ids.extend([
        format!("../{real}"),
        format!("..\\{real}"),
        format!("./{real}"),
        format!("{real}.jsonl"),
        format!("{real}/"),
        format!("{real}/subagents/x"),
        format!("{real}\0x"),
        format!("{real}\n"),
        format!(" {real}"),
        format!("{real}\u{202e}"),
        "x".repeat(5_000),
    ]);
    ids
}

/// Every function says `not-found` of each of them.
fn ids_that_nobody_has_are_not_found(subject: &dyn Subject, known: Option<&str>) -> Verdict {
    for id in strange_ids(known) {
        not_found_anywhere(subject, &SessionRef { id, agent_id: None })?;
    }
    Ok(())
}

/// Nor is a sub-agent found that its parent does not have.
fn sub_agents_that_nobody_has_are_not_found(subject: &dyn Subject, known: Option<&str>) -> Verdict {
    let Some(known) = known else { return Ok(()) };
    for agent in strange_ids(None) {
        not_found_anywhere(subject, &SessionRef { id: known.to_owned(), agent_id: Some(agent) })?;
    }
    Ok(())
}

fn not_found_anywhere(subject: &dyn Subject, session: &SessionRef) -> Verdict {
    let query = HistoryQuery { limit: 10, before: None, branch: Branch::Live, index: None };
    not_found("summary-of", session, subject.summary_of(session))?;
    not_found("open", session, subject.open(session, 10))?;
    not_found("history", session, subject.history(session, &query))?;
    match subject.native(session) {
        Err(e) if e.is_unsupported() => Ok(()),
        outcome => not_found("native", session, outcome),
    }
}

fn not_found<T>(call: &str, session: &SessionRef, outcome: Result<T, Failure>) -> Verdict {
    let named = || {
        let start: String = session.id.chars().take(60).collect();
        format!("{call} of {start:?} (sub-agent {:?})", session.agent_id)
    };
    match outcome {
        Ok(_) => Err(format!("{} gives a session", named())),
        Err(e) => must(e.is_not_found(), || format!("{} says {e}", named())),
    }
}
