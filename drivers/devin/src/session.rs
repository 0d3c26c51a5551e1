//! A session looked up, and everything about it but its nodes.

use crate::facts::{Facts, Outline};
use crate::heads::Heads;
use crate::place::{self, Opened, Source};
use crate::row::{Listed, json_list, listed};
use crate::stats::Stats;
use crate::time;
use crate::value::{Columns, text};
use sepia_ir::{CheckpointRef, DriverError, ErrorCode, Session, SessionRef, SqlValue, Warning};
use sepia_sdk::Host;
use sepia_sdk::carried::KEY;
use sepia_sdk::json::{List, Number, Object, Str, Whole, members, parse, part};
use sepia_sdk::metadata::{Members, capped};
use serde::Serialize;
use std::rc::Rc;

/// Branches told one by one.
const MOST_BRANCHES: usize = 100;
/// Member of a session's stored metadata that holds checkpoints.
pub(crate) const CHECKPOINTS: &str = "sepia/checkpoints";
/// Members of our own in a session's metadata.
pub(crate) const OWN: [&str; 9] =
    [CHECKPOINTS, KEY, "titleSource", "timeSource", "spawnedAt", "toolUseId", "stats", "branches", "warnings"];

/// A session that was looked up.
pub(crate) struct Found {
    pub(crate) opened: Rc<Opened>,
    pub(crate) heads: Rc<Heads>,
    pub(crate) listed: Listed,
    pub(crate) stored: Option<Stored>,
}

/// Columns that a list does not need.
pub(crate) const STORED: [&str; 3] = ["shell_last_seen_index", "cogs_json", "metadata"];

/// Values of [`STORED`].
#[derive(Debug, Default)]
pub(crate) struct Stored {
    shell_last_seen_index: Option<i64>,
    cogs_json: Option<String>,
    metadata: Option<String>,
}

impl Stored {
    pub(crate) fn of(row: Vec<SqlValue>) -> Self {
        let mut row = Columns::of(row);
        Self { shell_last_seen_index: row.whole(), cogs_json: row.text(), metadata: row.text() }
    }

    /// What rides along with the session, see [`crate::carry`].
    pub(crate) fn carried(&self) -> Option<String> {
        crate::carry::of_session(self.metadata.as_deref())
    }
}

impl Stored {
    /// Tells what is in the columns.
    fn tell(&self, file: &str, session: &mut Session, metadata: &mut Members, warnings: &mut Vec<Warning>) {
        session.shell_last_seen_index = self.shell_last_seen_index.unwrap_or_default();
        session.cogs_json = json_list("cogs_json", self.cogs_json.clone(), file, warnings);
        let Some(stored) = self.metadata.as_ref().filter(|stored| !matches!(stored.trim(), "" | "null")) else {
            return;
        };
        let stored = sepia_sdk::metadata::clean(stored);
        let members: Object<'_> = match parse(&stored) {
            Ok(members) if stored.trim_start().starts_with('{') => members,
            _ => {
                let message = "column metadata of the session holds no JSON object; it is left out";
                warnings.push(Warning::new("broken-column", message).in_file(file));
                return;
            }
        };
        for (at, (name, value)) in members.0.iter().enumerate() {
            let again = members.0[at + 1..].iter().any(|(later, _)| later == name);
            if !again && !OWN.contains(&name.as_ref()) {
                metadata.raw(name, value.get());
            }
        }
        session.checkpoints = checkpoints(members.get(CHECKPOINTS));
    }
}

/// Looks a session up in a database. None when it has none such.
pub(crate) fn find(opened: &Rc<Opened>, session: &SessionRef) -> Result<Option<Found>, DriverError> {
    if !place::is_id(&session.id) {
        return Ok(None);
    }
    let heads = Rc::new(Heads::read(opened)?);
    for (id, agent) in readings(session, &heads) {
        let rows = listed(opened, &[id], &heads)?.remove(id).unwrap_or_default();
        let meant = rows.into_iter().find(|row| match agent {
            None => row.inside.is_none(),
            Some(agent) => row.inside.as_ref().is_some_and(|inside| inside.head.agent == agent),
        });
        if let Some(listed) = meant {
            let stored = if agent.is_none() { stored(opened, id)? } else { None };
            return Ok(Some(Found { opened: Rc::clone(opened), heads, listed, stored }));
        }
    }
    Ok(None)
}

