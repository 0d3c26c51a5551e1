//! Databases as Cursor writes them.

use crate::demo::{Demo, FILES, date};
use prost::Message;
use rusqlite::{Connection, params};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::PathBuf;

pub const S1: &str = "11111111-1111-4111-8111-111111111111";
pub const S2: &str = "22222222-2222-4222-8222-222222222222";
pub const S3: &str = "33333333-3333-4333-8333-333333333333";
pub const GLOBAL: &str = ".config/Cursor/User/globalStorage/state.vscdb";

/// A root, of the fields that the tests need.
#[derive(Clone, PartialEq, Message)]
pub struct Root {
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub messages: Vec<Vec<u8>>,
    #[prost(bytes = "vec", repeated, tag = "8")]
    pub turns: Vec<Vec<u8>>,
    #[prost(string, repeated, tag = "9")]
    pub workspaces: Vec<String>,
    #[prost(bytes = "vec", repeated, tag = "13")]
    pub archives: Vec<Vec<u8>>,
    #[prost(message, repeated, tag = "14")]
    pub timings: Vec<Timing>,
    #[prost(string, tag = "22")]
    pub agent: String,
    /// A field of a build that is not known.
    #[prost(string, tag = "36")]
    pub future: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct Timing {
    #[prost(uint64, tag = "1")]
    pub duration: u64,
    #[prost(uint64, tag = "2")]
    pub at: u64,
}

/// A turn of the agent inside its one-of.
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
    #[prost(bool, tag = "5")]
    pub simulated: bool,
    #[prost(uint64, tag = "25")]
    pub at: u64,
}

#[derive(Clone, PartialEq, Message)]
pub struct Step {
    #[prost(message, optional, tag = "1")]
    pub answer: Option<Answer>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Answer {
    #[prost(string, tag = "1")]
    pub text: String,
    #[prost(uint64, tag = "2")]
    pub at: u64,
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// A chat being made.
pub struct Chat {
    pub path: PathBuf,
    pub database: Connection,
    pub root: Root,
    pub meta: Value,
}

impl Chat {
    /// In a folder below the agent's directory; with `meta.json` when that is given.
    pub fn new(demo: &Demo, folder: &str, id: &str, note: Option<Value>) -> Self {
        let path = demo.path(&format!("{folder}/{id}/store.db"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if let Some(note) = note {
            demo.write(&format!("{folder}/{id}/meta.json"), note.to_string());
        }
        let database = Connection::open(&path).unwrap();
        database
            .execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA user_version = 1;
                 CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB); CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);",
            )
            .unwrap();
        let meta = json!({"agentId": id, "name": "Named", "mode": "default", "createdAt": 1_791_795_600_000u64});
        let root = Root {
            workspaces: vec!["file:///p/demo".into()],
            agent: "cli".into(),
            future: "x".into(),
            ..Root::default()
        };
        Self { path, database, root, meta }
    }

    pub fn blob(&self, data: &[u8]) -> Vec<u8> {
        let id = Sha256::digest(data).to_vec();
        self.database.execute("INSERT OR REPLACE INTO blobs VALUES (?, ?)", params![hex(&id), data]).unwrap();
        id
    }

    /// A message of any shape.
    pub fn raw(&mut self, data: impl AsRef<[u8]>) -> &mut Self {
        let id = self.blob(data.as_ref());
        self.root.messages.push(id);
        self
    }

    pub fn message(&mut self, message: Value) -> &mut Self {
        self.raw(message.to_string())
    }

    /// A prompt in its usual wrapping.
    pub fn ask(&mut self, text: &str, request: &str) -> &mut Self {
        let text = format!("<user_query>\n{text}\n</user_query>");
        self.message(json!({"role": "user", "content": [{"type": "text", "text": text}], "providerOptions": {"cursor": {"requestId": request}}}))
    }

    pub fn say(&mut self, text: &str) -> &mut Self {
        self.message(json!({"role": "assistant", "id": "1", "content": [{"type": "text", "text": text}]}))
    }

    /// Writes the root and points to it.
    pub fn save(&mut self) -> &mut Self {
        let id = self.blob(&self.root.encode_to_vec());
        self.meta["latestRootBlobId"] = json!(hex(&id));
        self.point()
    }

    /// Writes the row of settings as it is now.
    pub fn point(&mut self) -> &mut Self {
        let value = hex(self.meta.to_string().as_bytes());
        self.database.execute("INSERT OR REPLACE INTO meta VALUES ('0', ?)", params![value]).unwrap();
        self
    }

    /// Closes it, which leaves no log behind.
    pub fn close(self) {
        self.database.close().unwrap();
        date(&self.path, FILES);
    }
}

/// A chat with one prompt and its answer, closed.
pub fn small_chat(demo: &Demo, folder: &str, id: &str, prompt: &str) {
    let mut chat = Chat::new(demo, folder, id, None);
    chat.ask(prompt, "r1").say("Done.").save();
    chat.close();
}

/// The database of the IDE.
pub struct Ide {
    pub database: Connection,
    path: PathBuf,
}

impl Ide {
    pub fn new(demo: &Demo) -> Self {
        Self::at(demo, GLOBAL)
    }

    pub fn at(demo: &Demo, path: &str) -> Self {
        let path = demo.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let database = Connection::open(&path).unwrap();
        database
            .execute_batch(
                "CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
                 CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);",
            )
            .unwrap();
        Self { database, path }
    }

    pub fn put(&self, key: &str, value: Value) -> &Self {
        self.put_text(key, &value.to_string())
    }

    pub fn put_text(&self, key: &str, value: &str) -> &Self {
        self.database.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", params![key, value]).unwrap();
        self
    }

    pub fn item(&self, key: &str, value: Value) -> &Self {
        self.database.execute("INSERT INTO ItemTable VALUES (?, ?)", params![key, value.to_string()]).unwrap();
        self
    }

    /// A composer of these bubbles: kind (1 a person, 2 the model) and text.
    pub fn composer(&self, id: &str, bubbles: &[(u8, &str)]) -> &Self {
        let headers: Vec<Value> =
            (0..bubbles.len()).map(|at| json!({"bubbleId": format!("b{at}"), "type": bubbles[at].0})).collect();
        self.put(
            &format!("composerData:{id}"),
            json!({"_v": 17, "composerId": id, "name": format!("Composer {}", &id[..1]), "createdAt": 1_791_795_600_000u64,
                   "lastUpdatedAt": 1_791_795_700_000u64, "fullConversationHeadersOnly": headers}),
        );
        for (at, (kind, text)) in bubbles.iter().enumerate() {
            self.put(
                &format!("bubbleId:{id}:b{at}"),
                json!({"_v": 3, "bubbleId": format!("b{at}"), "type": kind, "text": text}),
            );
        }
        self
    }

    pub fn close(self) {
        self.database.close().unwrap();
        date(&self.path, FILES);
    }
}
