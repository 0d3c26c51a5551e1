//! Files of a checkpoint that version control keeps.

use sepia_tests::{Client, Machine, tree};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A repository with a session that works in it.
struct Work {
    machine: Machine,
    cwd: PathBuf,
}

fn git(place: &Path, arguments: &[&str]) -> String {
    let identity = ["-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "init.defaultBranch=main"];
    let mut git = Command::new("git");
    git.arg("-C").arg(place).args(identity).args(arguments);
    let output = git.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", place).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

impl Work {
    /// Two commits: `a`, `sub/b` and `kept`, of which the second changes `a`, takes `b` away and adds `new`.
    fn new() -> Self {
        let machine = Machine::empty();
        // Where git is, in case that it is in no place of the system.
        let found = std::env::var_os("PATH").unwrap();
        let git_program = std::env::split_paths(&found).map(|dir| dir.join("git")).find(|path| path.is_file()).unwrap();
        symlink(git_program, machine.place("path/git")).unwrap();
        let cwd = machine.place("work");
        fs::create_dir_all(cwd.join("sub")).unwrap();
        let cwd = cwd.canonicalize().unwrap();
        git(&cwd, &["init", "-q"]);
        let work = Self { machine, cwd };
        work.write("a", "one\n");
        work.write("sub/b", "b\n");
        work.write("kept", "kept\n");
        git(&work.cwd, &["add", "."]);
        git(&work.cwd, &["commit", "-qm", "first"]);
        work.write("a", "two\n");
        work.write("sub/new", "new\n");
        fs::remove_file(work.cwd.join("sub/b")).unwrap();
        git(&work.cwd, &["add", "-A"]);
        git(&work.cwd, &["commit", "-qm", "second"]);
        work
    }

    fn write(&self, path: &str, content: &str) {
        fs::write(self.cwd.join(path), content).unwrap();
    }

    fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.cwd.join(path)).ok()
    }

    /// A session that works in a directory and has these checkpoints; its id.
    fn session(client: &mut Client, agent: &str, cwd: &Path, references: &[&str]) -> Value {
        let checkpoint = |(run, name): (usize, &&str)| json!({"ref": name, "createdAt": 1000.0, "runCount": run + 1, "kind": "commit"});
        let checkpoints: Vec<Value> = references.iter().enumerate().map(checkpoint).collect();
        let session = json!({
            "id": "x", "title": "Work", "workingDirectory": cwd, "model": "m", "createdAt": 1.0, "lastActivityAt": 2.0,
            "mainChainId": 2, "backendType": "elsewhere", "checkpoints": checkpoints,
            "nodes": [
                {"nodeId": 1, "role": "user", "content": "Hello", "createdAt": 1.0},
                {"nodeId": 2, "parentNodeId": 1, "role": "assistant", "content": "Good day", "createdAt": 2.0, "model": "m"},
            ],
        });
        client.get("sessions.import", &json!({"agent": agent, "session": session}))["id"].take()
    }

    /// What version control says of the directory, but for the files themselves.
    fn stand(&self) -> [String; 3] {
        [&["rev-parse", "HEAD"][..], &["ls-files", "-s"], &["for-each-ref"]].map(|asked| git(&self.cwd, asked))
    }
}

fn restore(client: &mut Client, id: &Value, request: &Value) -> Result<Value, Value> {
    client.call("sessions.restore", &json!({"id": id, "request": request}))
}

fn code(answer: Result<Value, Value>) -> String {
    answer.unwrap_err()["data"]["code"].as_str().unwrap().to_owned()
}

/// What was done, by path relative to the directory, and what was passed over.
fn told(work: &Work, answer: &Value) -> (Vec<(String, String)>, Vec<String>) {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let relative = |path: &Value| Path::new(&text(path)).strip_prefix(&work.cwd).unwrap().display().to_string();
    let mut done: Vec<_> =
        answer["restored"].as_array().unwrap().iter().map(|f| (relative(&f["path"]), text(&f["action"]))).collect();
    done.sort();
    let mut passed_over: Vec<_> = answer["skipped"].as_array().unwrap().iter().map(|f| text(&f["path"])).collect();
    passed_over.sort();
    (done, passed_over)
}

fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(path, action)| ((*path).to_owned(), (*action).to_owned())).collect()
}

#[test]
fn a_commit_is_shown_and_then_brought_back_and_nothing_beside_it() {
    let work = Work::new();
    let commit = git(&work.cwd, &["rev-parse", "HEAD"]);
    let mut client = work.machine.serve();
    // By the agent that has such checkpoints, and by those that carry them along.
    for agent in ["cline", "claude"] {
        work.write("a", "three\n");
        work.write("kept", "changed by hand\n");
        work.write("sub/b", "again\n");
        work.write("untracked", "mine\n");
        fs::remove_file(work.cwd.join("sub/new")).unwrap();
        let stand = work.stand();
        let id = Work::session(&mut client, agent, &work.cwd, &[&commit]);
        let summary = client.get("sessions.summary", &json!({"id": id}));
        assert_eq!(summary["checkpoints"][0]["ref"], commit, "{agent}: {summary:#}");
        let expected = owned(&[("a", "written"), ("sub/b", "deleted"), ("sub/new", "written")]);

        assert_eq!(code(restore(&mut client, &id, &json!({"checkpoint": commit}))), "invalid", "without `confirm`");
        let before = tree::fingerprint(&work.cwd);
        let preview = restore(&mut client, &id, &json!({"checkpoint": commit, "dryRun": true}));
        let preview = preview.unwrap_or_else(|error| panic!("{agent}: {error}"));
        assert_eq!(told(&work, &preview), (expected.clone(), vec![]), "{agent}");
        assert_eq!(tree::fingerprint(&work.cwd), before, "{agent}: a preview changes nothing");

        let one =
            restore(&mut client, &id, &json!({"checkpoint": commit, "paths": ["a", "kept"], "confirm": true})).unwrap();
        assert_eq!(told(&work, &one), (owned(&[("a", "written")]), vec!["kept".to_owned()]), "{agent}");
        assert_eq!(work.read("sub/new"), None, "{agent}");

        let done = restore(&mut client, &id, &json!({"checkpoint": commit, "confirm": true})).unwrap();
        let expected = owned(&[("a", "unchanged"), ("sub/b", "deleted"), ("sub/new", "written")]);
        assert_eq!(told(&work, &done), (expected, vec![]), "{agent}");
        let files = ["a", "sub/b", "sub/new", "kept", "untracked"].map(|path| work.read(path));
        let wanted = [Some("two\n"), None, Some("new\n"), Some("changed by hand\n"), Some("mine\n")];
        assert_eq!(files, wanted.map(|text| text.map(str::to_owned)), "{agent}");
        assert_eq!(work.stand(), stand, "{agent}: neither the index nor a reference is touched");
    }
}

#[test]
fn what_was_not_committed_is_brought_back_by_a_commit_of_the_form_of_a_stash() {
    let work = Work::new();
    work.write("a", "not committed\n");
    work.write("staged", "staged\n");
    git(&work.cwd, &["add", "staged"]);
    let stash = git(&work.cwd, &["stash", "create"]);
    git(&work.cwd, &["update-ref", "refs/cline/checkpoints/x/1", &stash]);
    work.write("a", "spoiled\n");
    work.write("staged", "spoiled\n");
    work.write("kept", "changed by hand\n");
    let mut client = work.machine.serve();
    for name in ["refs/cline/checkpoints/x/1", &stash] {
        let id = Work::session(&mut client, "cline", &work.cwd, &[name]);
        let done = restore(&mut client, &id, &json!({"checkpoint": name, "dryRun": true})).unwrap();
        // Each once, though such a commit has two parents.
        assert_eq!(told(&work, &done), (owned(&[("a", "written"), ("staged", "written")]), vec![]));
    }
    let id = Work::session(&mut client, "cline", &work.cwd, &[&stash]);
    restore(&mut client, &id, &json!({"checkpoint": stash, "confirm": true})).unwrap();
    let files = ["a", "staged", "kept"].map(|path| work.read(path).unwrap());
    assert_eq!(files, ["not committed\n", "staged\n", "changed by hand\n"]);
}