/// Calls for each database of the agent until one has what is asked for.
pub(crate) fn in_databases<T>(
    host: &Host,
    mut ask: impl FnMut(&Rc<Opened>) -> Result<Option<T>, DriverError>,
) -> Result<Option<T>, DriverError> {
    for source in Source::DATABASES {
        let Some(assumed) = place::assume(host, source)? else { continue };
        match ask(&Rc::new(assumed)) {
            // Perhaps it is of another version.
            Err(error) if error.code == ErrorCode::Store => {}
            Ok(None) => continue,
            found => return found,
        }
        let Some(opened) = place::open(host, source)? else { continue };
        if opened.schema.has_sessions()
            && let Some(found) = ask(&Rc::new(opened))?
        {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

fn stored(opened: &Opened, id: &str) -> Result<Option<Stored>, DriverError> {
    let sql = format!("SELECT {} FROM sessions s WHERE s.id = ?", opened.schema.select("sessions", "s", &STORED));
    Ok(opened.database.rows(&sql, &[text(id)])?.into_iter().next().map(Stored::of))
}

/// What a reference may mean: ids of rows, and names of sub-agents among their nodes.
fn readings<'a>(session: &'a SessionRef, heads: &Heads) -> Vec<(&'a str, Option<&'a str>)> {
    let id = session.id.as_str();
    if let Some(agent) = session.agent_id.as_deref() {
        let is_child = heads.parents.get(agent).is_some_and(|parent| parent.session == id);
        return vec![if is_child { (agent, None) } else { (id, Some(agent)) }];
    }
    let mut readings = vec![(id, None)];
    let splits = id.match_indices('/').map(|(at, _)| (&id[..at], &id[at + 1..]));
    readings.extend(
        splits
            .filter(|(parent, agent)| heads.of(parent).iter().any(|head| head.agent == *agent))
            .map(|(parent, agent)| (parent, Some(agent))),
    );
    readings
}

impl Found {
    /// The session whose rows the nodes are among.
    pub(crate) fn keeper(&self) -> &str {
        self.listed.inside.as_ref().map_or(&self.listed.session.id, |inside| &inside.session)
    }

    /// The session without its nodes. `warnings` are those of the nodes.
    pub(crate) fn header(
        &self,
        outlines: &[Outline],
        facts: &Facts,
        warnings: Vec<Warning>,
        stats: Option<&Stats>,
    ) -> Result<Session, DriverError> {
        let told = Told {
            file: self.opened.source.file(),
            listed: &self.listed,
            stored: self.stored.as_ref(),
            spawned_by: self.spawned_by()?,
            stats,
        };
        let mut session = told.header(outlines, facts, warnings);
        let carried = self.listed.carried.as_deref();
        // A row with stats tells of the store as it is.
        if stats.is_none() {
            crate::carry::onto_session(&mut session, carried, &crate::carry::OF_HEADER);
        }
        Ok(session)
    }

    /// The call in the parent that started this sub-agent.
    fn spawned_by(&self) -> Result<Option<String>, DriverError> {
        let Some(inside) = &self.listed.inside else { return Ok(None) };
        let columns = self.opened.schema.select("message_nodes", "n", &crate::message::COLUMNS);
        let sql = format!(
            "SELECT {columns} FROM message_nodes n WHERE n.session_id = ? \
             AND instr(n.chat_message, '\"subagent/agent_id\"') > 0 ORDER BY n.node_id"
        );
        let file = self.opened.source.file();
        let rows = self.opened.database.rows(&sql, &[text(&inside.session)])?;
        let mut results =
            rows.into_iter().filter_map(crate::message::Row::of).map(|row| crate::draft::draft(&row, file));
        let of_agent = results.find(|draft| {
            draft.node.tool_call_id.is_some() && draft.agent.as_deref() == Some(inside.head.agent.as_str())
        });
        Ok(of_agent.and_then(|draft| draft.node.tool_call_id))
    }
}

/// What tells of a session, besides its nodes.
pub(crate) struct Told<'a> {
    /// The database, for messages.
    pub(crate) file: &'a str,
    pub(crate) listed: &'a Listed,
    pub(crate) stored: Option<&'a Stored>,
    /// The call in the parent that started a sub-agent.
    pub(crate) spawned_by: Option<String>,
    pub(crate) stats: Option<&'a Stats>,
}

impl Told<'_> {
    /// The session without its nodes, and without what rides along. `warnings` are those of the nodes.
    pub(crate) fn header(&self, outlines: &[Outline], facts: &Facts, warnings: Vec<Warning>) -> Session {
        let mut session = self.listed.session.clone();
        session.main_chain_id = facts.tip;
        let mut metadata = Members::default();
        let mut all = self.listed.warnings.clone();
        if let Some(stored) = self.stored {
            stored.tell(self.file, &mut session, &mut metadata, &mut all);
        }
        describe(self.listed, &mut metadata);
        metadata.maybe("toolUseId", self.spawned_by.as_deref());
        if let Some(stats) = self.stats {
            metadata.value("stats", stats);
        }
        let branches = branches(outlines, facts);
        if !branches.is_empty() {
            metadata.value("branches", &branches);
        }
        all.extend(facts.warnings(outlines, self.listed.named_tip, self.file));
        all.extend(warnings);
        metadata.warnings(&capped(all));
        session.metadata = metadata.finish();
        session
    }
}

