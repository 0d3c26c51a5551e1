//! Laws of one session as a whole.

use super::{Facts, Verdict, Verdicts, laws, must, same};
use crate::subject::Subject;
use sepia_ir::{MessageNode, Session, SessionRef};
use serde_json::{Value, json};

pub(crate) fn all(subject: &dyn Subject, facts: &Facts<'_>, header: &Session, nodes: &[MessageNode]) -> Verdicts {
    laws![
        header_agrees_with_the_row(facts, header),
        summary_of_agrees_with_the_list(subject, facts),
        a_sub_agent_is_found_by_its_parent(subject, facts, header),
        batches_are_the_same_in_any_size(subject, facts, header, nodes),
        lists_in_text_are_lists(header),
        metadata_is_an_object(header),
        times_of_the_session_are_plausible(facts, header),
        native_copies_are_stable(subject, facts),
    ]
}

/// What the list says of a session, the session says too.
fn header_agrees_with_the_row(facts: &Facts<'_>, header: &Session) -> Verdict {
    must(header.nodes.is_empty(), || "a header has nodes".to_owned())?;
    same("the header and the row", &shared(header), &shared(facts.row))?;
    let row = facts.row.main_chain_id;
    must(row == 0 || row == header.main_chain_id, || {
        format!("the row's tip is {row}, the header's {}", header.main_chain_id)
    })
}

fn shared(session: &Session) -> Value {
    json!({
        "id": session.id,
        "title": session.title,
        "workingDirectory": session.working_directory,
        "backendType": session.backend_type,
        "agentMode": session.agent_mode,
        "model": session.model,
        "createdAt": session.created_at,
        "lastActivityAt": session.last_activity_at,
        "hidden": session.hidden,
        "workspaceDirs": session.workspace_dirs,
        "parentSessionId": session.parent_session_id,
        "agentId": session.agent_id,
    })
}

/// Asked for alone, a row is the one of the list, with stats.
fn summary_of_agrees_with_the_list(subject: &dyn Subject, facts: &Facts<'_>) -> Verdict {
    let row = subject.summary_of(&facts.session).map_err(|e| e.to_string())?;
    must(row.nodes.is_empty() && row.prompt_history.is_empty(), || "a summary has nodes".to_owned())?;
    same("the summary and the row", &shared(&row), &shared(facts.stats))?;
    let stats = |session: &Session| -> Option<Value> {
        Some(serde_json::from_str::<Value>(&session.metadata).ok()?.get("stats")?.clone())
    };
    same("the stats of the summary and of the row", &stats(&row), &stats(facts.stats))
}

/// The id of the parent with the sub-agent's own is as good as the id as listed.
fn a_sub_agent_is_found_by_its_parent(subject: &dyn Subject, facts: &Facts<'_>, header: &Session) -> Verdict {
    let (Some(parent), Some(agent)) = (&facts.row.parent_session_id, &facts.row.agent_id) else { return Ok(()) };
    let by_parent = SessionRef { id: parent.clone(), agent_id: Some(agent.clone()) };
    let opened = subject.open(&by_parent, 256).map_err(|e| e.to_string())?;
    same("the headers by id and by parent", header, &opened.header)?;
    let row = subject.summary_of(&by_parent).map_err(|e| e.to_string())?;
    same("the summaries by id and by parent", &shared(&row), &shared(facts.stats))
}

/// Batches have one node at least and no more than asked for, and together are the session.
fn batches_are_the_same_in_any_size(
    subject: &dyn Subject,
    facts: &Facts<'_>,
    header: &Session,
    nodes: &[MessageNode],
) -> Verdict {
    for max in [1, 3, 64, usize::try_from(u32::MAX).unwrap_or(usize::MAX)] {
        if max < 64 && nodes.len() > 2_000 {
            continue;
        }
        let opened = subject.open(&facts.session, max).map_err(|e| e.to_string())?;
        must(opened.batches.iter().all(|batch| !batch.is_empty()), || "an empty batch before the end".to_owned())?;
        let (again, all) = opened.into_nodes();
        must(again == *header, || format!("the header differs when read by {max}"))?;
        must(all == nodes, || format!("the nodes differ when read by {max}"))?;
    }
    Ok(())
}

/// `cogsJson` and `workspaceDirs` are texts of JSON lists.
fn lists_in_text_are_lists(header: &Session) -> Verdict {
    for (name, text) in [("cogsJson", &header.cogs_json), ("workspaceDirs", &header.workspace_dirs)] {
        let list = serde_json::from_str::<Value>(text);
        must(matches!(list, Ok(Value::Array(_))), || format!("{name} is {text:?}, no list"))?;
    }
    Ok(())
}

/// Metadata is JSON: nothing, or an object; warnings in it have a code and a message.
fn metadata_is_an_object(header: &Session) -> Verdict {
    let metadata: Value =
        serde_json::from_str(&header.metadata).map_err(|e| format!("the metadata is no JSON: {e}"))?;
    must(metadata.is_null() || metadata.is_object(), || "the metadata is no object".to_owned())?;
    let Some(warnings) = metadata.get("warnings") else { return Ok(()) };
    let Some(warnings) = warnings.as_array() else { return Err("metadata.warnings is no list".to_owned()) };
    for warning in warnings {
        let said = |name: &str| warning[name].as_str().is_some_and(|text| !text.is_empty());
        must(said("code") && said("message"), || format!("a warning without code or message: {warning}"))?;
    }
    Ok(())
}

/// Finite, not negative, in order, and no later than tomorrow.
fn times_of_the_session_are_plausible(facts: &Facts<'_>, header: &Session) -> Verdict {
    let (created, active) = (header.created_at, header.last_activity_at);
    must(created.is_finite() && active.is_finite(), || "a time is no number".to_owned())?;
    must(0.0 <= created && created <= active, || format!("created at {created}, last active at {active}"))?;
    must(active <= facts.now + 86_400.0, || format!("last active at {active}, in the future"))
}

/// Unsupported, or the same bytes each time, with a name that is no path.
fn native_copies_are_stable(subject: &dyn Subject, facts: &Facts<'_>) -> Verdict {
    let copy = match subject.native(&facts.session) {
        Err(e) if e.is_unsupported() => return Ok(()),
        copy => copy.map_err(|e| e.to_string())?,
    };
    must(!copy.name.is_empty() && !copy.name.contains(['/', '\0']), || format!("the name {:?}", copy.name))?;
    let again = subject.native(&facts.session).map_err(|e| e.to_string())?;
    must(copy == again, || "two native copies differ".to_owned())
}
