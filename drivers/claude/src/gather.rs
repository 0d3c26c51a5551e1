//! One pass over a whole transcript: its sessions, and what else its lines tell.

use crate::draft::{Draft, Opaque, Span};
use crate::ends::{Scope, torn};
use crate::ids::{IdMap, id};
use crate::lines::{self, Lines, MAX_LINE};
use crate::outline::outlined;
use crate::place::STORE;
use crate::projection::{self, Detail, Line};
use crate::restoring;
use crate::restoring::Carried;
use crate::title::Titles;
use sepia_ir::{DriverError, Warning};
use sepia_sdk::Host;
use sepia_sdk::packed::{LineKind, Row};
use serde::de::IgnoredAny;

/// Types of records that are no messages and are known to mean nothing for the conversation.
const KNOWN: &[&str] = &[
    "attachment",
    "queue-operation",
    "last-prompt",
    "custom-title",
    "agent-name",
    "ai-title",
    "summary",
    "tag",
    "mode",
    "permission-mode",
    "file-history-snapshot",
    "progress",
    "ended-by-model",
    "relocated",
    "agent-color",
    "agent-setting",
    "pr-link",
    "frame-link",
    "bridge-session",
    "attribution-snapshot",
    "speculation-accept",
    "isolation-latch",
    "worktree-state",
    "content-replacement",
    "fork-context-ref",
    "marble-origami-commit",
    "marble-origami-snapshot",
    "marble-origami-reset",
    restoring::RECORD,
];
const KNOWN_SYSTEM: &[&str] = &["turn_duration", "local_command", "compact_boundary"];
/// Types of what is not understood that are counted apart; the rest together.
const MOST_TYPES: usize = 64;

/// What a transcript holds.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    /// The session itself first, then the sub-agents kept in its file.
    pub(crate) drafts: Vec<Draft>,
    /// Records that are not understood, by type.
    pub(crate) opaque: Opaque,
    pub(crate) warnings: Vec<Warning>,
    /// File-history records.
    pub(crate) snapshots: Vec<Span>,
    titles: [Option<Span>; 4],
}

/// Looks through a transcript. Without its counts the drafts have neither model nor tokens, without its tree they
/// have no tip, and their nodes no parents.
pub(crate) fn gather(host: &Host, path: &str, scope: Scope, detail: Detail) -> Result<Gathered, DriverError> {
    if let Some(gathered) = gathered(host, path, scope, detail)? {
        return Ok(gathered);
    }
    // Whose the lines of sub-agents are, only the tree tells.
    Ok(gathered(host, path, scope, Detail::Counts)?.unwrap_or_default())
}

/// None when that takes the tree, and the tree was not asked for.
fn gathered(host: &Host, path: &str, scope: Scope, detail: Detail) -> Result<Option<Gathered>, DriverError> {
    let rows = host.project(STORE, path, &projection::query(0, detail))?;
    let first = if detail.has_tree() { Draft::default() } else { Draft::without_tree() };
    let mut gathering = Gathering {
        host,
        path,
        scope,
        gathered: Gathered { drafts: vec![first], ..Gathered::default() },
        sidechains: IdMap::default(),
        checked: 0,
    };
    let mut line = Line::default();
    for (number, row) in (1u32..).zip(rows.iter()) {
        gathering.row(&row, number, &mut line, detail)?;
        if line.sidechain && scope == Scope::Main && !detail.has_tree() {
            return Ok(None);
        }
    }
    let mut gathered = gathering.gathered;
    gathered.drafts.iter_mut().for_each(Draft::finish);
    Ok(Some(gathered))
}

struct Gathering<'a> {
    host: &'a Host,
    path: &'a str,
    scope: Scope,
    gathered: Gathered,
    /// Draft that a line of a sub-agent belongs to.
    sidechains: IdMap<usize>,
    /// Bytes of damaged lines that were looked at.
    checked: u64,
}

