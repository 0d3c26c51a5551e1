//! `sepia list`

use super::args::{FilterArgs, ListArgs};
use super::exit::Failure;
use super::output;
use super::table::{self, Column};
use super::tree::{self, Line};
use super::{setup, time};
use crate::plane::{ListRequest, Plane, SessionRow, Source};
use crate::text::clean_line;
use jiff::Timestamp;
use std::io::Write;

/// Characters of an id that are shown at least, where that tells the sessions apart.
const LEAST_ID: usize = 8;

pub(super) async fn run(args: ListArgs) -> Result<(), Failure> {
    let plane = setup::plane()?;
    let project = match &args.project {
        Some(given) => Some(plane.find_project(given).await?.id),
        None => None,
    };
    let request = ListRequest {
        agent: args.filter.agent.clone(),
        cwd: args.filter.directory(),
        since: args.filter.since,
        // Of a tree the limit counts roots, whose branches may be older than other roots.
        limit: args.limit.filter(|_| !args.tree),
        top_level: !args.subagents && !args.tree,
        project,
        without_archived: !args.archived,
        with_hidden: args.filter.hidden,
        with_locks: args.locks,
        with_stats: args.stats,
    };
    let listing = plane.list(&request).await?;
    let shown = show(&plane, &listing.rows, &args).await;
    plane.rows_kept().await;
    // The process ends here, and thousands of rows are given back faster all at once.
    std::mem::forget(listing);
    shown
}

async fn show(plane: &Plane, rows: &[SessionRow], args: &ListArgs) -> Result<(), Failure> {
    if args.json {
        return output::json(&rows);
    }
    let (sessions, warnings): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row.source != Source::Warning);
    for warning in warnings {
        tracing::warn!("{}: {}", warning.agent, clean_line(&warning.title, 300));
    }
    if sessions.is_empty() {
        tell_that_there_are_none(&plane.agents().await, args);
        return Ok(());
    }
    let lines = if args.tree {
        tree::nested(&sessions, args.limit.unwrap_or(usize::MAX))
    } else {
        sessions.into_iter().map(|session| Line { session, depth: 0 }).collect()
    };
    let mut out = output::stdout();
    print(&mut out, &lines, args).and_then(|()| out.flush()).map_err(|e| Failure::output(&e))
}

fn print(out: &mut impl Write, lines: &[Line<'_>], args: &ListArgs) -> std::io::Result<()> {
    let now = Timestamp::now();
    let whole = !output::is_terminal();
    let id_length = if whole { usize::MAX } else { telling_length(lines) };
    let home = (!whole).then(|| std::env::var("HOME").unwrap_or_default());
    let mut columns = vec![
        Column::fixed("ID"),
        Column::fixed("AGENT"),
        Column::fixed("ACTIVE"),
        Column::shrinking("TITLE", 16),
        Column::shrinking("DIRECTORY", 12),
    ];
    if args.stats {
        columns.extend(["MESSAGES", "TOOLS", "TOKENS"].map(Column::fixed));
    }
    let row = |Line { session, depth }: &Line<'_>| {
        let id = clean_line(&session.id, 512);
        let mut title = clean_line(&session.title, 400);
        if session.parent_session_id.is_some() {
            title.insert_str(0, "↳ ");
            title.insert_str(0, &"  ".repeat(depth.saturating_sub(1)));
        }
        for (is_so, sign) in [(session.locked, "● "), (session.archived, "▣ "), (session.pinned, "★ ")] {
            if is_so {
                title.insert_str(0, sign);
            }
        }
        let active = if whole { session.updated_at.clone() } else { time::ago(session.activity, now) };
        let mut cells = vec![
            if whole { id } else { id.chars().take(id_length).collect() },
            session.agent.clone(),
            active,
            title,
            directory(&session.cwd, home.as_deref()),
        ];
        if args.stats {
            cells.extend(counts(session));
        }
        cells
    };
    table::print(out, &columns, lines.iter().map(row))
}

/// As many characters of the ids as tell all of them apart.
fn telling_length(lines: &[Line<'_>]) -> usize {
    let mut ids: Vec<&str> = lines.iter().map(|line| line.session.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    let in_common = |pair: &[&str]| pair[0].chars().zip(pair[1].chars()).take_while(|(a, b)| a == b).count();
    ids.windows(2).map(in_common).max().map_or(LEAST_ID, |common| (common + 1).max(LEAST_ID))
}

/// A directory, with the home directory as `~` when that is given.
fn directory(cwd: &str, home: Option<&str>) -> String {
    let clean = clean_line(cwd, 4096);
    let below_home = home.filter(|home| !home.is_empty()).and_then(|home| clean.strip_prefix(home));
    match below_home {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("~{rest}"),
        _ => clean,
    }
}

/// Messages, tool calls, tokens.
fn counts(session: &SessionRow) -> [String; 3] {
    #[derive(Default, serde::Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct Stats {
        messages: u64,
        tool_calls: u64,
        usage: sepia_ir::TokenUsage,
    }
    let Some(stats) = session.stats.as_deref().and_then(|text| serde_json::from_str::<Stats>(text).ok()) else {
        return ["-", "-", "-"].map(str::to_owned);
    };
    let usage = stats.usage;
    let tokens = usage.input + usage.output + usage.cache_read.unwrap_or(0.0) + usage.cache_write.unwrap_or(0.0);
    let short = match tokens {
        t if t >= 1e6 => format!("{:.1}M", t / 1e6),
        t if t >= 1e3 => format!("{:.0}k", t / 1e3),
        t => format!("{t:.0}"),
    };
    [stats.messages.to_string(), stats.tool_calls.to_string(), short]
}

/// No sessions always comes with the places that were looked at.
fn tell_that_there_are_none(agents: &[crate::plane::Agent], args: &ListArgs) {
    let mut stderr = std::io::stderr().lock();
    let FilterArgs { agent, cwd, since, .. } = &args.filter;
    let filtered =
        agent.is_some() || cwd.is_some() || since.is_some() || args.project.is_some() || args.limit == Some(0);
    let _gone = writeln!(stderr, "no sessions{}; looked at:", if filtered { " match" } else { " were found" });
    for agent in agents {
        for store in &agent.stores {
            let there = if store.exists { "" } else { " (not there)" };
            let _gone = writeln!(stderr, "  {:<12} {}{there}", agent.id, clean_line(&store.path, 4096));
        }
    }
    let archived = if args.archived { "" } else { "Archived sessions are shown with --archived. " };
    let _gone = writeln!(stderr, "{archived}`sepia doctor` says more.");
}
