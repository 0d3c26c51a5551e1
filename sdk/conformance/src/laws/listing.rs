//! Laws of listing.

use super::{Listed, Verdict, Verdicts, laws, must, same};
use crate::subject::Subject;
use sepia_ir::{Session, Summary, SummaryDetail};
use std::collections::HashSet;

pub(crate) fn all(subject: &dyn Subject, listed: &Listed) -> Verdicts {
    laws![
        keys_are_unique(listed),
        scan_is_stable(subject, listed),
        summaries_follow_the_keys(listed),
        summaries_do_not_depend_on_company(subject, listed),
        a_key_that_is_gone_is_an_empty_summary(subject, listed),
        session_ids_are_unique(listed),
        an_id_that_the_key_tells_is_the_id(listed),
        a_key_of_sub_agents_has_only_those(listed),
        rows_have_no_nodes(listed),
        stats_add_to_the_row(listed),
        locks_are_well_formed(subject),
    ]
}

/// No key comes twice, none is empty or longer than 4 KiB, and each has a stamp.
fn keys_are_unique(listed: &Listed) -> Verdict {
    let mut met = HashSet::new();
    for entry in &listed.scan.entries {
        must((1..=4096).contains(&entry.key.len()), || format!("a key of {} bytes", entry.key.len()))?;
        must(!entry.stamp.is_empty(), || format!("key {:?} has no stamp", entry.key))?;
        must(met.insert(&entry.key), || format!("key {:?} comes twice", entry.key))?;
        must(entry.changed_at.is_finite() && entry.changed_at >= 0.0, || {
            format!("key {:?} changed at {}", entry.key, entry.changed_at)
        })?;
    }
    Ok(())
}

/// A store that does not change gives the same scan, in the same order.
fn scan_is_stable(subject: &dyn Subject, listed: &Listed) -> Verdict {
    same("two scans", &listed.scan, &subject.scan().map_err(|e| e.to_string())?)
}

/// One summary a key, in the order of the keys.
fn summaries_follow_the_keys(listed: &Listed) -> Verdict {
    for summaries in [&listed.rows, &listed.stats] {
        let keys: Vec<&str> = summaries.iter().map(|summary| summary.key.as_str()).collect();
        must(keys == listed.keys, || "the summaries are not those of the keys, in their order".to_owned())?;
    }
    Ok(())
}

/// Each key alone, and all keys backwards, give the same rows as all at once.
fn summaries_do_not_depend_on_company(subject: &dyn Subject, listed: &Listed) -> Verdict {
    let ask = |keys: &[String]| subject.summaries(keys, SummaryDetail::Row).map_err(|e| e.to_string());
    let backwards: Vec<String> = listed.keys.iter().rev().cloned().collect();
    let mut again = ask(&backwards)?;
    again.reverse();
    same("the rows of all keys and of all keys backwards", &listed.rows, &again)?;
    // A handful is enough to tell, and a store may be large.
    for (key, row) in listed.keys.iter().zip(&listed.rows).take(16) {
        same("the rows of a key alone and in company", &vec![row], &ask(std::slice::from_ref(key))?)?;
    }
    must(ask(&[])?.is_empty(), || "no keys give some summaries".to_owned())
}

/// A key that does not exist is no error; the others still come.
fn a_key_that_is_gone_is_an_empty_summary(subject: &dyn Subject, listed: &Listed) -> Verdict {
    let gone = ["gone", "../../etc/passwd", "/etc/passwd", "", "a\0b", "%2e%2e/x"].map(str::to_owned);
    let keys: Vec<String> = gone.iter().cloned().chain(listed.keys.first().cloned()).collect();
    for detail in [SummaryDetail::Row, SummaryDetail::Stats] {
        let found = subject.summaries(&keys, detail).map_err(|e| e.to_string())?;
        must(found.len() == keys.len(), || format!("{} summaries for {} keys", found.len(), keys.len()))?;
        for summary in &found[..gone.len()] {
            must(summary.sessions.is_empty(), || format!("the key {:?} has sessions", summary.key))?;
        }
        let alone = if detail == SummaryDetail::Row { listed.rows.first() } else { listed.stats.first() };
        same("the first key's rows", &found.get(gone.len()), &alone)?;
    }
    Ok(())
}

fn sessions(summaries: &[Summary]) -> impl Iterator<Item = &Session> {
    summaries.iter().flat_map(|summary| &summary.sessions)
}

/// No session id comes twice, and none is empty.
fn session_ids_are_unique(listed: &Listed) -> Verdict {
    let mut met = HashSet::new();
    for row in sessions(&listed.rows) {
        must(!row.id.is_empty(), || "a session without an id".to_owned())?;
        must(met.insert(&row.id), || format!("session {} comes twice", row.id))?;
    }
    Ok(())
}

/// `session-id` of a scan entry is among the rows of its key, unless it has none.
fn an_id_that_the_key_tells_is_the_id(listed: &Listed) -> Verdict {
    for (entry, summary) in listed.scan.entries.iter().zip(&listed.rows) {
        if let Some(id) = &entry.session_id {
            let found = summary.sessions.is_empty() || summary.sessions.iter().any(|row| row.id == *id);
            must(found, || format!("the key {:?} promises session {id}", entry.key))?;
        }
    }
    Ok(())
}

/// Each row of an entry that is said to be of sub-agents has a parent.
fn a_key_of_sub_agents_has_only_those(listed: &Listed) -> Verdict {
    for (entry, summary) in listed.scan.entries.iter().zip(&listed.rows).filter(|(entry, _)| entry.sub_agent) {
        let odd = summary.sessions.iter().find(|row| row.parent_session_id.is_none());
        must(odd.is_none(), || {
            format!("the key {:?} is of sub-agents, and has a session without a parent", entry.key)
        })?;
    }
    Ok(())
}

/// Rows are rows.
fn rows_have_no_nodes(listed: &Listed) -> Verdict {
    for row in sessions(&listed.rows).chain(sessions(&listed.stats)) {
        must(row.nodes.is_empty() && row.prompt_history.is_empty(), || format!("the row of {} has nodes", row.id))?;
    }
    Ok(())
}

/// A row with stats is the row, with more in its metadata. The tip of the live branch, too, may
/// be known only with stats: 0 in a row says nothing.
fn stats_add_to_the_row(listed: &Listed) -> Verdict {
    for (row, stats) in sessions(&listed.rows).zip(sessions(&listed.stats)) {
        let bare = |session: &Session| Session {
            metadata: "null".to_owned(),
            checkpoints: Vec::new(),
            main_chain_id: if row.main_chain_id == 0 { 0 } else { session.main_chain_id },
            ..session.clone()
        };
        same(&format!("the rows of {} with and without stats", row.id), &bare(row), &bare(stats))?;
    }
    Ok(())
}

/// Locks name sessions, each once.
fn locks_are_well_formed(subject: &dyn Subject) -> Verdict {
    let locks = subject.locks().map_err(|e| e.to_string())?;
    let mut met = HashSet::new();
    for lock in &locks {
        must(!lock.id.is_empty() && met.insert(&lock.id), || format!("lock {:?} is empty or comes twice", lock.id))?;
        must(lock.holder_pid != Some(0), || format!("session {} is held by process 0", lock.id))?;
    }
    Ok(())
}
