//! `sepia search`: hits as they are found.

use super::args::SearchArgs;
use super::controls::Guarded;
use super::exit::Failure;
use super::{output, setup, table, time};
use crate::plane::{FoundRow, Hit, SearchRequest};
use crate::text::clean_line;
use jiff::Timestamp;
use sepia_ir::{SearchPart, SearchQuery};
use std::io::{self, Write};
use std::ops::ControlFlow;

/// Characters of an id that are shown on a terminal.
const ID: usize = 8;
/// Bytes of text on each side of a match on a terminal, where a line is short.
const CONTEXT: u32 = 60;

const BOLD: &str = "1";
const DIM: &str = "2";
const RED: &str = "1;31";

/// The part of a session by its name.
pub(super) fn part(name: &str) -> Result<SearchPart, String> {
    let named = SearchPart::ALL.into_iter().find(|part| part.name() == name);
    named.ok_or_else(|| format!("write some of {}", SearchPart::ALL.map(SearchPart::name).join(", ")))
}

pub(super) async fn run(args: SearchArgs) -> Result<(), Failure> {
    let plane = setup::plane()?;
    let terminal = output::is_terminal();
    let request = SearchRequest {
        query: SearchQuery {
            text: args.query,
            regex: args.regex,
            ignore_case: args.ignore_case,
            parts: args.parts,
            hits: args.hits,
            context: if terminal { CONTEXT } else { SearchRequest::CONTEXT },
        },
        cwd: args.filter.directory(),
        agent: args.filter.agent,
        since: args.filter.since,
        limit: args.limit,
        with_hidden: args.filter.hidden,
        top_level: args.top_level,
    };
    let mut out = Printer {
        out: Guarded::new(output::stdout(), args.json && terminal),
        layout: if args.json {
            Layout::Json
        } else if terminal {
            Layout::Terminal
        } else {
            Layout::Lines
        },
        colours: output::colours(),
        now: Timestamp::now(),
        count: 0,
    };
    let mut failed = None;
    let end = plane.search(&request, |found| match out.print(&found).and_then(|()| out.out.flush()) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            failed = Some(error);
            ControlFlow::Break(())
        }
    });
    let end = end.await?;
    if let Some(error) = failed {
        return Err(Failure::output(&error));
    }
    if args.json {
        let rows = end.warnings.into_iter().map(FoundRow::of_warning);
        return out.end_of_json(rows).map_err(|e| Failure::output(&e));
    }
    for warning in &end.warnings {
        tracing::warn!("{}: {}", warning.agent, clean_line(&warning.title, 300));
    }
    let mut stderr = io::stderr().lock();
    if out.count == 0 {
        let _gone = writeln!(stderr, "no session matches");
    } else if end.at_limit && terminal {
        let _gone = writeln!(stderr, "the newest {} sessions that match; --limit shows more", out.count);
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq)]
enum Layout {
    /// A session, its hits below.
    Terminal,
    /// A line a hit.
    Lines,
    Json,
}

struct Printer<W: Write> {
    out: Guarded<W>,
    layout: Layout,
    colours: bool,
    now: Timestamp,
    /// Sessions printed.
    count: usize,
}

impl<W: Write> Printer<W> {
    fn print(&mut self, found: &FoundRow) -> io::Result<()> {
        match self.layout {
            Layout::Json => self.json(found)?,
            Layout::Lines => self.lines(found)?,
            Layout::Terminal => self.terminal(found)?,
        }
        self.count += 1;
        Ok(())
    }

    fn json(&mut self, found: &FoundRow) -> io::Result<()> {
        use serde::Serialize;
        self.out.write_all(if self.count == 0 { b"[" } else { b"," })?;
        Ok(found.serialize(&mut crate::jsonrpc::serializer(&mut self.out))?)
    }

    fn end_of_json(mut self, rows: impl Iterator<Item = FoundRow>) -> io::Result<()> {
        for row in rows {
            self.print(&row)?;
        }
        self.out.write_all(if self.count == 0 { b"[]\n" } else { b"]\n" })?;
        self.out.flush()
    }

    fn lines(&mut self, found: &FoundRow) -> io::Result<()> {
        let row = &found.row;
        for hit in &found.hits {
            let node = hit.node_id.map(|id| id.to_string()).unwrap_or_default();
            let snippet = clean_line(&hit.snippet, usize::MAX);
            let cells = [
                clean_line(&row.id, 512),
                row.agent.clone(),
                row.updated_at.clone(),
                hit.part.name().to_owned(),
                node,
                snippet,
            ];
            writeln!(self.out, "{}", cells.join("\t"))?;
        }
        Ok(())
    }

    fn terminal(&mut self, found: &FoundRow) -> io::Result<()> {
        let row = &found.row;
        let id: String = clean_line(&row.id, 512).chars().take(ID).collect();
        let spawned = if row.parent_session_id.is_some() { "↳ " } else { "" };
        let title = table::cut(&clean_line(&row.title, 400), output::width().saturating_sub(40)).into_owned();
        let facts = format!("{} · {}", row.agent, time::ago(row.activity, self.now));
        let gap = if self.count == 0 { "" } else { "\n" };
        writeln!(self.out, "{gap}{id}  {spawned}{}  {}", self.paint(BOLD, &title), self.paint(DIM, &facts))?;
        for hit in &found.hits {
            let who = match &hit.tool_name {
                Some(tool) => format!("{} {}", hit.part.name(), clean_line(tool, 60)),
                None => hit.part.name().to_owned(),
            };
            writeln!(self.out, "  {} {}", self.paint(DIM, &format!("{who}:")), self.snippet(hit))?;
        }
        if found.more_hits {
            writeln!(self.out, "  {}", self.paint(DIM, &format!("… more in it; sepia show {id}")))?;
        }
        Ok(())
    }

    /// The snippet in one line, its matches marked.
    fn snippet(&self, hit: &Hit) -> String {
        let part = |from: usize, to: usize| clean_line(hit.snippet.get(from..to).unwrap_or_default(), usize::MAX);
        let (mut line, mut at) = (String::new(), 0);
        for span in &hit.spans {
            line.push_str(&part(at, span.start as usize));
            at = span.end as usize;
            line.push_str(&self.paint(RED, &part(span.start as usize, at)));
        }
        line.push_str(&part(at, hit.snippet.len()));
        line
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.colours { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}
