//! Deleting, and bringing back.

use crate::demo::{Demo, S1, S2, base};
use crate::written::{Ground, by_id};
use sepia_driver_claude::Claude;
use sepia_ir::{ErrorCode, SessionRef, SummaryDetail};
use sepia_sdk::SessionWrite;
use std::fs;

/// S1 with all that can belong to a session, and things of others.
fn full() -> Ground {
    let demo = Demo::new();
    demo.session(S1, &base(1));
    demo.session(S2, &base(1));
    for file in [
        "subagents/agent-a.jsonl",
        "subagents/agent-b.jsonl",
        "tool-results/1.txt",
        "tool-results/2.txt",
        "tool-results/3.txt",
        "custom-title.json",
    ] {
        demo.write(&format!("projects/-p-demo/{S1}/{file}"), "x");
    }
    demo.write(&format!("file-history/{S1}/c6a8ea6a9d631469@v1"), "old");
    demo.write(&format!("tasks/{S1}/1.json"), "{}");
    fs::create_dir_all(demo.root().join(format!("session-env/{S1}"))).unwrap();
    for other in ["file-history", "tasks", "session-env"] {
        demo.write(&format!("{other}/{S2}/x"), "of another");
    }
    demo.write("projects/-p-demo/memory/notes.md", "of the project");
    let prompt = |id: &str, n: u32| {
        format!(
            "{{\"display\":\"p{n} {S1}\",\"pastedContents\":{{}},\"timestamp\":{n},\"project\":\"/p/demo\",\"sessionId\":\"{id}\"}}\n"
        )
    };
    let prompts = [prompt(S2, 1), prompt(S1, 2), prompt(S2, 3), prompt(S1, 4)].concat();
    demo.write("history.jsonl", prompts);
    Ground::of(demo)
}

fn put_back(ground: &Ground) {
    for item in ground.entry.items().iter().filter(|item| item.taken) {
        ground.entry.put_back(item).unwrap();
    }
}

#[test]
fn all_that_belongs_to_it_goes_and_nothing_else() {
    let ground = full();
    let host = ground.host();
    let plan = Claude::plan_delete(&host, &by_id(S1)).unwrap();
    let mut places: Vec<&str> = plan.iter().map(|artifact| artifact.place.as_str()).collect();
    places.sort_unstable();
    let mut expected = vec![
        format!("file-history/{S1}"),
        format!("history.jsonl:{S1}"),
        format!("projects/-p-demo/{S1}.jsonl"),
        format!("projects/-p-demo/{S1}/custom-title.json"),
        format!("projects/-p-demo/{S1}/subagents/agent-a.jsonl"),
        format!("projects/-p-demo/{S1}/subagents/agent-b.jsonl"),
        format!("projects/-p-demo/{S1}/tool-results/1.txt"),
        format!("projects/-p-demo/{S1}/tool-results/2.txt"),
        format!("projects/-p-demo/{S1}/tool-results/3.txt"),
        format!("session-env/{S1}"),
        format!("tasks/{S1}"),
    ];
    expected.sort_unstable();
    assert_eq!(places, expected);
    assert_eq!(plan[0].place, format!("projects/-p-demo/{S1}.jsonl"), "the session itself is told first");
    let before = ground.demo.bytes();
    assert_eq!(Claude::plan_delete(&host, &by_id(S1)).unwrap(), plan);
    assert_eq!(ground.demo.bytes(), before, "a plan changes nothing");

    let outcome = Claude::delete(&host, &by_id(S1)).unwrap();
    assert!(outcome.failed.is_empty());
    let mut removed = outcome.removed.clone();
    let mut planned = plan.clone();
    removed.sort_by(|a, b| a.place.cmp(&b.place));
    planned.sort_by(|a, b| a.place.cmp(&b.place));
    assert_eq!(removed, planned);
    let left = ground.demo.bytes();
    assert!(left.keys().all(|path| !path.to_str().unwrap().contains(S1)));
    assert_eq!(left.len(), 6);
    assert_eq!(fs::read_to_string(ground.demo.root().join("history.jsonl")).unwrap().lines().count(), 2);
    assert_eq!(Claude::delete(&host, &by_id(S1)).unwrap_err().code, ErrorCode::NotFound);

    put_back(&ground);
    Claude::undelete(&host, &outcome.undo).unwrap();
    assert_eq!(ground.demo.bytes(), before, "everything is back, byte for byte");
    assert!(ground.demo.root().join(format!("session-env/{S1}")).is_dir());
    Claude::undelete(&host, &outcome.undo).unwrap();
    assert_eq!(ground.demo.bytes(), before, "once more does no harm");
}