impl Gathering<'_> {
    fn row<'r>(&mut self, row: &Row<'r>, number: u32, line: &mut Line<'r>, detail: Detail) -> Result<(), DriverError> {
        match row.kind {
            LineKind::Empty => return Ok(()),
            LineKind::Object => {}
            LineKind::Other => return self.other(row, number),
            LineKind::Unterminated => {
                if row.values().next().is_none() && !self.is_json(row)? {
                    let warning = torn(self.path).at(number.into(), row.offset).passing_over(row.length.into());
                    self.gathered.warnings.push(warning);
                    return Ok(());
                }
            }
        }
        line.read(row, detail);
        let span = Span { offset: line.offset, length: line.length };
        match line.kind {
            "custom-title" => self.gathered.titles[0] = Some(span),
            "ai-title" => self.gathered.titles[1] = Some(span),
            "summary" => self.gathered.titles[2] = Some(span),
            restoring::RECORD => self.gathered.titles[3] = Some(span),
            "file-history-snapshot" => self.gathered.snapshots.push(span),
            _ => {}
        }
        if !line.carries_node {
            self.count_unknown(line.kind, line.subtype);
        }
        let at = self.draft_of(line);
        self.gathered.drafts[at].take(line, number);
        Ok(())
    }

    fn count_unknown(&mut self, kind: &str, subtype: &str) {
        let name = match kind {
            "user" | "assistant" => return,
            "system" if KNOWN_SYSTEM.contains(&subtype) => return,
            "system" => format!("system/{subtype}"),
            "" => "(no type)".to_owned(),
            _ if KNOWN.contains(&kind) => return,
            _ => kind.to_owned(),
        };
        self.count_opaque(name);
    }

    fn count_opaque(&mut self, name: String) {
        let opaque = &mut self.gathered.opaque;
        let name = if opaque.len() >= MOST_TYPES && !opaque.contains_key(&name) { "(more)".to_owned() } else { name };
        *opaque.entry(name).or_default() += 1;
    }

    /// The draft that a line belongs to.
    fn draft_of(&mut self, line: &Line<'_>) -> usize {
        if self.scope == Scope::Whole || !line.sidechain {
            return 0;
        }
        let parent = match line.parent {
            projection::ParentMember::Is(parent) => self.sidechains.get(&parent).copied(),
            _ => None,
        };
        let Some(uuid) = line.uuid else { return parent.unwrap_or(0) };
        let at = parent.unwrap_or_else(|| {
            self.gathered.drafts.push(Draft::inside(uuid, line.agent_id));
            self.gathered.drafts.len() - 1
        });
        self.sidechains.insert(id(uuid), at);
        at
    }

    /// A line that is no object: a JSON value of another kind, or damaged.
    fn other(&mut self, row: &Row<'_>, number: u32) -> Result<(), DriverError> {
        if self.is_json(row)? {
            self.count_opaque("(no object)".to_owned());
            return Ok(());
        }
        let message = format!("line {number} of `{}` is no JSON and was passed over", self.path);
        let warning = Warning::new("broken-record", message).in_file(self.path);
        self.gathered.warnings.push(warning.at(number.into(), row.offset).passing_over(row.length.into()));
        Ok(())
    }

    fn is_json(&mut self, row: &Row<'_>) -> Result<bool, DriverError> {
        self.checked += u64::from(row.length);
        if self.checked > u64::from(MAX_LINE) {
            return Ok(false);
        }
        let mut lines = Lines::sparse(self.host.clone(), self.path.to_owned());
        let line = lines.get(row.offset, row.length)?;
        Ok(lines::parse(line, |text| serde_json::from_str::<IgnoredAny>(text)).is_ok())
    }
}

impl Gathered {
    /// The titles that the transcript tells.
    pub(crate) fn titles(&self, lines: &mut Lines) -> Result<Titles, DriverError> {
        let mut titles = Titles::default();
        for span in self.titles.iter().flatten() {
            if span.length <= MAX_LINE {
                read_title(span.offset, lines.get(span.offset, span.length)?, &mut titles);
            }
        }
        Ok(titles)
    }
}

/// Takes the title that a line tells, if it is a title record, or what is carried of the session.
pub(crate) fn read_title(offset: u64, line: &[u8], titles: &mut Titles) {
    outlined(line, |outline| {
        if outline.kind.is(restoring::RECORD) {
            titles.carried = outline.carried.map(|text| Carried::at(offset, text));
            return;
        }
        let (place, title) = match outline.kind.get() {
            Some("custom-title") => (&mut titles.custom, &outline.custom_title),
            Some("ai-title") => (&mut titles.generated, &outline.ai_title),
            Some("summary") => (&mut titles.summary, &outline.summary),
            _ => return,
        };
        if let Some(title) = title.get() {
            *place = Some(title.to_owned());
        }
    });
}