#[test]
fn the_first_commit_is_all_that_it_holds() {
    let work = Work::new();
    let first = git(&work.cwd, &["rev-parse", "HEAD^"]);
    let mut client = work.machine.serve();
    // Of a directory inside of the repository, only what is below it.
    let id = Work::session(&mut client, "cline", &work.cwd.join("sub"), &[&first]);
    let done = restore(&mut client, &id, &json!({"checkpoint": first, "confirm": true})).unwrap();
    assert_eq!(told(&work, &done), (owned(&[("sub/b", "written")]), vec![]));
    let id = Work::session(&mut client, "cline", &work.cwd, &[&first]);
    let done = restore(&mut client, &id, &json!({"checkpoint": first, "confirm": true})).unwrap();
    assert_eq!(told(&work, &done), (owned(&[("a", "written"), ("kept", "unchanged"), ("sub/b", "unchanged")]), vec![]));
    assert_eq!(work.read("a").as_deref(), Some("one\n"));
    assert_eq!(work.read("sub/new").as_deref(), Some("new\n"), "what the checkpoint does not cover stays");
}

#[test]
fn a_link_is_neither_followed_nor_made() {
    let work = Work::new();
    let outside = work.machine.place("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("a"), "keep").unwrap();
    fs::write(outside.join("new"), "keep").unwrap();
    symlink("a", work.cwd.join("link")).unwrap();
    work.write("sub/new", "newer\n");
    work.write("a", "four\n");
    git(&work.cwd, &["add", "-A"]);
    git(&work.cwd, &["commit", "-qm", "third"]);
    let commit = git(&work.cwd, &["rev-parse", "HEAD"]);
    // What is there now leads out of the directory: a file, and the folder of another.
    fs::remove_file(work.cwd.join("a")).unwrap();
    symlink(outside.join("a"), work.cwd.join("a")).unwrap();
    fs::remove_dir_all(work.cwd.join("sub")).unwrap();
    symlink(&outside, work.cwd.join("sub")).unwrap();
    fs::remove_file(work.cwd.join("link")).unwrap();
    let mut client = work.machine.serve();
    let id = Work::session(&mut client, "cline", &work.cwd, &[&commit]);
    let before = tree::fingerprint(&outside);
    let done = restore(&mut client, &id, &json!({"checkpoint": commit, "confirm": true})).unwrap();
    assert_eq!(told(&work, &done), (vec![], ["a", "link", "sub/new"].map(str::to_owned).to_vec()), "{done:#}");
    assert_eq!(tree::fingerprint(&outside), before);
    assert!(!work.cwd.join("link").exists());
}

#[test]
fn what_version_control_has_not_is_left_as_it_is() {
    let work = Work::new();
    let commit = git(&work.cwd, &["rev-parse", "HEAD"]);
    let blob = git(&work.cwd, &["rev-parse", "HEAD:a"]);
    work.write("a", "mine\n");
    let object = work.cwd.join(".git/objects").join(&blob[..2]).join(&blob[2..]);
    fs::remove_file(object).unwrap();
    let mut client = work.machine.serve();
    let id = Work::session(
        &mut client,
        "cline",
        &work.cwd,
        &[&commit, "0000000000000000000000000000000000000001", "--help"],
    );
    let done = restore(&mut client, &id, &json!({"checkpoint": commit, "confirm": true})).unwrap();
    assert_eq!(told(&work, &done).1, ["a"], "{done:#}");
    assert_eq!(work.read("a").as_deref(), Some("mine\n"));
    // A commit that was thrown away, and what is no revision at all.
    for gone in ["0000000000000000000000000000000000000001", "--help"] {
        let refused = restore(&mut client, &id, &json!({"checkpoint": gone, "confirm": true})).unwrap_err();
        assert_eq!(refused["data"]["code"], "conflict", "{refused}");
        assert!(refused["message"].as_str().unwrap().contains("is no commit"), "{refused}");
    }
    // One of which the session knows nothing, though version control has it.
    let first = git(&work.cwd, &["rev-parse", "HEAD^"]);
    assert_eq!(code(restore(&mut client, &id, &json!({"checkpoint": first, "confirm": true}))), "not_found");
}

#[test]
fn without_version_control_it_is_refused() {
    let work = Work::new();
    let commit = git(&work.cwd, &["rev-parse", "HEAD"]);
    let elsewhere = work.machine.place("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let elsewhere = elsewhere.canonicalize().unwrap();
    let mut client = work.machine.serve();
    let id = Work::session(&mut client, "cline", &elsewhere, &[&commit]);
    let refused = restore(&mut client, &id, &json!({"checkpoint": commit, "confirm": true})).unwrap_err();
    assert_eq!(refused["data"]["code"], "conflict", "{refused}");
    let gone = Work::session(&mut client, "cline", &work.machine.place("gone"), &[&commit]);
    assert_eq!(code(restore(&mut client, &gone, &json!({"checkpoint": commit, "confirm": true}))), "invalid");
    drop(client);
    // No git on the machine.
    let Work { machine, cwd } = work;
    let machine = machine.with("PATH", "/nowhere");
    let mut client = machine.serve();
    let id = Work::session(&mut client, "cline", &cwd, &[&commit]);
    let refused = restore(&mut client, &id, &json!({"checkpoint": commit, "confirm": true})).unwrap_err();
    assert_eq!(refused["data"]["code"], "conflict", "{refused}");
    assert!(refused["message"].as_str().unwrap().contains("git is needed"), "{refused}");
}

/// A repository is input like any other: what it has been told to run is not run.
#[test]
fn nothing_of_the_repository_is_run() {
    let work = Work::new();
    let commit = git(&work.cwd, &["rev-parse", "HEAD"]);
    let trace = work.machine.place("ran");
    let script = work.machine.write("evil", format!("#!/bin/sh\necho ran >> '{}'\ncat\n", trace.display()));
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let script = script.to_str().unwrap();
    for hook in ["post-checkout", "post-index-change", "reference-transaction", "pre-commit"] {
        fs::copy(script, work.cwd.join(".git/hooks").join(hook)).unwrap();
    }
    for name in [
        "core.fsmonitor",
        "core.pager",
        "diff.external",
        "filter.x.smudge",
        "filter.x.clean",
        "diff.x.textconv",
        "diff.x.command",
        "core.editor",
        "core.sshCommand",
        "credential.helper",
        "uploadpack.packObjectsHook",
    ] {
        git(&work.cwd, &["config", name, script]);
    }
    fs::write(work.cwd.join(".gitattributes"), "* filter=x diff=x\n").unwrap();
    fs::write(work.cwd.join(".git/info/attributes"), "* filter=x diff=x\n").unwrap();
    work.write("a", "three\n");
    let mut client = work.machine.serve();
    let id = Work::session(&mut client, "cline", &work.cwd, &[&commit]);
    let done = restore(&mut client, &id, &json!({"checkpoint": commit, "confirm": true})).unwrap();
    assert_eq!(told(&work, &done).0[0], ("a".to_owned(), "written".to_owned()));
    assert_eq!(work.read("a").as_deref(), Some("two\n"));
    assert!(!trace.exists(), "something of the repository was run");
}

/// A session that a running agent holds keeps its files, too, unless it is forced.
#[test]
fn files_of_a_session_that_is_held_are_left_alone() {
    let work = Work::new();
    let commit = git(&work.cwd, &["rev-parse", "HEAD"]);
    work.write("a", "three\n");
    let mut client = work.machine.serve();
    let id = Work::session(&mut client, "claude", &work.cwd, &[&commit]);
    let marker = json!({"pid": std::process::id(), "sessionId": id, "cwd": work.cwd});
    work.machine.write(&format!("claude/sessions/{}.json", std::process::id()), marker.to_string());
    assert_eq!(code(restore(&mut client, &id, &json!({"checkpoint": commit, "confirm": true}))), "locked");
    assert_eq!(work.read("a").as_deref(), Some("three\n"));
    restore(&mut client, &id, &json!({"checkpoint": commit, "dryRun": true})).unwrap();
    restore(&mut client, &id, &json!({"checkpoint": commit, "confirm": true, "force": true})).unwrap();
    assert_eq!(work.read("a").as_deref(), Some("two\n"));
}
