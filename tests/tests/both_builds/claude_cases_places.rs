//! Where sessions may be, seen through both builds: a sandbox sees links and strange names
//! otherwise than a program does, and both must tell the same.

use crate::both::{Both, contents};
use crate::store::{S1, S2, Store, lines, talk};
use sepia_conformance::tree_hash;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};

/// SC-15: links to projects are followed once; loops, doubles and links to nothing cost nothing.
#[test]
fn linked_projects() {
    let shared = Store::new();
    shared.session(S1, lines(&talk(1)));
    let store = Store::new();
    let projects = store.root().join("projects");
    fs::create_dir(&projects).unwrap();
    symlink(shared.root().join("projects/-p-demo"), projects.join("-p-demo")).unwrap();
    symlink(&projects, projects.join("-p-loop")).unwrap();
    symlink("-p-demo", projects.join("-p-dup")).unwrap();
    symlink(shared.root().join("nowhere"), projects.join("-p-gone")).unwrap();
    symlink("-p-self", projects.join("-p-self")).unwrap();
    let both = Both::over(store.root());
    assert_eq!(both.ids(), [S1]);
    assert_eq!(contents(&both.read(S1)), ["prompt m1", "answer m2"]);
    assert_eq!(both.newest(S1, 1).nodes[0].content, "answer m2");
}

/// SC-15: a link to a single file that leads out of the store is not followed; one within is no
/// second session.
#[test]
fn linked_files() {
    let outside = Store::new();
    let file = outside.session(S2, lines(&talk(1)));
    let store = Store::new();
    store.session(S1, lines(&talk(1)));
    symlink(file, store.root().join(format!("projects/-p-demo/{S2}.jsonl"))).unwrap();
    symlink("/etc/passwd", store.root().join("projects/-p-demo/passwd.jsonl")).unwrap();
    assert_eq!(Both::over(store.root()).ids(), [S1]);
}

/// SC-15, and the control of SC-59: a store whose root is a link is a store.
#[test]
fn the_root_is_a_link() {
    let store = Store::samples();
    let beside = Store::new();
    let link = beside.root().join("dot-claude");
    symlink(store.root(), &link).unwrap();
    let both = Both::over(&link);
    let direct = Both::over(store.root());
    assert_eq!((both.ids().len(), both.ids()), (13, direct.ids()));
    let id = "11111111-1111-4111-8111-000000000003";
    assert_eq!(both.read(id).nodes, direct.read(id).nodes);
}

/// SC-59: a directory of the agent that is a link out is not a way out, except where the driver
/// named it.
#[test]
fn links_elsewhere_lead_nowhere() {
    let outside = Store::new();
    outside.write("subagents/agent-x.jsonl", lines(&talk(1)));
    let store = Store::new();
    store.session(S1, lines(&talk(1)));
    symlink(outside.root(), store.root().join(format!("projects/-p-demo/{S1}"))).unwrap();
    let both = Both::over(store.root());
    assert_eq!(both.ids(), [S1]);
    // Nor is the session lost by what was planted beside it.
    assert_eq!(both.read(S1).nodes.len(), 2);
}

/// Names that are no text cost themselves and nothing else.
#[test]
fn names_that_are_not_utf_8() {
    let store = Store::new();
    store.session(S1, lines(&talk(1)));
    let folder = store.root().join("projects").join(OsStr::from_bytes(b"-p-\xff"));
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join(format!("{S2}.jsonl")), lines(&talk(1))).unwrap();
    fs::write(store.root().join("projects/-p-demo").join(OsStr::from_bytes(b"\xfe\xff.jsonl")), lines(&talk(1)))
        .unwrap();
    let both = Both::over(store.root());
    assert_eq!(both.ids(), [S1]);
    assert!(!both.scan().warnings.is_empty(), "what is missing is told");
}

/// What is no regular file is no session, and nobody waits for its other end.
#[test]
fn pipes_and_files_in_place_of_folders() {
    let store = Store::new();
    store.session(S1, lines(&talk(1)));
    let pipe = store.root().join(format!("projects/-p-demo/{S2}.jsonl"));
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
    store.write("projects/-p-file", lines(&talk(1)));
    fs::create_dir(store.root().join("projects/-p-demo/folder.jsonl")).unwrap();
    let both = Both::over(store.root());
    assert_eq!(both.ids(), [S1]);
    assert_eq!(both.read(S1).nodes.len(), 2);
}

/// A store that nobody may write to is read, and nothing is tried on it.
#[test]
fn a_read_only_store() {
    let store = Store::samples();
    let set = |mode: u32| {
        let mut waiting = vec![store.root().to_owned()];
        while let Some(path) = waiting.pop() {
            if path.is_dir() {
                fs::set_permissions(&path, fs::Permissions::from_mode(mode | 0o111)).unwrap();
                waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            } else {
                fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            }
        }
    };
    set(0o444);
    let before = tree_hash(store.root()).unwrap();
    let both = Both::over(store.root());
    for id in both.ids() {
        both.read(&id);
        both.newest(&id, 3);
    }
    assert_eq!(tree_hash(store.root()).unwrap(), before);
    set(0o644);
}