#[test]
fn prompts_typed_meanwhile_stay() {
    let ground = full();
    let outcome = Claude::delete(&ground.host(), &by_id(S1)).unwrap();
    let path = ground.demo.root().join("history.jsonl");
    let text = fs::read_to_string(&path).unwrap() + "{\"display\":\"new\",\"sessionId\":\"x\"}\n";
    fs::write(&path, text).unwrap();
    Claude::undelete(&ground.host(), &outcome.undo).unwrap();
    let back = fs::read_to_string(&path).unwrap();
    let order: Vec<&str> = back.lines().map(|line| &line[12..14]).collect();
    assert_eq!(order, ["p1", "p2", "p3", "p4", "ne"]);
    fs::remove_file(&path).unwrap();
    Claude::undelete(&ground.host(), &outcome.undo).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 2);
}

#[test]
fn undo_is_checked() {
    let ground = full();
    let before = ground.demo.bytes();
    Claude::undelete(&ground.host(), b"").unwrap();
    assert_eq!(Claude::undelete(&ground.host(), b"nonsense").unwrap_err().code, ErrorCode::Invalid);
    assert_eq!(ground.demo.bytes(), before);
}

#[test]
fn ids_of_dots_take_no_folder_along() {
    let demo = Demo::new();
    demo.session(".", &base(1));
    demo.session("..", &base(1));
    demo.session(S1, &base(1));
    demo.write("file-history/x/y", "kept");
    let ground = Ground::of(demo);
    for id in [".", ".."] {
        Claude::delete(&ground.host(), &by_id(id)).unwrap();
    }
    assert_eq!(ground.demo.bytes().len(), 2);
}

#[test]
fn a_sub_agent_goes_alone_also_when_its_parent_is_gone() {
    let samples = Demo::samples();
    let row = samples.rows(SummaryDetail::Row).into_iter().find(|row| row.parent_session_id.is_some()).unwrap();
    let parent = row.parent_session_id.clone().unwrap();
    fs::remove_file(samples.root().join(format!("projects/-home-dev-shop/{parent}.jsonl"))).unwrap();
    let ground = Ground::of(samples);
    let before = ground.demo.bytes().len();
    let outcome = Claude::delete(&ground.host(), &SessionRef { id: row.id.clone(), agent_id: None }).unwrap();
    let places: Vec<&str> = outcome.removed.iter().map(|artifact| artifact.place.as_str()).collect();
    let folder = format!("projects/-home-dev-shop/{parent}/subagents/{}", row.id);
    assert_eq!(places, [format!("{folder}.meta.json"), format!("{folder}.jsonl")]);
    assert_eq!(ground.demo.bytes().len(), before - 2);
}

#[test]
fn what_can_not_be_taken_is_told_and_not_claimed() {
    let ground = full();
    // Prompts that another program adds to between the look and the change can't be simulated in one call; a folder
    // in the way of the file can.
    let path = ground.demo.root().join("history.jsonl");
    let too_long = format!("{{\"sessionId\":\"{S1}\",\"x\":\"{}\"}}\n", "y".repeat(65 << 20));
    fs::write(&path, too_long).unwrap();
    let error = Claude::delete(&ground.host(), &by_id(S1)).unwrap_err();
    assert_eq!(error.code, ErrorCode::Unsupported);
    assert!(ground.file(S1).exists());
}
