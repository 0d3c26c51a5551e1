//! What the guests have in common: a driver over plain text files that does everything right,
//! of which each guest replaces the one function that it does wrong.
//!
//! A session is a file `<id>.txt` of the store `home`, a node a line of it.

use sepia_ir::{
    DriverError, HistoryPage, HistoryQuery, LockState, Manifest, MessageNode, Role, ScanEntry, ScanReport, SearchPart,
    SearchQuery, SearchReport, Session, SessionRef, StoreAccess, StoreKind, StoreRequest, Summary, SummaryDetail,
};
use sepia_sdk::{Driver, Host, NativeCopy, SessionRead, Transcript};
use std::marker::PhantomData;

/// The functions of a driver, each with the right behaviour as its default.
pub trait Misdeed: 'static {
    /// Who it is.
    fn manifest() -> Manifest {
        manifest()
    }
    /// One entry a file.
    fn scan(host: &Host) -> Result<ScanReport, DriverError> {
        scan(host)
    }
    /// One row a key.
    fn summaries(_host: &Host, keys: &[String]) -> Result<Vec<Summary>, DriverError> {
        Ok(keys
            .iter()
            .map(|key| Summary { key: key.clone(), sessions: vec![row(id_of(key))], warnings: vec![] })
            .collect())
    }
    /// A row; the tests give orders to a guest in the id.
    fn summary_of(host: &Host, order: &str) -> Result<Session, DriverError> {
        host.read("home", &format!("{order}.txt"), 0, 1)?;
        Ok(row(order))
    }
    /// The lines of a file.
    fn open(host: &Host, session: &str) -> Result<Lines, DriverError> {
        let text = host.read("home", &format!("{session}.txt"), 0, 8 << 20)?;
        let text = String::from_utf8_lossy(&text).into_owned();
        Ok(Lines { id: session.to_owned(), lines: text.lines().map(str::to_owned).collect(), at: 0 })
    }
    /// The next nodes.
    fn next(lines: &mut Lines, max: usize) -> Result<Vec<MessageNode>, DriverError> {
        let end = lines.lines.len().min(lines.at + max);
        let nodes = (1i64..).zip(&lines.lines).take(end).skip(lines.at).map(|(id, line)| node(id, line)).collect();
        lines.at = end;
        Ok(nodes)
    }
    /// A page.
    fn history(host: &Host, session: &str, query: &HistoryQuery) -> Result<HistoryPage, DriverError> {
        let mut lines = Self::open(host, session)?;
        let nodes = Self::next(&mut lines, query.limit as usize)?;
        Ok(HistoryPage { total: nodes.len() as u64, start: 0, nodes, tool_call_nodes: vec![], index: None })
    }
    /// What it found, unless that is left to the SDK.
    fn search(_keys: &[String], _query: &SearchQuery) -> Option<Vec<SearchReport>> {
        None
    }
    /// Nothing is held.
    fn locks(_host: &Host) -> Result<Vec<LockState>, DriverError> {
        Ok(vec![])
    }
}

/// A file being read.
pub struct Lines {
    /// Id of the session.
    pub id: String,
    /// Its lines.
    pub lines: Vec<String>,
    /// The next one.
    pub at: usize,
}

/// A driver that does one misdeed.
pub struct Guest<M>(PhantomData<M>);

/// Its transcript.
pub struct Pages<M>(Lines, PhantomData<M>);

/// Its copy of a file: the text of the lines, one a piece.
pub struct Copy(Lines);

impl<M: Misdeed> Driver for Guest<M> {
    fn manifest() -> Manifest {
        M::manifest()
    }
}

impl<M: Misdeed> SessionRead for Guest<M> {
    type Transcript = Pages<M>;

    fn scan(host: &Host) -> Result<ScanReport, DriverError> {
        M::scan(host)
    }

    fn summaries(host: &Host, keys: &[String], _detail: SummaryDetail) -> Result<Vec<Summary>, DriverError> {
        M::summaries(host, keys)
    }

    fn summary_of(host: &Host, session: &SessionRef) -> Result<Session, DriverError> {
        M::summary_of(host, &session.id)
    }

