//! Stores of other agents, made elsewhere and given with their truth: the list beside a bare read of what a list
//! needs, and every session of a database as JSON beside a bare read of its messages.

use crate::child::{self, Used};
use crate::client::Client;
use crate::listing::list;
use crate::table::{Bar, Row};
use crate::tasks::{Ground, again};
use crate::{Failed, check, say};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

impl Ground<'_> {
    pub(crate) fn others(&self) -> Result<Vec<Row>, Failed> {
        let agent = self.truth.agent();
        let (task, store, ratio) = match agent {
            "cline" => ("manifests", "cline", 2.0),
            "cursor" => ("chats", "cursor", 2.0),
            "devin" => ("rows", "devin/sessions.db", 1.5),
            other => return Err(format!("a store of {other} is not known here").into()),
        };
        let store = self.place.join(store);
        let mut rows = self.lists(&bare(task, &store)?, &store, ratio)?;
        if agent == "devin" {
            rows.push(self.all_sessions(&bare("messages", &store)?)?);
        }
        Ok(rows)
    }

    /// A list with nothing kept, and the same again.
    fn lists(&self, bare: &Command, store: &Path, ratio: f64) -> Result<Vec<Row>, Failed> {
        let agent = self.truth.agent();
        let output = self.work.path().join("list.json");
        say("list: checking");
        child::run(&mut self.forgetful(self.sepia(), &[]), Some(&output))?;
        let differ = check::listing_of_others(&output, &self.truth)?;
        say("list, cold: timing");
        let [cold, native] =
            self.in_turn(&[Box::new(|| self.forgetful(self.sepia(), &[])), Box::new(|| again(bare))])?;
        say("list, warm: timing");
        child::run(&mut list(self.sepia(), &[]), None)?;
        let find = || {
            let mut command = Command::new("find");
            command.arg(store).args(["-printf", "%p %s %T@\n"]);
            command
        };
        child::run(&mut list(self.sepia(), &[]), Some(&output))?;
        let differ_warm = check::listing_of_others(&output, &self.truth)?;
        let [warm, found] = self.in_turn(&[Box::new(|| list(self.sepia(), &[])), Box::new(find)])?;
        let row = |task: String, sepia, native, ratio, differ| Row {
            task,
            sepia,
            native: Some(native),
            bar: Bar { ratio: Some(ratio), ..Bar::default() },
            differ,
        };
        Ok(vec![
            row(format!("{agent}: list --json, cold"), cold, native, ratio, differ),
            row(format!("{agent}: list --json, nothing changed (beside find)"), warm, found, 2.0, differ_warm),
        ])
    }

    /// Each session through one server, whose time is told from its start to its end.
    fn all_sessions(&self, bare: &Command) -> Result<Row, Failed> {
        say("all sessions: timing");
        let (mut runs, mut natives, mut differ) = (Vec::new(), Vec::new(), 0);
        for _ in 0..self.options.rounds {
            let mut server = Client::start(&mut self.sepia())?;
            let mut bytes = 0;
            for known in self.truth.sessions.iter().filter(|known| !known.hidden) {
                server.ask("sessions.export", &json!({ "id": known.id, "agent": self.truth.agent() }))?;
                bytes += server.bytes();
            }
            let last = server.result()?;
            differ += usize::from(bytes == 0 || last["session"]["nodes"].as_array().is_none_or(Vec::is_empty));
            server.ask("manifest", &Value::Null)?;
            runs.push(server.end()?);
            natives.push(child::run(&mut again(bare), None)?);
        }
        let of = |runs: &[Used]| child::summary(runs);
        Ok(Row {
            task: format!("{}: all sessions to JSON", self.truth.agent()),
            sepia: of(&runs),
            native: Some(of(&natives)),
            bar: Bar { ratio: Some(1.5), ..Bar::default() },
            differ,
        })
    }
}

fn bare(task: &str, store: &Path) -> Result<Command, Failed> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["native", task]).arg(store);
    Ok(command)
}
