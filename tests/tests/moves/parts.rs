//! Field case SC-36: a session is more than a file, and what is told of its end is true.

use sepia_tests::claude::{Records, S1, S3};
use sepia_tests::unmovable::Unmovable;
use sepia_tests::{Client, Machine, tree};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// S1 with all that can belong to a session, and S3 beside it.
fn full() -> Machine {
    let machine = Machine::empty();
    let write = |place: &str, text: &str| drop(machine.write(&format!("claude/{place}"), text));
    for id in [S1, S3] {
        let records = Records::of(id).user("Hello", 1).assistant("Good day", 2);
        write(&format!("projects/-p-demo/{id}.jsonl"), records.text());
    }
    for agent in ["agent-a", "agent-b"] {
        let records = Records::of(S1).user("A part of it", 3).assistant("Done", 4);
        let text = records
            .text()
            .replace(r#""isSidechain":false"#, &format!(r#""isSidechain":true,"agentId":"{}""#, &agent[6..]));
        write(&format!("projects/-p-demo/{S1}/subagents/{agent}.jsonl"), &text);
    }
    for n in 1..=3 {
        write(&format!("projects/-p-demo/{S1}/tool-results/{n}.txt"), "what a tool gave");
    }
    write(&format!("projects/-p-demo/{S1}/custom-title.json"), r#"{"title":"Mine"}"#);
    write(&format!("file-history/{S1}/c6a8ea6a9d631469@v1"), "old");
    write(&format!("file-history/{S3}/c6a8ea6a9d631469@v1"), "old");
    let prompt = |id: &str, n: u32| {
        json!({"display": format!("p{n}"), "pastedContents": {}, "timestamp": n, "project": "/p/demo", "sessionId": id})
            .to_string()
            + "\n"
    };
    write("history.jsonl", &[prompt(S3, 1), prompt(S1, 2), prompt(S3, 3)].concat());
    machine
}

fn places(told: &Value, member: &str) -> BTreeSet<String> {
    told[member].as_array().unwrap().iter().map(|part| part["place"].as_str().unwrap().to_owned()).collect()
}

fn ids(client: &mut Client) -> BTreeSet<String> {
    let rows = client.get("sessions.list", &json!({}));
    rows.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}

/// All parts of S1: eight files and the entries of the list of prompts.
fn all_parts() -> BTreeSet<String> {
    let of_folder = [
        "custom-title.json",
        "subagents/agent-a.jsonl",
        "subagents/agent-b.jsonl",
        "tool-results/1.txt",
        "tool-results/2.txt",
        "tool-results/3.txt",
    ];
    let mut parts: BTreeSet<String> = of_folder.iter().map(|part| format!("projects/-p-demo/{S1}/{part}")).collect();
    parts.extend([format!("projects/-p-demo/{S1}.jsonl"), format!("file-history/{S1}"), format!("history.jsonl:{S1}")]);
    parts
}

/// What stands in a store, without the times of folders, which every change in them moves on.
fn content(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut content = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                content.insert(path.clone(), std::fs::read(path).unwrap());
            }
        }
    }
    content
}

#[test]
fn all_of_it_goes_and_comes_back_and_is_told_part_by_part() {
    let machine = full();
    let before = content(&machine.claude());
    let untouched = tree::fingerprint(&machine.claude());
    let mut client = machine.serve();
    let planned = client.get("sessions.delete", &json!({"id": S1, "dryRun": true}));
    assert_eq!((places(&planned, "removed"), &planned["failed"]), (all_parts(), &json!([])));
    let sizes = planned["removed"].as_array().unwrap().iter().all(|part| part["bytes"].as_u64().unwrap() > 0);
    assert!(sizes, "{planned:#}");
    assert_eq!(tree::fingerprint(&machine.claude()), untouched, "a plan changes nothing");

    let done = client.get("sessions.delete", &json!({"id": S1}));
    assert_eq!((places(&done, "removed"), &done["failed"]), (all_parts(), &json!([])));
    let left: Vec<PathBuf> = content(&machine.claude()).into_keys().collect();
    assert!(left.iter().all(|path| !path.to_str().unwrap().contains(S1)), "{left:?}");
    assert_eq!(ids(&mut client), BTreeSet::from([S3.to_owned()]), "the sub-agents went with it");
    let error = client.call("sessions.delete", &json!({"id": S1})).unwrap_err();
    assert_eq!(error["data"]["code"], "not_found");
    assert_eq!(client.get("trash.list", &json!({})).as_array().unwrap().len(), 1, "the second time leaves nothing");

    client.get("trash.restore", &json!({"entry": done["trash"]}));
    assert_eq!(content(&machine.claude()), before, "all is back, byte for byte");
    assert_eq!(client.get("trash.list", &json!({})), json!([]));
}