    fn open(host: &Host, session: &SessionRef) -> Result<Pages<M>, DriverError> {
        Ok(Pages(M::open(host, &session.id)?, PhantomData))
    }

    fn history(host: &Host, session: &SessionRef, query: &HistoryQuery) -> Result<HistoryPage, DriverError> {
        M::history(host, &session.id, query)
    }

    fn native(host: &Host, session: &SessionRef) -> Result<Box<dyn NativeCopy>, DriverError> {
        Ok(Box::new(Copy(M::open(host, &session.id)?)))
    }

    fn search(host: &Host, keys: &[String], query: &SearchQuery) -> Result<Vec<SearchReport>, DriverError> {
        match M::search(keys, query) {
            Some(found) => Ok(found),
            None => sepia_sdk::search::by_reading::<Self>(host, keys, query),
        }
    }

    fn may_hold(host: &Host, keys: &[String], query: &SearchQuery) -> Result<Vec<bool>, DriverError> {
        // Titles are made of the name of the file, and are not in it.
        let titles = query.looks_at(SearchPart::Title);
        Ok(host.may_hold(query, "home", keys)?.into_iter().map(|held| titles || held != Some(false)).collect())
    }

    fn locks(host: &Host) -> Result<Vec<LockState>, DriverError> {
        M::locks(host)
    }
}

impl<M: Misdeed> Transcript for Pages<M> {
    fn header(&self) -> Session {
        row(&self.0.id)
    }

    fn next(&mut self, max: usize) -> Result<Vec<MessageNode>, DriverError> {
        M::next(&mut self.0, max)
    }
}

impl NativeCopy for Copy {
    fn name(&self) -> String {
        format!("{}.txt", self.0.id)
    }

    fn next(&mut self, _max: usize) -> Result<Vec<u8>, DriverError> {
        let line = self.0.lines.get(self.0.at).map(|line| format!("{line}\n").into_bytes());
        self.0.at += 1;
        Ok(line.unwrap_or_default())
    }
}

/// The manifest of all guests: they declare two stores, and the tests grant the first.
pub fn manifest() -> Manifest {
    let store = |name: &str| StoreRequest {
        name: name.into(),
        env: vec![],
        default_path: format!("~/.{name}"),
        kind: StoreKind::Directory,
        access: StoreAccess::Read,
        follow_links_in: vec![],
    };
    Manifest {
        id: "guest".into(),
        label: "Guest".into(),
        version: "1.0.0".into(),
        backend_type: "guest".into(),
        stores: vec![store("home"), store("other")],
        agent_command: vec![],
        config_schema: "null".into(),
    }
}

/// One entry a file of the store.
pub fn scan(host: &Host) -> Result<ScanReport, DriverError> {
    let report = host.walk("home", "", 0, &[".txt".into()])?;
    let entries = report.files.into_iter().map(|file| ScanEntry {
        session_id: Some(id_of(&file.path).to_owned()),
        stamp: format!("{} {}", file.bytes, file.modified_ns),
        bytes: file.bytes,
        changed_at: 0.0,
        sub_agent: false,
        key: file.path,
    });
    Ok(ScanReport { entries: entries.collect(), warnings: vec![] })
}

/// An entry with this key.
pub fn entry(key: impl Into<String>) -> ScanEntry {
    ScanEntry { key: key.into(), stamp: "1".into(), bytes: 1, changed_at: 0.0, session_id: None, sub_agent: false }
}

/// A row with this id.
pub fn row(id: &str) -> Session {
    Session { title: format!("session {id}"), ..Session::new(id, "guest") }
}

/// A row whose title answers an order.
pub fn answer(text: impl Into<String>) -> Session {
    Session { title: text.into(), ..Session::new("answer", "guest") }
}

/// A node with this text.
pub fn node(id: i64, text: &str) -> MessageNode {
    MessageNode { content: text.into(), ..MessageNode::new(id, Role::User, 0.0) }
}

fn id_of(key: &str) -> &str {
    key.strip_suffix(".txt").unwrap_or(key)
}
