//! A machine of its own for each test: a home directory, a store, folders for drivers, and an
//! environment that holds nothing else.

use crate::client::Client;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, FileTimes};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// Somewhere to read sessions.
pub struct Machine {
    folder: TempDir,
    environment: BTreeMap<OsString, OsString>,
}

/// A command that ran to its end.
#[derive(Debug)]
pub struct Ran {
    /// How it ended.
    pub status: ExitStatus,
    /// All of its stdout.
    pub stdout: String,
    /// All of its stderr.
    pub stderr: String,
}

impl Ran {
    /// Its stdout, when it did what it was asked.
    pub fn ok(self) -> String {
        assert!(self.status.success(), "{self:?}");
        self.stdout
    }

    /// Its exit code; −1 when a signal ended it.
    pub fn code(&self) -> i32 {
        self.status.code().unwrap_or(-1)
    }

    /// Its stdout as JSON, when it did what it was asked.
    pub fn json(self) -> serde_json::Value {
        serde_json::from_str(&self.ok()).unwrap()
    }
}

/// Drivers that are built into the program.
const BUILT_IN: usize = 4;

/// Compiled drivers, in the folder of a machine.
const CACHE: &str = "sepia/cache/components";

/// Where agents keep their sessions, below a home directory.
const PLACES: [(&str, &str); 4] = [
    ("cline/store", "home/.cline/data"),
    ("cursor/home/.cursor", "home/.cursor"),
    ("cursor/home/.config/Cursor/User", "home/.config/Cursor/User"),
    ("devin/subagent/cli", "home/.local/share/devin/cli"),
];

/// The folder in which cargo puts programs, and below it the tests that call this.
pub(crate) fn programs() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    own.parent().and_then(Path::parent).unwrap().to_owned()
}

/// The program that is tested.
pub fn program() -> PathBuf {
    programs().join("sepia-under-test")
}

/// The driver program that does wrong.
fn misbehaving_driver() -> PathBuf {
    programs().join("misbehaving_driver")
}

/// `tests/data` of the checkout.
pub fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data")
}

impl Machine {
    /// A machine without any session. The store of Claude is `SEPIA_CLAUDE_DIR`, not there yet.
    pub fn empty() -> Self {
        let folder = TempDir::new().unwrap();
        let mut machine = Self { folder, environment: BTreeMap::new() };
        for name in ["home", "sepia", "drivers", "path"] {
            fs::create_dir(machine.place(name)).unwrap();
        }
        machine.take_compiled_drivers();
        let path = format!("{}:/usr/bin:/bin", machine.place("path").display());
        let places = [
            ("HOME", machine.place("home")),
            ("SEPIA_HOME", machine.sepia_home()),
            ("SEPIA_CLAUDE_DIR", machine.claude()),
            ("SEPIA_DRIVER_DIR", machine.drivers()),
            ("TMPDIR", std::env::temp_dir()),
        ];
        for (name, value) in places {
            machine.set(name, value);
        }
        for (name, value) in [("PATH", path.as_str()), ("LANG", "C.UTF-8"), ("TZ", "UTC")] {
            machine.set(name, value);
        }
        machine
    }

    /// A machine with the sample store, its files changed last on 2026-12-01.
    pub fn with_samples() -> Self {
        let machine = Self::empty();
        copy(&data().join("claude/store"), &machine.claude());
        age(&machine.claude(), SystemTime::UNIX_EPOCH + Duration::from_secs(1_796_083_200));
        machine
    }

    /// A machine with the sample sessions of all agents, where these keep them themselves.
    pub fn with_all_agents() -> Self {
        let machine = Self::with_samples();
        for (samples, place) in PLACES {
            copy(&data().join(samples), &machine.place(place));
        }
        machine
    }

    /// Something on the machine.
    pub fn place(&self, relative: &str) -> PathBuf {
        self.folder.path().join(relative)
    }

    /// The store of Claude.
    pub fn claude(&self) -> PathBuf {
        self.place("claude")
    }

    /// sepia's own files.
    pub fn sepia_home(&self) -> PathBuf {
        self.place("sepia")
    }

    /// The folder that `SEPIA_DRIVER_DIR` names.
    pub fn drivers(&self) -> PathBuf {
        self.place("drivers")
    }

