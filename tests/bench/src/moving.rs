//! Sessions that move: the largest and one of a megabyte into every agent's store, and a thousand small ones
//! through one server.

use crate::child::{self, Used};
use crate::client::Client;
use crate::table::{Bar, Row};
use crate::tasks::{Ground, again};
use crate::truth::{Known, Truth};
use crate::{Failed, say};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Sessions that one server takes, one after the other.
const IMPORTS: u32 = 1_000;
/// The session of a megabyte, and the small one, bytes.
const MEGABYTE: u64 = 1_000_000;
const SMALL: u64 = 60_000;
/// Milliseconds above the program's start that a session of a megabyte may take.
const ABOVE_START: f64 = 15.0;
/// Milliseconds that an import may take.
const IMPORT: f64 = 4.0;

impl Ground<'_> {
    pub(crate) fn moving(&self) -> Result<Vec<Row>, Failed> {
        let largest = self.truth.largest().ok_or("the store is empty")?.clone();
        let megabyte = self.nearest(MEGABYTE)?;
        let small = self.nearest(SMALL)?;
        // The copies would be found by whoever lists the store after this.
        let own = self.with_store_of(&[&largest, &megabyte, &small])?;
        own.move_all(&largest, &megabyte, &small)
    }

    /// The same with a store of its own that has just these sessions.
    fn with_store_of(&self, sessions: &[&Known]) -> Result<Ground<'_>, Failed> {
        let place = self.work.path().join("moving");
        for session in sessions {
            let copy = place.join(&session.path);
            fs::create_dir_all(copy.parent().ok_or("a session without a folder")?)?;
            fs::copy(self.place.join(&session.path), copy)?;
        }
        let sessions = sessions.iter().map(|session| (*session).clone()).collect();
        let own = Ground::new(self.options, place, Truth { sessions })?;
        own.give_databases()?;
        Ok(own)
    }

    fn move_all(&self, largest: &Known, megabyte: &Known, small: &Known) -> Result<Vec<Row>, Failed> {
        let agents = self.writing_agents()?;
        let mut rows = Vec::new();
        let version = self.version()?;
        for agent in &agents {
            say(&format!("convert to {agent}: timing"));
            rows.push(self.convert(largest, agent, Bar { ratio: Some(3.0), peak: Some(128), wall: None })?);
            let bar = Bar { wall: Some(version + ABOVE_START), ..Bar::default() };
            rows.push(self.convert(megabyte, agent, bar)?);
        }
        for agent in &agents {
            say(&format!("import into {agent}: timing"));
            rows.push(self.imports(small, agent)?);
        }
        Ok(rows)
    }

    /// The agent whose sessions live in a database that only it makes gets one.
    fn give_databases(&self) -> Result<(), Failed> {
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/devin/subagent/cli/sessions.db");
        let place = self.work.path().join(".local/share/devin/cli");
        fs::create_dir_all(&place)?;
        fs::copy(sample, place.join("sessions.db"))?;
        Ok(())
    }

    fn writing_agents(&self) -> Result<Vec<String>, Failed> {
        let mut server = Client::start(&mut self.sepia())?;
        server.ask("agents.list", &Value::Null)?;
        let agents = server.result()?;
        let writes =
            |agent: &&Value| agent["capabilities"].as_array().is_some_and(|c| c.contains(&json!("sessionWrite")));
        let writing = agents.as_array().into_iter().flatten().filter(writes);
        Ok(writing.filter_map(|agent| agent["id"].as_str().map(str::to_owned)).collect())
    }

    fn nearest(&self, bytes: u64) -> Result<Known, Failed> {
        let nearest = self.truth.sessions.iter().min_by_key(|session| session.bytes.abs_diff(bytes));
        Ok(nearest.ok_or("the store is empty")?.clone())
    }

    fn version(&self) -> Result<f64, Failed> {
        let version = || {
            let mut command = self.sepia();
            command.arg("--version");
            command
        };
        let [version] = self.in_turn(&[Box::new(version)])?;
        Ok(version.wall)
    }

    fn convert(&self, session: &Known, agent: &str, bar: Bar) -> Result<Row, Failed> {
        let convert = || {
            let mut command = self.sepia();
            command.args(["convert", &session.id, "--to", agent, "--json"]).arg("--cwd").arg(self.work.path());
            command
        };
        let told = self.work.path().join("convert.json");
        // Also has the driver compiled, and its code kept.
        child::run(&mut convert(), Some(&told))?;
        let differ = self.compare(session, &told, agent)?;
        let mut bare = Command::new(std::env::current_exe()?);
        bare.args(["native", "tojson"]).arg(self.place.join(&session.path)).arg(self.work.path().join("native.json"));
        let [sepia, native] = self.in_turn(&[Box::new(convert), Box::new(|| again(&bare))])?;
        let (whole, tenth) = (session.bytes / 1_000_000, session.bytes / 100_000 % 10);
        let task = format!("convert {whole}.{tenth} MB to {agent}");
        Ok(Row { task, sepia, native: Some(native), bar, differ })
    }

    /// Whether the copy has as many calls, results and images as the source.
    fn compare(&self, session: &Known, told: &Path, agent: &str) -> Result<usize, Failed> {
        let told: Value = serde_json::from_slice(&fs::read(told)?)?;
        let id = told["sessionId"].as_str().ok_or("no id was told")?;
        let count = |arguments: &[&str]| -> Result<[usize; 4], Failed> {
            let output = self.work.path().join("compare.json");
            child::run(self.sepia().args(arguments).arg("--verbatim"), Some(&output))?;
            let text = fs::read_to_string(&output)?;
            let of = |what: &str| text.matches(what).count();
            Ok([of("\"role\":\"tool\""), of("\"kind\":\"function\""), of("\"type\":\"image\""), of("\"thinking\":\"")])
        };
        let source = count(&["export", &session.id])?;
        let copy = count(&["export", id, "--agent", agent])?;
        // An unanswered call gets a result, so there may be more of these.
        let fewer = source.iter().zip(copy).filter(|(source, copy)| copy < *source).count();
        Ok(fewer)
    }

    fn imports(&self, session: &Known, agent: &str) -> Result<Row, Failed> {
        let output = self.work.path().join("small.json");
        child::run(self.sepia().args(["export", &session.id, "--verbatim"]), Some(&output))?;
        let mut bundle: Value = serde_json::from_slice(&fs::read(&output)?)?;
        let cwd = self.work.path().join("imports");
        let params = json!({ "agent": agent, "session": bundle["session"].take(), "cwd": cwd });
        let mut server = Client::start(&mut self.sepia())?;
        let mut sum = 0.0;
        let mut differ = 0;
        for at in 0..=IMPORTS {
            let time = server.ask("sessions.import", &params)?;
            differ += usize::from(server.result()?["agentId"] != agent);
            // The first brings the driver in.
            if at > 0 {
                sum += time;
            }
        }
        let sepia = Used { wall: sum / f64::from(IMPORTS), ..Used::default() };
        let task = format!("import {} KB into {agent}, mean of {IMPORTS}", session.bytes / 1_000);
        Ok(Row { task, sepia, native: None, bar: Bar { wall: Some(IMPORT), ..Bar::default() }, differ })
    }
}