/// Whether a part is there; rows of the list of prompts are looked for in it.
fn is_there(machine: &Machine, place: &str) -> bool {
    match place.split_once(':') {
        Some((file, id)) => std::fs::read_to_string(machine.claude().join(file)).unwrap().contains(id),
        None => machine.claude().join(place).exists(),
    }
}

#[test]
fn what_can_not_go_is_named_and_nothing_else_is_claimed() {
    let folder = format!("projects/-p-demo/{S1}");
    let unmovable = [
        format!("{folder}/tool-results/2.txt"),
        format!("{folder}/tool-results"),
        folder,
        format!("file-history/{S1}"),
        format!("projects/-p-demo/{S1}.jsonl"),
        "history.jsonl".to_owned(),
    ];
    let mut partial = 0;
    for place in unmovable {
        let machine = full();
        let before = content(&machine.claude());
        let mut client = machine.serve();
        let Some(kept) = Unmovable::at(&machine.claude().join(&place)) else {
            eprintln!("nothing can be kept where it is on this machine, for who runs this test");
            return;
        };
        let done = client.get("sessions.delete", &json!({"id": S1}));
        let (removed, failed) = (places(&done, "removed"), places(&done, "failed"));
        assert_eq!(&(&removed | &failed), &all_parts(), "{place}: {done:#}");
        assert!(removed.is_disjoint(&failed), "{place}: {done:#}");
        for part in &removed {
            assert!(!is_there(&machine, part), "{place}: {part} is claimed to be gone");
        }
        for part in &failed {
            assert!(is_there(&machine, part), "{place}: {part} is claimed to be there");
        }
        partial += usize::from(!failed.is_empty());
        for reason in done["failed"].as_array().unwrap() {
            assert!(!reason["reason"].as_str().unwrap().is_empty());
        }
        let again = client.call("sessions.delete", &json!({"id": S1, "dryRun": true}));
        let is_listed = ids(&mut client).contains(S1);
        assert_eq!(again.is_ok(), is_listed, "{place}: {again:?}");
        if let Err(error) = again {
            assert_eq!(error["data"]["code"], "not_found", "{place}: {error}");
        }
        drop(kept);
        client.get("trash.restore", &json!({"entry": done["trash"]}));
        assert_eq!(content(&machine.claude()), before, "{place}: all is back, byte for byte");
        let done = client.get("sessions.delete", &json!({"id": S1}));
        assert_eq!((places(&done, "removed"), &done["failed"]), (all_parts(), &json!([])), "{place}");
    }
    assert!(partial >= 3, "{partial}");
}

#[test]
fn what_can_not_be_thrown_away_is_still_told_of() {
    let machine = full();
    let before = content(&machine.claude());
    let mut client = machine.serve();
    let place = machine.claude().join(format!("projects/-p-demo/{S1}/tool-results/2.txt"));
    let Some(kept) = Unmovable::at(&place) else { return };
    let answer = client.call("sessions.delete", &json!({"id": S1, "permanently": true}));
    let Err(error) = answer else {
        // It could not be taken away at all, which is told.
        assert!(!answer.unwrap()["failed"].as_array().unwrap().is_empty());
        drop(kept);
        return;
    };
    let trash = client.get("trash.list", &json!({}));
    let entry = trash[0]["entry"].as_str().unwrap();
    assert!(error["message"].as_str().unwrap().contains(entry), "{error}: {trash}");
    assert_eq!((&trash[0]["sessionId"], &trash[0]["why"]), (&json!(S1), &json!("deleted")), "it says what it is");
    assert!(before.len() > content(&machine.claude()).len());
    client.call("trash.empty", &json!({"entry": entry, "confirm": true})).unwrap_err();
    assert_eq!(client.get("trash.list", &json!({}))[0]["sessionId"], S1);
    drop(kept);
    client.get("trash.empty", &json!({"entry": entry, "confirm": true}));
    assert_eq!(client.get("trash.list", &json!({})), json!([]));
}

