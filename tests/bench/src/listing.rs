//! Listing: with nothing kept, with everything kept, and in between.

use crate::child;
use crate::table::{Bar, Row};
use crate::tasks::{Ground, again};
use crate::{Failed, check, say};
use std::fs::{self, File, FileTimes};
use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, SystemTime};

/// Sessions that change between two lists.
const CHANGED: usize = 10;
/// Rows of a short list.
const SHORT: &str = "50";

impl Ground<'_> {
    pub(crate) fn listings(&self) -> Result<Vec<Row>, Failed> {
        let mut rows = self.cold()?;
        rows.extend(self.warm()?);
        Ok(rows)
    }

    /// Forgets the rows that are kept, so that the next list is as the first.
    fn forget(&self) -> Result<(), Failed> {
        match fs::remove_dir_all(self.work.path().join("home/cache/rows")) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// A list after which nothing of an earlier one was left.
    pub(crate) fn forgetful(&self, command: Command, more: &[&str]) -> Command {
        if let Err(error) = self.forget() {
            say(&format!("kept rows could not be removed: {error}"));
        }
        list(command, more)
    }

    fn cold(&self) -> Result<Vec<Row>, Failed> {
        let output = self.work.path().join("list.json");
        say("list: checking");
        child::run(&mut self.forgetful(self.sepia(), &[]), Some(&output))?;
        let differ = check::listing(&output, &self.truth, &self.place)?;
        child::run(&mut self.forgetful(self.process(), &[]), Some(&output))?;
        let differ_process = check::listing(&output, &self.truth, &self.place)?;
        let with_usage = ["--stats", "--subagents"];
        child::run(&mut self.forgetful(self.sepia(), &with_usage), Some(&output))?;
        let differ_usage = check::usage(&output, &self.truth)?;
        say("list, cold: timing");
        let bare = self.native("list")?;
        let [sepia, process, native] = self.in_turn(&[
            Box::new(|| self.forgetful(self.sepia(), &[])),
            Box::new(|| self.forgetful(self.process(), &[])),
            Box::new(|| again(&bare)),
        ])?;
        say("usage, cold: timing");
        let bare_usage = self.native("usage")?;
        let [usage, native_usage] =
            self.in_turn(&[Box::new(|| self.forgetful(self.sepia(), &with_usage)), Box::new(|| again(&bare_usage))])?;
        say("list, short and cold: timing");
        let [short] = self.in_turn(&[Box::new(|| self.forgetful(self.sepia(), &["--limit", SHORT]))])?;
        let row = |task: &str, sepia, native, bar, differ| Row { task: task.to_owned(), sepia, native, bar, differ };
        let bar = Bar { ratio: Some(1.5), peak: Some(64), wall: None };
        let short_bar = Bar { wall: Some(60.0), ..Bar::default() };
        Ok(vec![
            row("list --json, cold", sepia, Some(native), bar, differ),
            row("the same, driver as a program", process, Some(native), Bar::default(), differ_process),
            row("list --json --stats, sub-agents too", usage, Some(native_usage), bar, differ_usage),
            row("list --json --limit 50, cold", short, None, short_bar, 0),
        ])
    }

    /// Beside `find -printf` over the same tree, start-up included.
    fn warm(&self) -> Result<Vec<Row>, Failed> {
        let output = self.work.path().join("list.json");
        let find = || {
            let mut command = Command::new("find");
            command.arg(self.place.join("claude")).args(["-printf", "%p %s %T@\n"]);
            command
        };
        say("list, warm: timing");
        child::run(&mut list(self.sepia(), &[]), None)?;
        child::run(&mut list(self.sepia(), &[]), Some(&output))?;
        let differ = check::listing(&output, &self.truth, &self.place)?;
        let [warm, found] = self.in_turn(&[Box::new(|| list(self.sepia(), &[])), Box::new(find)])?;
        say("list, after some sessions changed: timing");
        let touched = Touched::of(self.truth.sessions.iter().take(CHANGED).map(|known| self.place.join(&known.path)))?;
        let [after, found_after] = self.in_turn(&[
            Box::new(|| {
                touched.again();
                list(self.sepia(), &[])
            }),
            Box::new(find),
        ])?;
        drop(touched);
        let row = |task: &str, sepia, native, ratio, differ| Row {
            task: task.to_owned(),
            sepia,
            native: Some(native),
            bar: Bar { ratio: Some(ratio), ..Bar::default() },
            differ,
        };
        Ok(vec![
            row("list --json, nothing changed (beside find)", warm, found, 2.0, differ),
            row("list --json, 10 sessions changed (beside find)", after, found_after, 2.5, 0),
        ])
    }
}

pub(crate) fn list(mut command: Command, more: &[&str]) -> Command {
    command.args(["list", "--json"]).args(more);
    command
}

/// Files whose times are changed, and set back in the end.
struct Touched(Vec<(PathBuf, SystemTime)>);

impl Touched {
    fn of(paths: impl Iterator<Item = PathBuf>) -> Result<Self, Failed> {
        let with_time = |path: PathBuf| -> Result<_, Failed> {
            let time = fs::metadata(&path)?.modified()?;
            Ok((path, time))
        };
        Ok(Self(paths.map(with_time).collect::<Result<_, _>>()?))
    }

    /// Moves them to a time that none of them had yet, and long enough ago to be settled.
    fn again(&self) {
        let now = SystemTime::now() - Duration::from_secs(3600);
        self.set(|_| now);
    }

    fn set(&self, time: impl Fn(SystemTime) -> SystemTime) {
        for (path, before) in &self.0 {
            let set = File::options().append(true).open(path);
            let set = set.and_then(|file| file.set_times(FileTimes::new().set_modified(time(*before))));
            if let Err(error) = set {
                say(&format!("the time of {} could not be set: {error}", path.display()));
            }
        }
    }
}

impl Drop for Touched {
    fn drop(&mut self) {
        self.set(|before| before);
    }
}
