//! What is timed, with its bar. The program and the bare one run in turn, round by round;
//! "cold" means without anything kept of the store, with the compiled drivers kept and the
//! pages of the files in the memory of the system.

use crate::Failed;
use crate::child::{self, Used};
use crate::client::Client;
use crate::median::median;
use crate::options::Options;
use crate::table::{Bar, Row};
use crate::truth::{Known, Truth};
use crate::{check, say};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// Messages of a page.
const PAGE: u64 = 50;
/// Small calls of one round.
const CALLS: usize = 20;

/// A word of the made texts.
const COMMON: &str = "the";

/// All that a task needs.
pub(crate) struct Ground<'a> {
    pub(crate) options: &'a Options,
    pub(crate) place: PathBuf,
    pub(crate) truth: Truth,
    largest: Known,
    smallest: Known,
    /// Our own files, outputs, and a folder with the driver program.
    pub(crate) work: TempDir,
}

/// Times a group of tasks.
type Group = fn(&Ground<'_>) -> Result<Vec<Row>, Failed>;

/// Groups of tasks, by name.
const GROUPS: [(&str, Group); 8] = [
    ("listing", |ground| ground.listings()),
    ("search", |ground| ground.search()),
    ("export", |ground| {
        let plain = Bar { ratio: Some(2.0), peak: Some(96), wall: None };
        let redacted = Bar { ratio: Some(3.0), peak: Some(128), wall: None };
        Ok(vec![
            ground.export("export, verbatim", &["--verbatim"], plain)?,
            ground.export("export, secrets taken out", &[], redacted)?,
        ])
    }),
    ("history", |ground| ground.history()),
    ("starting", |ground| ground.starting()),
    ("calls", |ground| ground.small_calls()),
    ("moving", |ground| ground.moving()),
    ("live", |ground| ground.live()),
];

/// Makes a command anew for each run.
pub(crate) type Making<'a> = Box<dyn Fn() -> Command + 'a>;

impl<'a> Ground<'a> {
    pub(crate) fn new(options: &'a Options, place: PathBuf, truth: Truth) -> Result<Self, Failed> {
        let work = TempDir::new()?;
        fs::create_dir(work.path().join("drivers"))?;
        fs::create_dir(work.path().join("none"))?;
        symlink(&options.driver, work.path().join("drivers/sepia-driver-claude"))?;
        let largest = truth.largest().ok_or("the store is empty")?.clone();
        let smallest = truth.smallest().ok_or("the store is empty")?.clone();
        Ok(Self { options, place, truth, largest, smallest, work })
    }

    /// Times everything.
    pub(crate) fn run(&self) -> Result<Vec<Row>, Failed> {
        // Compiles the drivers, so that only the tasks that say so do.
        child::run(self.sepia().args(["list", "--limit", "1"]), None)?;
        let mut rows = Vec::new();
        if self.truth.agent() != "claude" {
            return self.others();
        }
        for (group, run) in GROUPS {
            if self.options.only.as_deref().is_none_or(|only| only == group) {
                rows.extend(run(self)?);
            }
        }
        Ok(rows)
    }

    pub(crate) fn sepia(&self) -> Command {
        let mut command = Command::new(&self.options.program);
        command
            .env_clear()
            .env("HOME", self.work.path())
            .env("PATH", self.work.path().join("none"))
            .env("SEPIA_HOME", self.work.path().join("home"))
            .env("SEPIA_CLAUDE_DIR", self.place.join("claude"));
        match self.truth.agent() {
            "cline" => command.env("SEPIA_CLINE_DIR", self.place.join("cline")),
            "cursor" => command.env("SEPIA_CURSOR_DIR", self.place.join("cursor")),
            "devin" => command.env("SEPIA_DEVIN_DB", self.place.join("devin/sessions.db")),
            _ => &mut command,
        };
        command
    }

    /// With the driver that is a program.
    pub(crate) fn process(&self) -> Command {
        let mut command = self.sepia();
        command.env("SEPIA_DRIVER_DIR", self.work.path().join("drivers"));
        command
    }

    pub(crate) fn native(&self, task: &str) -> Result<Command, Failed> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["native", task]).arg(self.place.join("claude/projects"));
        Ok(command)
    }

    fn empty_cache(&self) -> Result<(), Failed> {
        match fs::remove_dir_all(self.work.path().join("home/cache")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Runs the commands in turn, as many rounds as there are to be.
    pub(crate) fn in_turn<const N: usize>(&self, commands: &[Making<'_>; N]) -> Result<[Used; N], Failed> {
        let mut runs = [const { Vec::new() }; N];
        for _ in 0..self.options.rounds {
            for (command, runs) in commands.iter().zip(&mut runs) {
                runs.push(child::run(&mut command(), None)?);
            }
        }
        Ok(runs.map(|runs| child::summary(&runs)))
    }

    /// A word that is nowhere and one that is everywhere, beside ripgrep over the same files where it
    /// is on the PATH.
    fn search(&self) -> Result<Vec<Row>, Failed> {
        let Some(ripgrep) = on_path("rg") else {
            say("search: no `rg` on the PATH to compare with");
            return Ok(Vec::new());
        };
        say("search: timing");
        let mut rows = Vec::new();
        for (word, about) in [("zzqqxxjj", "a word that is nowhere"), (COMMON, "a common word, newest 50 sessions")] {
            let search = || {
                let mut command = self.sepia();
                command.args(["search", word]);
                command
            };
            let bare = || {
                let mut command = Command::new("sh");
                // Exit code 1 is its way to say that there is no match.
                let script = "\"$0\" -uuu -- \"$1\" \"$2\" || test $? = 1";
                command.args(["-c", script]).arg(&ripgrep).arg(word).arg(self.place.join("claude"));
                command
            };
            let output = self.work.path().join("search.txt");
            child::run(&mut search(), Some(&output))?;
            let hits = fs::read_to_string(&output)?.lines().filter(|line| line.contains(word)).count();
            let differ = usize::from((hits > 0) != (word == COMMON));
            let [sepia, native] = self.in_turn(&[Box::new(search), Box::new(bare)])?;
            let bar = Bar { ratio: Some(2.0), peak: Some(96), wall: None };
            rows.push(Row { task: format!("search, {about} (beside rg)"), sepia, native: Some(native), bar, differ });
        }
        Ok(rows)
    }

    fn export(&self, task: &str, more: &[&str], bar: Bar) -> Result<Row, Failed> {
        say(&format!("{task}: timing"));
        let output = self.work.path().join("export.json");
        let export = || {
            let mut command = self.sepia();
            command.args(["export", &self.largest.id]).args(more);
            command
        };
        child::run(&mut export(), Some(&output))?;
        let differ = check::export(&output, &self.largest)?;
        let bare = || -> Result<Command, Failed> {
            let mut command = Command::new(std::env::current_exe()?);
            command.args(["native", "tojson"]).arg(self.place.join(&self.largest.path));
            command.arg(self.work.path().join("native.json"));
            Ok(command)
        };
        let bare = bare()?;
        let [sepia, native] = self.in_turn(&[Box::new(export), Box::new(|| again(&bare))])?;
        let task = format!("{task}, {} MB", self.largest.bytes / 1_000_000);
        Ok(Row { task, sepia, native: Some(native), bar, differ })
    }

    /// Pages of the largest session, each round through a server of its own.
    fn history(&self) -> Result<Vec<Row>, Failed> {
        say("history: timing");
        let (mut newest, mut older) = (Vec::new(), Vec::new());
        let mut differ = [0; 2];
        for _ in 0..self.options.rounds {
            let mut server = Client::start(&mut self.sepia())?;
            server.ask("manifest", &Value::Null)?;
            newest.push(server.ask("sessions.history", &json!({ "id": self.largest.id, "limit": PAGE }))?);
            let first = server.result()?;
            let start = first["start"].as_u64().unwrap_or(0);
            older.push(
                server.ask("sessions.history", &json!({ "id": self.largest.id, "limit": PAGE, "before": start }))?,
            );
            let second = server.result()?;
            let total = first["total"].as_u64();
            differ[0] += usize::from(total.map(|total| total.saturating_sub(PAGE)) != Some(start));
            differ[1] += usize::from(second["start"].as_u64() != Some(start.saturating_sub(PAGE)));
        }
        let row = |task: &str, times, bar, differ| Row {
            task: task.to_owned(),
            sepia: of_walls(times),
            native: None,
            bar,
            differ,
        };
        Ok(vec![
            row("history, newest 50 of that session", newest, wall(150.0), differ[0]),
            row("history, the next older 50", older, wall(20.0), differ[1]),
        ])
    }

    fn starting(&self) -> Result<Vec<Row>, Failed> {
        say("starting: timing");
        let bare = || {
            let mut command = Command::new(std::env::current_exe().unwrap_or_default());
            command.args(["native", "nothing"]);
            command
        };
        let version = || {
            let mut command = self.sepia();
            command.arg("--version");
            command
        };
        let [version, native] = self.in_turn(&[Box::new(version), Box::new(bare)])?;
        let mut rows =
            vec![Row { task: "--version".into(), sepia: version, native: Some(native), bar: wall(5.0), differ: 0 }];
        for (method, warm, params) in [
            ("manifest", true, Value::Null),
            ("manifest", false, Value::Null),
            ("agents.list", true, Value::Null),
            ("agents.list", false, Value::Null),
            ("sessions.list", true, json!({ "limit": 1 })),
            ("sessions.list", false, json!({ "limit": 1 })),
        ] {
            let mut times = Vec::new();
            for _ in 0..self.options.rounds {
                if !warm {
                    self.empty_cache()?;
                }
                let mut server = Client::start(&mut self.sepia())?;
                server.ask(method, &params)?;
                times.push(server.age());
                server.result()?;
            }
            let cache = if warm { "warm" } else { "empty" };
            let bar = wall(if warm { 40.0 } else { 900.0 });
            // A listing of the whole store has a bar of its own.
            let bar = if method == "sessions.list" { Bar::default() } else { bar };
            rows.push(Row {
                task: format!("serve to {method}, compiled cache {cache}"),
                sepia: of_walls(times),
                native: None,
                bar,
                differ: 0,
            });
        }
        Ok(rows)
    }

    /// `sessions.summary` of the smallest session, again and again.
    fn small_calls(&self) -> Result<Vec<Row>, Failed> {
        say("small calls: timing");
        let params = json!({ "id": self.smallest.id });
        let mut rows = Vec::new();
        for (form, command) in [("component", self.sepia()), ("program", self.process())] {
            let mut command = command;
            let mut server = Client::start(&mut command)?;
            let mut times = Vec::new();
            for call in 0..=self.options.rounds * CALLS {
                let time = server.ask("sessions.summary", &params)?;
                // The first brings the driver in.
                if call > 0 {
                    times.push(time);
                }
            }
            let differ = usize::from(server.result()?["id"] != self.smallest.id.as_str());
            rows.push(Row {
                task: format!("sessions.summary, small, by {form}"),
                sepia: of_walls(times),
                native: None,
                bar: Bar::default(),
                differ,
            });
        }
        Ok(rows)
    }
}

/// A program on the PATH.
fn on_path(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?).map(|folder| folder.join(name)).find(|file| file.is_file())
}

fn wall(milliseconds: f64) -> Bar {
    Bar { wall: Some(milliseconds), ..Bar::default() }
}

fn of_walls(times: Vec<f64>) -> Used {
    Used { wall: median(times), ..Used::default() }
}

/// The same command once more.
pub(crate) fn again(command: &Command) -> Command {
    let mut again = Command::new(command.get_program());
    again.args(command.get_args());
    again
}