#[test]
fn a_session_whose_parent_is_gone_can_be_deleted() {
    let machine = full();
    std::fs::remove_file(machine.claude().join(format!("projects/-p-demo/{S1}.jsonl"))).unwrap();
    let mut client = machine.serve();
    let rows = client.get("sessions.list", &json!({}));
    let children: Vec<String> = rows
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["parentSessionId"] == S1)
        .map(|row| row["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(children.len(), 2, "{rows:#}");
    for id in &children {
        let done = client.get("sessions.delete", &json!({"id": id}));
        let place = format!("projects/-p-demo/{S1}/subagents/{id}.jsonl");
        assert_eq!((places(&done, "removed"), &done["failed"]), (BTreeSet::from([place.clone()]), &json!([])));
        assert!(!is_there(&machine, &place));
    }
    assert_eq!(ids(&mut client), BTreeSet::from([S3.to_owned()]));
}

/// Where the parts of a session are on disk.
fn on_disk(stores: &Value, part: &Value) -> Option<PathBuf> {
    let store = stores.as_array().unwrap().iter().find(|store| store["name"] == part["store"])?;
    let place = part["place"].as_str().unwrap();
    let path = PathBuf::from(store["path"].as_str().unwrap()).join(place);
    (!place.contains(':') && path.exists()).then_some(path)
}

/// The same for the sessions of every agent: each of their files and folders is kept where it is, once.
fn each_part_in_turn(agent: &str) {
    let machine = Machine::with_all_agents();
    if agent == "devin" {
        // The samples have rows alone.
        machine.write("home/.local/share/devin/cli/summaries/fern-saddle.md", "What was said before.");
    }
    let mut client = machine.serve();
    let agents = client.get("agents.list", &json!({}));
    let stores = &agents.as_array().unwrap().iter().find(|row| row["id"] == agent).unwrap()["stores"];
    let rows = client.get("sessions.list", &json!({"agent": agent, "topLevel": true}));
    let mut tried = 0;
    for row in rows.as_array().unwrap() {
        let of = json!({"id": row["id"], "agent": agent});
        let with = |member: &str| {
            let mut params = of.clone();
            params[member] = json!(true);
            params
        };
        let Ok(plan) = client.call("sessions.delete", &with("dryRun")) else { continue };
        let export = |client: &mut Client| client.get("sessions.export", &of)["session"].take();
        let before = export(&mut client);
        for part in plan["removed"].as_array().unwrap() {
            let Some(path) = on_disk(stores, part) else { continue };
            let Some(kept) = Unmovable::at(&path) else { return };
            let context = format!("{agent} {} with {} kept", row["id"], path.display());
            let answer = client.call("sessions.delete", &of);
            let is_listed = client
                .get("sessions.list", &json!({"agent": agent}))
                .as_array()
                .unwrap()
                .iter()
                .any(|r| r["id"] == row["id"]);
            let there = client.call("sessions.get", &of);
            assert_eq!(there.is_ok(), is_listed, "{context}");
            match answer {
                Err(_) => drop(kept),
                Ok(done) => {
                    for (member, wanted) in [("removed", false), ("failed", true)] {
                        for part in done[member].as_array().unwrap() {
                            let place = PathBuf::from(
                                stores.as_array().unwrap().iter().find(|s| s["name"] == part["store"]).unwrap()["path"]
                                    .as_str()
                                    .unwrap(),
                            );
                            let place = place.join(part["place"].as_str().unwrap());
                            if !part["place"].as_str().unwrap().contains(':') {
                                assert_eq!(place.exists(), wanted, "{context}: {member}: {done:#}");
                            }
                        }
                    }
                    drop(kept);
                    client.get("trash.restore", &json!({"entry": done["trash"]}));
                }
            }
            assert_eq!(export(&mut client), before, "{context}");
            tried += 1;
        }
    }
    assert!(tried >= 1, "{agent}: {tried}");
    assert_eq!(client.get("trash.list", &json!({})), json!([]));
}

#[test]
fn each_part_of_claude() {
    each_part_in_turn("claude");
}

#[test]
fn each_part_of_cline() {
    each_part_in_turn("cline");
}

#[test]
fn each_part_of_cursor() {
    each_part_in_turn("cursor");
}

#[test]
fn each_part_of_devin() {
    each_part_in_turn("devin");
}
