//! A store that is written to, and a chat in it as plain SQLite and protobuf show it.

use crate::demo::{Demo, of};
use prost::Message;
use rusqlite::{Connection, OptionalExtension};
use sepia_conformance::InProcess;
use sepia_driver_cursor::Cursor;
use sepia_ir::{DriverError, SaveOptions, SaveReport, Session};
use sepia_sdk::subprocess::Native;
use sepia_sdk::{Driver, Host, WritingServices};
use sepia_services::TrashEntry;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// `md5` of `/p/demo`, by another program.
pub const DEMO: &str = "4b23557cb6b98b565c792488016e8b9b";

pub const SAVE: SaveOptions = SaveOptions { replace: false, dry_run: false, off_branch: Vec::new() };
pub const REPLACE: SaveOptions = SaveOptions { replace: true, dry_run: false, off_branch: Vec::new() };

/// The stores of a demo.
pub fn opened(demo: &Demo) -> Native {
    let places = [
        ("cursor", demo.path(".cursor")),
        ("config", demo.path(".config/cursor")),
        ("ide", demo.path(".config/Cursor/User")),
    ];
    let places: Vec<(&str, &Path)> = places.iter().map(|(name, path)| (*name, path.as_path())).collect();
    Native::at(&Cursor::manifest(), &places).unwrap()
}

/// What reads and what writes in a call that may write; its trash is beside the stores.
pub fn services(demo: &Demo) -> (Native, Box<dyn WritingServices>) {
    let trash = Arc::new(TrashEntry::new(demo.path("trash")));
    (opened(demo), Box::new(opened(demo).into_writing(&Cursor::manifest(), Some(trash))))
}

pub fn writer(demo: &Demo) -> Host {
    let trash = Arc::new(TrashEntry::new(demo.path("trash")));
    Native::host_for_writing(|| Ok(opened(demo)), &Cursor::manifest(), Some(trash)).unwrap()
}

pub fn save(demo: &Demo, session: &Session, options: &SaveOptions) -> Result<SaveReport, DriverError> {
    InProcess::<Cursor>::on(writer(demo)).save(session, options)
}

pub fn read(demo: &Demo, id: &str) -> Session {
    demo.try_read(&of(id)).unwrap()
}

/// Bytes of everything but the trash.
pub fn hash(demo: &Demo) -> String {
    [".cursor", ".config"]
        .iter()
        .map(|part| sepia_conformance::tree_hash(&demo.path(part)).unwrap_or_default())
        .collect()
}

/// Every file but those of the trash, with its bytes.
pub fn files(demo: &Demo) -> BTreeMap<PathBuf, Vec<u8>> {
    let ours = |path: &PathBuf| path.starts_with(demo.path(".cursor")) || path.starts_with(demo.path(".config"));
    demo.files().into_iter().filter(ours).map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

/// A chat as it is on disk.
pub struct Chat {
    pub folder: PathBuf,
    pub database: Connection,
}

impl Chat {
    pub fn at(demo: &Demo, folder: &str) -> Self {
        let folder = demo.path(folder);
        // A copy: looking at it must not change it.
        let copy = demo.path(&format!(
            "looked-at-{}",
            std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos()
        ));
        sepia_conformance::copy_tree(&folder, &copy).unwrap();
        Self { folder, database: Connection::open(copy.join("store.db")).unwrap() }
    }

    pub fn of(demo: &Demo, id: &str) -> Self {
        Self::at(demo, &format!(".cursor/chats/{DEMO}/{id}"))
    }

    pub fn blob(&self, id: &[u8]) -> Option<Vec<u8>> {
        let hex = crate::build::hex(id);
        self.database.query_row("SELECT data FROM blobs WHERE id = ?", [hex], |row| row.get(0)).optional().unwrap()
    }

    pub fn settings(&self) -> Value {
        let hex: String =
            self.database.query_row("SELECT value FROM meta WHERE key = '0'", [], |row| row.get(0)).unwrap();
        assert!(hex.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)), "lower-case hexadecimal");
        let bytes: Vec<u8> =
            (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect();
        serde_json::from_slice(&bytes).unwrap()
    }

    pub fn note(&self) -> Value {
        serde_json::from_slice(&std::fs::read(self.folder.join("meta.json")).unwrap()).unwrap()
    }

    pub fn root(&self) -> Root {
        let id = self.settings()["latestRootBlobId"].as_str().unwrap().to_owned();
        let bytes: Vec<u8> =
            self.database.query_row("SELECT data FROM blobs WHERE id = ?", [id], |row| row.get(0)).unwrap();
        Root::decode(bytes.as_slice()).unwrap()
    }

    /// The messages of the model's view.
    pub fn messages(&self) -> Vec<Value> {
        self.root().messages.iter().map(|id| serde_json::from_slice(&self.blob(id).unwrap()).unwrap()).collect()
    }

    /// Every turn with its prompt and its steps, all of them there.
    pub fn turns(&self) -> Vec<(User, Vec<Step>, String)> {
        let turn = |id: &Vec<u8>| {
            let turn = Turn::decode(self.blob(id).unwrap().as_slice()).unwrap().agent.unwrap();
            let user = User::decode(self.blob(&turn.user).unwrap().as_slice()).unwrap();
            let steps = turn.steps.iter().map(|id| Step::decode(self.blob(id).unwrap().as_slice()).unwrap()).collect();
            (user, steps, turn.request)
        };
        self.root().turns.iter().map(turn).collect()
    }

    /// What the agent asks of a store, and more: every blob is named by its digest, every id that
    /// can be reached is there.
    pub fn is_sound(&self) {
        let mut statement = self.database.prepare("SELECT id, data FROM blobs").unwrap();
        let rows = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, Vec<u8>>(1)?))).unwrap();
        for row in rows {
            let (id, data) = row.unwrap();
            assert_eq!(id, crate::build::hex(&<sha2::Sha256 as sha2::Digest>::digest(&data)));
        }
        let check: String = self.database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(check, "ok");
        let pragma =
            |name: &str| self.database.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!((pragma("user_version"), pragma("page_size")), (1, 4096));
        let mode: String = self.database.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
        assert_eq!(mode, "wal");
        let root = self.root();
        for id in root.messages.iter().chain(&root.archives) {
            assert!(self.blob(id).is_some());
        }
        self.turns();
    }
}