/// What a row of a list tells in its metadata.
pub(crate) fn describe(listed: &Listed, metadata: &mut Members) {
    metadata.text("titleSource", listed.title_source);
    metadata.maybe("timeSource", listed.time_source);
    metadata.maybe_number("spawnedAt", listed.spawned_at);
}

/// A branch that is not the live one.
#[derive(Serialize)]
struct Branch {
    /// Its newest node.
    tip: i64,
    /// Nodes that it has and the live branch has not.
    nodes: usize,
}

/// The branches off the live one, the newest last.
fn branches(outlines: &[Outline], facts: &Facts) -> Vec<Branch> {
    let forest = crate::forest::Forest::of(outlines.iter().map(|outline| (outline.id, outline.parent)));
    let tips = forest.leaves().into_iter().filter(|at| !facts.nodes[*at].live);
    let branch = |at: usize| {
        let nodes = forest.chain(Some(at)).into_iter().filter(|at| !facts.nodes[*at].live).count();
        Branch { tip: forest.id(at), nodes }
    };
    let mut tips: Vec<usize> = tips.collect();
    tips.drain(..tips.len().saturating_sub(MOST_BRANCHES));
    tips.into_iter().map(branch).collect()
}

members! {
    Checkpoint {
        name: Str<'a> = "ref",
        created_at: Number = "createdAt",
        run_count: Whole = "runCount",
        kind: Str<'a> = "kind",
    }
}

fn checkpoints(raw: sepia_sdk::json::Raw<'_>) -> Vec<CheckpointRef> {
    let stored = part::<List<Checkpoint<'_>>>(raw).items;
    let fit = stored.into_iter().filter_map(|mut checkpoint| {
        Some(CheckpointRef {
            ref_: checkpoint.name.take_owned().filter(|name| !name.is_empty())?,
            created_at: time::stored_milliseconds(checkpoint.created_at.0.unwrap_or_default()),
            run_count: checkpoint.run_count.0,
            kind: checkpoint.kind.take_owned(),
        })
    });
    fit.collect()
}
