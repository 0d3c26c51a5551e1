//! Both builds of the driver over one store. Whatever is asked, both are asked, and their
//! answers must be the same JSON.

use sepia::conformance::{DriverSubject, Places, Trial};
use sepia::limits::Limits;
use sepia::loader::{Driver, Origin};
use sepia_conformance::{Failure, Subject};
use sepia_ir::{
    Branch, HistoryPage, HistoryQuery, ScanReport, SearchQuery, SearchReport, Session, SessionRef, Summary,
    SummaryDetail,
};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::runtime::Runtime;

pub struct Both {
    runtime: Runtime,
    pub component: Arc<dyn Driver>,
    pub program: Arc<dyn Driver>,
}

/// A program that this workspace builds, beside the folder of the running test.
pub fn built(name: &str) -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let place = own.ancestors().map(|folder| folder.join(name)).find(|path| path.is_file());
    place.unwrap_or_else(|| panic!("{name} is not built: run `cargo build --release --workspace` first"))
}

impl Both {
    pub fn over(store: &Path) -> Self {
        Self::of("claude", &[("claude", store)])
    }

    /// Both builds of this agent's driver, over stores at these places.
    pub fn of(agent: &str, stores: &[(&str, &Path)]) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(3).enable_all().build().unwrap();
        let stores = stores.iter().map(|(name, place)| ((*name).to_owned(), place.to_path_buf())).collect();
        let places = Places { stores, home: None };
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("components");
        let built_in = sepia::embedded::COMPONENTS.iter().find(|built_in| built_in.name == agent).unwrap();
        let (component, program) = runtime.block_on(async {
            let component =
                Trial::component(built_in.wasm, Origin::Embedded, Limits::default(), Some(cache)).await.unwrap();
            let program = Trial::program(&built(&format!("sepia-driver-{agent}")), Limits::default()).await.unwrap();
            (component.over(&places).unwrap(), program.over(&places).unwrap())
        });
        Self { runtime, component, program }
    }

    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    pub fn subjects(&self) -> [DriverSubject<'_>; 2] {
        [&self.component, &self.program]
            .map(|driver| DriverSubject::new(driver.session_read().unwrap(), self.runtime.handle().clone()))
    }

    /// What both answer.
    fn ask<T: Serialize>(&self, ask: impl Fn(&dyn Subject) -> Result<T, Failure>) -> Result<T, Failure> {
        let [component, program] = self.subjects();
        let (one, other) = (ask(&component), ask(&program));
        let as_json = |answer: &Result<T, Failure>| match answer {
            Ok(value) => serde_json::to_value(value).unwrap(),
            Err(failure) => serde_json::Value::String(failure.code.clone()),
        };
        assert_eq!(as_json(&one), as_json(&other), "the component, then the program");
        one
    }

    pub fn scan(&self) -> ScanReport {
        self.ask(|subject| subject.scan()).unwrap()
    }

    pub fn summaries(&self, keys: &[String]) -> Vec<Summary> {
        self.ask(|subject| subject.summaries(keys, SummaryDetail::Stats)).unwrap();
        self.ask(|subject| subject.summaries(keys, SummaryDetail::Row)).unwrap()
    }

    pub fn rows(&self) -> Vec<Session> {
        let keys: Vec<String> = self.scan().entries.into_iter().map(|entry| entry.key).collect();
        self.summaries(&keys).into_iter().flat_map(|summary| summary.sessions).collect()
    }

    /// Ids in the list, sorted.
    pub fn ids(&self) -> Vec<String> {
        let mut ids: Vec<String> = self.rows().into_iter().map(|row| row.id).collect();
        ids.sort();
        ids
    }

    /// The whole session, nodes included.
    pub fn read(&self, id: &str) -> Session {
        let session = SessionRef { id: id.to_owned(), agent_id: None };
        let read = |subject: &dyn Subject| {
            let (mut header, nodes) = subject.open(&session, 256)?.into_nodes();
            header.nodes = nodes;
            Ok(header)
        };
        self.ask(read).unwrap()
    }

    /// What both find, of all keys.
    pub fn search(&self, query: &SearchQuery) -> Vec<SearchReport> {
        let keys: Vec<String> = self.scan().entries.into_iter().map(|entry| entry.key).collect();
        let search = |driver: &Arc<dyn Driver>| {
            self.runtime.block_on(driver.session_read().unwrap().search(keys.clone(), query)).unwrap()
        };
        let (one, other) = (search(&self.component), search(&self.program));
        assert_eq!(one, other, "the component, then the program");
        one
    }

    pub fn newest(&self, id: &str, limit: u32) -> HistoryPage {
        let session = SessionRef { id: id.to_owned(), agent_id: None };
        let query = HistoryQuery { limit, before: None, branch: Branch::Live, index: None };
        // The index is the component's own matter; the wire of programs has none.
        let bare = |subject: &dyn Subject| Ok(HistoryPage { index: None, ..subject.history(&session, &query)? });
        self.ask(bare).unwrap()
    }
}

impl Drop for Both {
    fn drop(&mut self) {
        self.runtime.block_on(self.program.shutdown());
    }
}

pub fn contents(session: &Session) -> Vec<&str> {
    session.nodes.iter().map(|node| node.content.as_str()).collect()
}

/// Warnings of a session.
pub fn warnings(session: &Session) -> Vec<serde_json::Value> {
    let metadata: serde_json::Value = serde_json::from_str(&session.metadata).unwrap();
    metadata["warnings"].as_array().cloned().unwrap_or_default()
}

/// Codes of the warnings of a session.
pub fn codes(session: &Session) -> Vec<String> {
    warnings(session).iter().map(|warning| warning["code"].as_str().unwrap().to_owned()).collect()
}