/// A root, by the field table.
#[derive(Clone, PartialEq, Message)]
pub struct Root {
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub messages: Vec<Vec<u8>>,
    #[prost(bytes = "vec", repeated, tag = "3")]
    pub todos: Vec<Vec<u8>>,
    #[prost(string, repeated, tag = "4")]
    pub pending: Vec<String>,
    #[prost(bytes = "vec", repeated, tag = "8")]
    pub turns: Vec<Vec<u8>>,
    #[prost(string, repeated, tag = "9")]
    pub workspaces: Vec<String>,
    #[prost(uint32, tag = "10")]
    pub mode: u32,
    #[prost(bytes = "vec", repeated, tag = "13")]
    pub archives: Vec<Vec<u8>>,
    #[prost(bytes = "vec", repeated, tag = "14")]
    pub timings: Vec<Vec<u8>>,
    #[prost(bytes = "vec", repeated, tag = "16")]
    pub subagents: Vec<Vec<u8>>,
    #[prost(uint32, tag = "17")]
    pub compactions: u32,
    #[prost(string, tag = "22")]
    pub agent_type: String,
    #[prost(uint64, tag = "26")]
    pub started_ms: u64,
    #[prost(string, tag = "36")]
    pub future: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct Turn {
    #[prost(message, optional, tag = "1")]
    pub agent: Option<AgentTurn>,
}

#[derive(Clone, PartialEq, Message)]
pub struct AgentTurn {
    #[prost(bytes = "vec", tag = "1")]
    pub user: Vec<u8>,
    #[prost(bytes = "vec", repeated, tag = "2")]
    pub steps: Vec<Vec<u8>>,
    #[prost(string, tag = "3")]
    pub request: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct User {
    #[prost(string, tag = "1")]
    pub text: String,
    #[prost(string, tag = "2")]
    pub message_id: String,
    #[prost(uint32, tag = "4")]
    pub mode: u32,
    #[prost(bool, tag = "5")]
    pub simulated: bool,
    #[prost(uint64, tag = "25")]
    pub at: u64,
}

#[derive(Clone, PartialEq, Message)]
pub struct Step {
    #[prost(message, optional, tag = "1")]
    pub answer: Option<Text>,
    #[prost(message, optional, tag = "2")]
    pub call: Option<Call>,
    #[prost(message, optional, tag = "3")]
    pub thought: Option<Text>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Text {
    #[prost(string, tag = "1")]
    pub text: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct Call {
    #[prost(message, optional, tag = "1")]
    pub shell: Option<Shell>,
    #[prost(message, optional, tag = "15")]
    pub mcp: Option<Mcp>,
    #[prost(string, tag = "57")]
    pub id: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct Shell {
    #[prost(message, optional, tag = "1")]
    pub args: Option<ShellArgs>,
    #[prost(message, optional, tag = "2")]
    pub result: Option<ShellResult>,
}

#[derive(Clone, PartialEq, Message)]
pub struct ShellArgs {
    #[prost(string, tag = "1")]
    pub command: String,
    #[prost(string, tag = "2")]
    pub directory: String,
    #[prost(string, tag = "4")]
    pub id: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct ShellResult {
    #[prost(message, optional, tag = "1")]
    pub success: Option<ShellEnded>,
    #[prost(message, optional, tag = "2")]
    pub failure: Option<ShellEnded>,
}

#[derive(Clone, PartialEq, Message)]
pub struct ShellEnded {
    #[prost(string, tag = "1")]
    pub command: String,
    #[prost(string, tag = "2")]
    pub directory: String,
    #[prost(int32, tag = "3")]
    pub exit_code: i32,
    #[prost(string, tag = "5")]
    pub stdout: String,
    #[prost(int32, tag = "7")]
    pub took: i32,
}

#[derive(Clone, PartialEq, Message)]
pub struct Mcp {
    #[prost(message, optional, tag = "1")]
    pub args: Option<McpArgs>,
}

#[derive(Clone, PartialEq, Message)]
pub struct McpArgs {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(bytes = "vec", repeated, tag = "2")]
    pub args: Vec<Vec<u8>>,
    #[prost(string, tag = "3")]
    pub id: String,
}