    /// Sets a variable.
    pub fn set(&mut self, name: &str, value: impl AsRef<OsStr>) {
        self.environment.insert(name.into(), value.as_ref().to_owned());
    }

    /// Takes a variable away.
    pub fn unset(&mut self, name: &str) {
        self.environment.remove(OsStr::new(name));
    }

    /// The same, to be chained.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.set(name, value);
        self
    }

    /// Puts a file into `SEPIA_DRIVER_DIR`.
    pub fn add_driver_file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.drivers().join(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// Puts the driver program `sepia-driver-<misdeed>` into `SEPIA_DRIVER_DIR`.
    pub fn add_program(&self, misdeed: &str) -> PathBuf {
        let path = self.drivers().join(format!("sepia-driver-{misdeed}"));
        symlink(misbehaving_driver(), &path).unwrap();
        path
    }

    /// Writes a file of a store or of the home directory, and the folders above it.
    pub fn write(&self, relative: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.place(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// The program with these arguments, on this machine, with nothing to read.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        command
            .args(arguments)
            .env_clear()
            .envs(&self.environment)
            .current_dir(self.place("home"))
            .stdin(Stdio::null());
        command
    }

    /// Runs it to its end.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        let output = self.command(arguments).output().unwrap();
        Ran {
            status: output.status,
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Starts `sepia serve`.
    pub fn serve(&self) -> Client {
        Client::start(self.command(&["serve"]))
    }

    /// Starts `sepia serve` for which the disk is full once a file has so many blocks of 512 bytes.
    pub fn serve_on_full_disk(&self, blocks: u32) -> Client {
        let bare = self.command(&["serve"]);
        let mut limited = Command::new("sh");
        limited.arg("-c").arg(format!("trap '' XFSZ; ulimit -S -f {blocks}; exec \"$0\" \"$@\""));
        limited.arg(bare.get_program()).args(bare.get_args()).env_clear().envs(&self.environment);
        limited.current_dir(self.place("home"));
        Client::start(limited)
    }

    /// Copies what an earlier start compiled, so that not every test compiles the built-in
    /// drivers again. Tests of the compiling itself take it away.
    fn take_compiled_drivers(&self) {
        let program = fs::metadata(program()).expect("the program is built with the tests of this crate");
        let built = program.modified().unwrap().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let kept = programs().join(format!("sepia-under-test-compiled/{}-{}", built.as_nanos(), program.len()));
        if !kept.exists() {
            let above = kept.parent().unwrap();
            fs::create_dir_all(above).unwrap();
            let fresh = TempDir::new_in(above).unwrap();
            // A driver is compiled when it is called, and called where its agent was once.
            let home = fresh.path().join("home");
            for (_, place) in PLACES {
                fs::create_dir_all(fresh.path().join(place)).unwrap();
            }
            fs::create_dir_all(home.join(".claude/projects")).unwrap();
            let mut command = Command::new(crate::machine::program());
            command.arg("list").env_clear().env("HOME", &home).env("SEPIA_HOME", fresh.path().join("sepia"));
            assert!(command.output().unwrap().status.success());
            let compiled = fs::read_dir(fresh.path().join(CACHE)).unwrap();
            let images = compiled.filter(|entry| entry.as_ref().unwrap().path().extension() == Some("image".as_ref()));
            assert_eq!(images.count(), BUILT_IN, "each driver is compiled once for all tests");
            // Another test may have been first, with the same.
            let _first = fs::rename(fresh.path(), &kept);
        }
        copy(&kept.join(CACHE), &self.place(CACHE));
    }
}

/// Copies a folder with all that is in it, modes included.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).unwrap();
        }
    }
    fs::set_permissions(to, fs::metadata(from).unwrap().permissions()).unwrap();
}

/// Sets when all files below a folder were changed last.
pub fn age(folder: &Path, time: SystemTime) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            age(&path, time);
        } else {
            File::options().write(true).open(&path).unwrap().set_times(FileTimes::new().set_modified(time)).unwrap();
        }
    }
}

/// Changes the mode of everything below a folder and of itself.
pub fn change_modes(folder: &Path, folders: u32, files: u32) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            change_modes(&path, folders, files);
        } else {
            fs::set_permissions(&path, fs::Permissions::from_mode(files)).unwrap();
        }
    }
    fs::set_permissions(folder, fs::Permissions::from_mode(folders)).unwrap();
}
