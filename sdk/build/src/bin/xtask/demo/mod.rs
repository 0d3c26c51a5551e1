//! `cargo xtask demo`: builds the program and shows a session with `sepia serve`: what went in,
//! what came out, what it means. An answer that isn't what the wire promises fails the demo.

use crate::Context;
use crate::build;
use crate::console::{cut, wrap};
use crate::failure::Failure;
use client::Client;
use meaning::Meaning;
use sample::{Samples, Scratch};
use serde_json::{Value, json};
use std::path::Path;

mod client;
mod layout;
mod meaning;
mod own;
mod sample;

pub(crate) fn run(context: &Context) -> Result<(), Failure> {
    let console = &context.console;
    let program = build::program(context)?;
    let samples = Samples::find(&context.root)?;
    let scratch = Scratch::new()?;

    heading(context, "sepia serve on the sample stores of this repository");
    console.say(&format!("$ {}", samples.by_hand()));
    let before = samples.fingerprint()?;
    let mut talk = Talk { context, client: Client::start(samples.command(&program, &scratch)?)?, id: 0, odd: 0 };
    story(&mut talk)?;
    let odd = talk.end()?;
    if samples.fingerprint()? != before {
        return Err(Failure::new("reading changed a sample store, which it must never do: `git status` shows what"));
    }
    console.say("The sample stores are byte for byte what they were before.");

    heading(context, "your own sessions, read only");
    own::show(context, &program, &scratch)?;

    heading(context, "what to try next");
    let shown = program.strip_prefix(&context.root).unwrap_or(Path::new("sepia")).display();
    let next = [
        (format!("{shown} list"), "your sessions, newest first"),
        (format!("{shown} show <id>"), "one of them as a transcript; the start of an id is enough"),
        (format!("{shown} export <id>"), "the same as JSON for another program"),
        (format!("{shown} doctor"), "what was looked for, and where"),
        ("cargo xtask test".to_owned(), "every check of this repository"),
    ];
    for (command, what) in next {
        console.say(&format!("  {command:<36}{what}"));
    }
    match odd {
        0 => Ok(()),
        1 => Err(Failure::new("one answer was not what the wire promises: see the line marked ! above")),
        _ => Err(Failure::new(format!("{odd} answers were not what the wire promises: see the lines marked ! above"))),
    }
}

/// The requests, in the order in which a client meets them.
fn story(talk: &mut Talk<'_>) -> Result<(), Failure> {
    talk.ask("Who is there? The first call of every client.", "manifest", None, meaning::manifest)?;
    talk.ask("Which agents can be read?", "agents.list", None, meaning::agents)?;
    let listed = talk.ask("Every session of every agent.", "sessions.list", None, meaning::sessions)?;
    let rows = listed.as_array().map_or(&[][..], Vec::as_slice);
    let id_in = |row: &Value, name: &str| row[name].as_str().map(str::to_owned);
    let newest = rows.iter().find(|row| row["parentSessionId"].is_null()).and_then(|row| id_in(row, "id"));
    // A session that another one hangs from has more to show.
    let parent = rows.iter().find_map(|row| id_in(row, "parentSessionId")).or_else(|| newest.clone());
    if let (Some(newest), Some(parent)) = (newest, parent) {
        let one = Some(json!({ "id": newest }));
        talk.ask("One of them, without its messages.", "sessions.summary", one, meaning::summary)?;
        let page = Some(json!({ "id": newest, "limit": 3 }));
        talk.ask("Its last messages, a page at a time.", "sessions.history", page, meaning::history)?;
        let whole = Some(json!({ "id": parent }));
        talk.ask("A whole session, to take elsewhere.", "sessions.export", whole, meaning::export)?;
    }
    let unknown = Some(json!({ "id": "no-such-session" }));
    talk.ask_for_error("And one that is not there.", "sessions.get", unknown, meaning::not_found)?;
    talk.ask("That is all.", "shutdown", None, meaning::nothing)?;
    Ok(())
}

/// A conversation that is shown while it goes on.
struct Talk<'a> {
    context: &'a Context,
    client: Client,
    id: u64,
    /// Answers that were not as promised.
    odd: usize,
}

impl Talk<'_> {
    /// A request that must be answered with a result, which is handed back.
    fn ask(
        &mut self,
        why: &str,
        method: &str,
        params: Option<Value>,
        meaning: fn(&Value) -> Meaning,
    ) -> Result<Value, Failure> {
        self.exchange(why, method, params, "result", meaning)
    }

    /// A request that must be answered with an error.
    fn ask_for_error(
        &mut self,
        why: &str,
        method: &str,
        params: Option<Value>,
        meaning: fn(&Value) -> Meaning,
    ) -> Result<Value, Failure> {
        self.exchange(why, method, params, "error", meaning)
    }

    fn exchange(
        &mut self,
        why: &str,
        method: &str,
        params: Option<Value>,
        wanted: &str,
        meaning: fn(&Value) -> Meaning,
    ) -> Result<Value, Failure> {
        let console = self.context.console;
        self.id += 1;
        let id = self.id;
        let params = params.map(|params| format!(r#","params":{params}"#)).unwrap_or_default();
        let request = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"{params}}}"#);
        console.say("");
        console.say(&console.bold(&format!("{id}. {why}")));
        console.say(&format!("→ {request}"));
        let answer = self.client.call(&request)?;
        let mut mark = "←";
        for line in layout::lines(&answer.frame, console.width.saturating_sub(2)) {
            console.say(&format!("{mark} {}", console.dim(&line)));
            mark = " ";
        }
        let mut frame: Value = serde_json::from_str(&answer.frame).unwrap_or_default();
        let body = frame.get_mut(wanted).map(Value::take);
        let meaning = match (&body, &frame["id"]) {
            (Some(body), answered) if *answered == id => meaning(body),
            (None, answered) if *answered == id => Err(format!("the member {wanted}")),
            _ => Err(format!("an answer with id {id}")),
        };
        let size = format!("({} bytes in {:.1} ms)", answer.frame.len() + 1, answer.took.as_secs_f64() * 1000.0);
        let (mark, text) = match meaning {
            Ok(text) => (console.green("="), format!("{text} {size}")),
            Err(expected) => {
                self.odd += 1;
                (console.red("!"), format!("this is not as promised: expected {expected} {size}"))
            }
        };
        for (at, line) in wrap(&text, console.width.saturating_sub(2)).iter().enumerate() {
            console.say(&format!("{} {line}", if at == 0 { mark.as_str() } else { " " }));
        }
        Ok(body.unwrap_or_default())
    }

    /// Waits for the end of the program; how many answers were odd.
    fn end(self) -> Result<usize, Failure> {
        let (status, rest) = self.client.finish()?;
        if !status.success() {
            return Err(Failure::new(format!("`sepia serve` did not end well ({status})")));
        }
        if let Some(line) = rest.first() {
            let line = cut(&crate::console::clean(line), 80);
            return Err(Failure::new(format!("`sepia serve` wrote a line that nobody asked for: {line}")));
        }
        self.context.console.say("");
        Ok(self.odd)
    }
}

fn heading(context: &Context, text: &str) {
    let console = &context.console;
    let rule = "─".repeat(console.width.saturating_sub(text.chars().count() + 4).min(60));
    console.say("");
    console.say(&console.bold(&format!("── {text} {rule}")));
}
