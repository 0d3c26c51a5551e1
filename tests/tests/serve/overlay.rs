//! What is kept of sessions beside their stores, and projects, through the wire.

use sepia_tests::{Client, Machine, tree};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

fn id(number: u32) -> String {
    format!("11111111-1111-4111-8111-{number:012}")
}

fn rows(client: &mut Client, params: &Value) -> Vec<Value> {
    client.get("sessions.list", params).as_array().unwrap().clone()
}

fn ids(rows: &[Value]) -> Vec<&str> {
    rows.iter().map(|row| row["id"].as_str().unwrap()).collect()
}

fn row_of(client: &mut Client, id: &str, agent: &str) -> Value {
    let all = rows(client, &json!({}));
    all.into_iter().find(|row| row["id"] == id && row["agent"] == agent).unwrap()
}

fn file(machine: &Machine) -> PathBuf {
    machine.sepia_home().join("meta.json")
}

fn kept(machine: &Machine) -> Value {
    serde_json::from_slice(&fs::read(file(machine)).unwrap()).unwrap()
}

/// The same id in another agent's store.
fn with_equal_ids() -> Machine {
    let machine = Machine::with_samples();
    let line = json!({"role": "user", "message": {"content": [{"type": "text", "text": "Elsewhere"}]}});
    let place = format!("home/.cursor/projects/home-dev-shop/agent-transcripts/{0}/{0}.jsonl", id(1));
    machine.write(&place, format!("{line}\n"));
    machine
}

#[test]
fn a_patch_shows_in_the_row_and_touches_no_store() {
    let machine = Machine::with_samples();
    let store = tree::fingerprint(&machine.claude());
    let mut client = machine.serve();
    let before = rows(&mut client, &json!({"withStats": true}));
    assert!(!file(&machine).exists(), "reading makes no file");
    let patch = json!({"title": "  Mine ", "pinned": true, "archived": true, "projectIds": ["p2", "p1", "p2"], "model": "opus"});
    assert_eq!(client.get("sessions.patch_meta", &json!({"id": id(3), "patch": patch})), Value::Null);
    let mut expected = before.clone();
    let row = expected.iter_mut().find(|row| row["id"] == id(3)).unwrap();
    let members =
        json!({"title": "Mine", "pinned": true, "archived": true, "projectIds": ["p2", "p1"], "model": "opus"});
    for (name, value) in members.as_object().unwrap() {
        row[name] = value.clone();
    }
    assert_eq!(rows(&mut client, &json!({"withStats": true})), expected, "and no other row, nor the order");
    let found = client.get("sessions.search", &json!({"query": "Set the tax to 4"}));
    let found = found.as_array().unwrap().iter().find(|row| row["id"] == id(3)).unwrap();
    assert_eq!((&found["title"], &found["pinned"]), (&json!("Mine"), &json!(true)));
    assert_eq!(client.get("sessions.summary", &json!({"id": id(3)}))["title"], before[ids_at(&before, 3)]["title"]);

    // What is absent stays; null and false take back.
    client.get("sessions.patch_meta", &json!({"id": id(3), "patch": {"pinned": false, "model": null}}));
    let row = row_of(&mut client, &id(3), "claude");
    assert_eq!((&row["title"], &row["pinned"], &row["archived"]), (&json!("Mine"), &json!(false), &json!(true)));
    assert_eq!(row["model"], Value::Null);
    let rest = json!({"title": null, "archived": false, "projectIds": []});
    client.get("sessions.patch_meta", &json!({"id": id(3), "agent": "claude", "patch": rest}));
    assert_eq!(rows(&mut client, &json!({"withStats": true})), before);
    assert_eq!(kept(&machine), json!({"projects": {}, "sessions": {}}));
    assert_eq!(tree::fingerprint(&machine.claude()), store);
}

fn ids_at(rows: &[Value], number: u32) -> usize {
    rows.iter().position(|row| row["id"] == id(number)).unwrap()
}

#[test]
fn what_a_patch_can_not_be() {
    let machine = Machine::with_samples();
    let mut client = machine.serve();
    let long = "x".repeat(201);
    for patch in [
        json!({}),
        json!({"colour": "red"}),
        json!({"title": ""}),
        json!({"title": " \t"}),
        json!({"title": long}),
        json!({"title": "a\nb"}),
        json!({"model": ""}),
        json!({"model": "m".repeat(101)}),
        json!({"projectIds": [""]}),
    ] {
        let (number, code, message) = client.refusal("sessions.patch_meta", &json!({"id": id(1), "patch": patch}));
        assert_eq!((number, code.as_str()), (-32006, "invalid"), "{patch} {message}");
    }
    for params in [
        json!({"id": id(1)}),
        json!({"id": id(1), "patch": null}),
        json!({"id": id(1), "patch": {"pinned": "yes"}}),
        json!({"id": id(1), "patch": {"title": 7}}),
        json!({"id": id(1), "patch": {"projectIds": "p"}}),
        json!({"patch": {"pinned": true}}),
    ] {
        let (number, code, _) = client.refusal("sessions.patch_meta", &params);
        assert_eq!((number, code.as_str()), (-32602, "invalid_params"), "{params}");
    }
    let pin = json!({"pinned": true});
    for unknown in ["nobody", "", "../../etc/passwd", "a\u{0}b"] {
        let (number, code, _) = client.refusal("sessions.patch_meta", &json!({"id": unknown, "patch": pin}));
        assert_eq!((number, code.as_str()), (-32001, "not_found"), "{unknown}");
    }
    let (_, code, _) = client.refusal("sessions.patch_meta", &json!({"id": id(1), "agent": "cline", "patch": pin}));
    assert_eq!(code, "not_found");
    let (_, code, _) = client.refusal("sessions.patch_meta", &json!({"id": id(1), "agent": "nobody", "patch": pin}));
    assert_eq!(code, "unknown_agent");
    assert!(!file(&machine).exists());
}

#[test]
fn equal_ids_of_two_agents_are_told_apart() {
    let machine = with_equal_ids();
    let mut client = machine.serve();
    let title = |title: &str| json!({"title": title});
    client.get("sessions.patch_meta", &json!({"id": id(1), "agent": "cursor", "patch": title("of cursor")}));
    client.get("sessions.patch_meta", &json!({"id": id(1), "patch": title("of the first")}));
    client.get("sessions.patch_meta", &json!({"id": id(1), "agent": "cursor", "patch": {"pinned": true}}));
    let row = row_of(&mut client, &id(1), "claude");
    assert_eq!((&row["title"], &row["pinned"]), (&json!("of the first"), &json!(false)));
    let row = row_of(&mut client, &id(1), "cursor");
    assert_eq!((&row["title"], &row["pinned"]), (&json!("of cursor"), &json!(true)));
}

#[test]
fn a_file_of_the_older_forms_is_read_and_its_other_parts_survive() {
    let machine = with_equal_ids();
    let old = json!({
        id(1): {"title": "Old", "projectId": "p9", "pinned": true},
        id(2): {"archived": true, "spans": [{"at": 7.0, "agent": "claude", "node": "n"}, "junk"]}
    });
    fs::write(file(&machine), old.to_string()).unwrap();
    let mut client = machine.serve();
    for agent in ["claude", "cursor"] {
        let row = row_of(&mut client, &id(1), agent);
        assert_eq!((&row["title"], &row["pinned"]), (&json!("Old"), &json!(true)), "{agent}");
        assert_eq!(row["projectIds"], json!(["p9"]));
    }
    let row = row_of(&mut client, &id(2), "claude");
    assert_eq!(row["spans"], json!([{"at": 7, "agent": "claude", "node": "n"}]));
    client.get("sessions.patch_meta", &json!({"id": id(1), "agent": "cursor", "patch": {"pinned": false}}));
    assert_eq!(row_of(&mut client, &id(1), "cursor")["pinned"], false);
    assert_eq!(row_of(&mut client, &id(1), "claude")["pinned"], true);
    assert_eq!(kept(&machine)["sessions"][id(2)], old[id(2)]);
}

#[test]
fn a_damaged_file_is_kept_told_and_never_emptied() {
    let machine = Machine::with_samples();
    fs::write(file(&machine), b"{\"sessions\": {\"a\"").unwrap();
    let mut client = machine.serve();
    let listed = rows(&mut client, &json!({}));
    let (warning, sessions) = listed.split_last().unwrap();
    assert_eq!((sessions.len(), &warning["source"]), (13, &json!("warning")));
    let aside = fs::read_dir(machine.sepia_home()).unwrap().map(|entry| entry.unwrap().path());
    let aside = aside.into_iter().find(|path| path.to_string_lossy().contains("meta.json.corrupt-")).unwrap();
    assert_eq!(fs::read(&aside).unwrap(), b"{\"sessions\": {\"a\"");
    assert!(warning["title"].as_str().unwrap().contains("meta.json"), "{warning}");
    assert!(warning["warnings"][0]["message"].as_str().unwrap().contains(&aside.display().to_string()), "{warning}");
    client.get("sessions.patch_meta", &json!({"id": id(1), "patch": {"pinned": true}}));
    assert_eq!(rows(&mut client, &json!({})).len(), 13);
    let ended = client.finish();
    assert!(ended.stderr.contains("meta.json.corrupt-"), "{}", ended.stderr);
    assert!(machine.run(&["doctor"]).ok().contains(&aside.display().to_string()));
}

#[test]
fn processes_that_patch_at_once_lose_nothing() {
    let machine = Machine::with_samples();
    let mut clients: Vec<Client> = (0..4).map(|_| machine.serve()).collect();
    let listed = rows(&mut clients[0], &json!({}));
    let numbers: Vec<u32> = (1..=12).filter(|number| ids(&listed).contains(&id(*number).as_str())).collect();
    assert!(numbers.len() >= 10, "{numbers:?}");
    let fields =
        [json!({"pinned": true}), json!({"archived": true}), json!({"model": "m"}), json!({"projectIds": ["p"]})];
    // Every session gets each of its fields from another process, all at once.
    let mut asked = Vec::new();
    for number in &numbers {
        for (client, patch) in clients.iter_mut().zip(&fields) {
            asked.push(client.ask("sessions.patch_meta", &json!({"id": id(*number), "patch": patch})));
        }
    }
    for (at, request) in asked.iter().enumerate() {
        clients[at % 4].answer(*request).unwrap();
    }
    for number in numbers {
        let row = row_of(&mut clients[0], &id(number), "claude");
        let marks = ["pinned", "archived", "model", "projectIds"].map(|name| row[name].clone());
        assert_eq!(marks, [json!(true), json!(true), json!("m"), json!(["p"])], "{number}");
    }
}

#[test]
fn changes_of_one_client_keep_their_order() {
    let machine = Machine::with_samples();
    let mut client = machine.serve();
    let title = |n: u32| json!({"id": id(n % 2 + 1), "patch": {"title": format!("t{n}")}});
    let asked: Vec<u64> = (0..40).map(|n| client.ask("sessions.patch_meta", &title(n))).collect();
    for request in asked {
        client.answer(request).unwrap();
    }
    assert_eq!(row_of(&mut client, &id(1), "claude")["title"], "t38");
    assert_eq!(row_of(&mut client, &id(2), "claude")["title"], "t39");
}

#[test]
fn projects_are_made_renamed_and_deleted() {
    let machine = Machine::with_samples();
    let mut client = machine.serve();
    assert_eq!(client.get("projects.list", &json!({})), json!([]));
    let made = client.get("projects.create", &json!({"name": " Alpha "}));
    let project = made["id"].as_str().unwrap().to_owned();
    let digits = project.strip_prefix("proj_").unwrap();
    assert!(digits.len() == 8 && digits.bytes().all(|b| b.is_ascii_hexdigit()), "{project}");
    assert_eq!(made, json!({"id": project, "name": "Alpha"}));
    let other = client.get("projects.create", &json!({"name": "Alpha"}));
    assert_ne!(other["id"], made["id"]);
    let renamed = client.get("projects.rename", &json!({"id": project, "name": "Beta"}));
    assert_eq!(renamed, json!({"id": project, "name": "Beta"}));
    let mut expected = [renamed, other.clone()];
    expected.sort_by_key(|project| project["id"].as_str().unwrap().to_owned());
    assert_eq!(client.get("projects.list", &json!({})), json!(expected));

    let both = json!({"projectIds": [project, other["id"]]});
    client.get("sessions.patch_meta", &json!({"id": id(1), "patch": both}));
    client.get("sessions.patch_meta", &json!({"id": id(2), "patch": {"projectIds": [project], "pinned": true}}));
    assert_eq!(client.get("projects.delete", &json!({"id": project})), Value::Null);
    assert_eq!(client.get("projects.delete", &json!({"id": project})), Value::Null, "what is not there is deleted");
    assert_eq!(client.get("projects.list", &json!({})), json!([other]));
    assert_eq!(row_of(&mut client, &id(1), "claude")["projectIds"], json!([other["id"]]));
    assert_eq!(row_of(&mut client, &id(2), "claude")["projectIds"], json!([]));

    let (number, code, message) = client.refusal("projects.rename", &json!({"id": project, "name": "Gamma"}));
    assert_eq!((number, code.as_str()), (-32001, "not_found"));
    assert!(message.contains(&project), "{message}");
    for name in ["", "  ", &"x".repeat(101), "a\nb"] {
        for (method, params) in
            [("projects.create", json!({"name": name})), ("projects.rename", json!({"id": other["id"], "name": name}))]
        {
            assert_eq!(client.refusal(method, &params).1, "invalid", "{method} {name:?}");
        }
    }
    assert_eq!(client.refusal("projects.create", &json!({})).1, "invalid_params");
}

#[test]
fn projects_of_older_files_are_read_and_rename_leaves_the_rest() {
    let machine = Machine::empty();
    let old = json!({"projects": {"p1": "one", "p2": {"name": "two", "colour": "red"}, "p3": 7}, "config": {"a": [1]}});
    fs::write(file(&machine), old.to_string()).unwrap();
    let mut client = machine.serve();
    let listed = json!([{"id": "p1", "name": "one"}, {"id": "p2", "name": "two"}]);
    assert_eq!(client.get("projects.list", &json!({})), listed);
    client.get("projects.rename", &json!({"id": "p1", "name": "eins"}));
    client.get("projects.rename", &json!({"id": "p2", "name": "zwei"}));
    let expected = json!({
        "projects": {"p1": {"name": "eins"}, "p2": {"name": "zwei", "colour": "red"}, "p3": 7},
        "config": {"a": [1]}, "sessions": {}
    });
    assert_eq!(kept(&machine), expected);
}

/// Two sessions that were made here and that no store has, one that a store has, and one of an
/// agent that nobody knows.
fn with_pending() -> Machine {
    let machine = Machine::with_samples();
    let made = |title: Option<&str>, cwd: &str, at: &str| json!({"agent": "cline", "cwd": cwd, "createdAt": at, "title": title});
    let sessions = json!({
        "b-new": made(Some("Second"), "/home/dev/shop", "2026-11-30T09:00:00Z"),
        "a-new": made(None, "/elsewhere", "2026-12-24T00:00:00Z"),
        "c-new": {"agent": "stranger", "cwd": "/x", "createdAt": "2026-01-01T00:00:00Z", "model": "m"},
        "half": {"agent": "cline"},
        id(3): {"agent": "claude", "cwd": "/home/dev/shop", "createdAt": "2026-11-30T09:00:00Z", "pinned": true},
        "bad agent": {"agent": "../x", "cwd": "/x"}
    });
    fs::write(file(&machine), json!({"sessions": sessions}).to_string()).unwrap();
    machine
}

#[test]
fn sessions_that_no_store_has_yet_come_behind_all_others() {
    let machine = with_pending();
    let mut client = machine.serve();
    let all = rows(&mut client, &json!({}));
    assert_eq!(ids(&all)[13..], ["a-new", "b-new", "c-new"]);
    let expected = json!({
        "id": "a-new", "title": "New session", "cwd": "/elsewhere", "agent": "cline",
        "updatedAt": "2026-12-24T00:00:00.000Z", "createdAt": "2026-12-24T00:00:00.000Z", "locked": false,
        "lockHolderPid": null, "source": "sepia", "busy": false, "pinned": false, "archived": false,
        "projectIds": [], "model": null, "spans": []
    });
    assert_eq!(all[13], expected);
    assert_eq!(
        (&all[14]["title"], &all[15]["model"], &all[15]["agent"]),
        (&json!("Second"), &json!("m"), &json!("stranger"))
    );
    assert_eq!(row_of(&mut client, &id(3), "claude")["pinned"], true);

    // A limit counts them last, and what the limit leaves out is not taken for missing.
    for limit in 0..=17 {
        let some = rows(&mut client, &json!({"limit": limit}));
        assert_eq!(some.as_slice(), &all[..limit.min(16)], "limit {limit}");
    }
    // Filters are theirs, too; what a filter leaves out is not taken for missing either.
    let of = |client: &mut Client, params: Value| {
        ids(&rows(client, &params)).iter().map(|id| (*id).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(of(&mut client, json!({"cwd": "/elsewhere"})), ["a-new"]);
    assert_eq!(of(&mut client, json!({"cwd": "/home/dev/shop"})).len(), 14);
    assert_eq!(of(&mut client, json!({"agent": "cline"})), ["a-new", "b-new"]);
    assert_eq!(of(&mut client, json!({"agent": "claude"})).len(), 13);
    assert_eq!(of(&mut client, json!({"since": "2026-12-01T00:00:00Z"})), ["a-new"]);
    assert_eq!(of(&mut client, json!({"topLevel": true})).len(), 15);

    // They can be patched, and are not there to be read.
    client.get("sessions.patch_meta", &json!({"id": "a-new", "patch": {"title": "Named", "pinned": true}}));
    let row = row_of(&mut client, "a-new", "cline");
    assert_eq!((&row["title"], &row["pinned"]), (&json!("Named"), &json!(true)));
    assert_eq!(client.refusal("sessions.get", &json!({"id": "a-new"})).1, "not_found");
    assert_eq!(client.refusal("sessions.patch_meta", &json!({"id": "half", "patch": {"pinned": true}})).1, "not_found");
}

#[test]
fn a_hidden_session_is_not_taken_for_one_that_no_store_has() {
    let machine = Machine::empty();
    sepia_tests::machine::copy(&sepia_tests::machine::data().join("devin/hidden"), &machine.place("devin"));
    let database = fs::read_dir(machine.place("devin/cli")).unwrap().map(|entry| entry.unwrap().path());
    let database = database.into_iter().find(|path| path.extension().is_some_and(|kind| kind == "db")).unwrap();
    let machine = machine.with("SEPIA_DEVIN_DB", database);
    let mut client = machine.serve();
    let all = rows(&mut client, &json!({"withHidden": true}));
    let shown = rows(&mut client, &json!({}));
    let hidden = all.iter().find(|row| !ids(&shown).contains(&row["id"].as_str().unwrap())).unwrap();
    let entry = json!({"agent": "devin", "cwd": "/x", "createdAt": "2026-01-01T00:00:00Z"});
    fs::write(file(&machine), json!({"sessions": {hidden["id"].as_str().unwrap(): entry}}).to_string()).unwrap();
    assert_eq!(rows(&mut client, &json!({})), shown);
    assert_eq!(rows(&mut client, &json!({"withHidden": true})), all);
}

#[test]
fn the_file_may_be_elsewhere() {
    for name in ["SEPIA_META_PATH", "SEPIA_META"] {
        let machine = Machine::with_samples();
        let place = machine.place("elsewhere/own.json");
        let machine = machine.with(name, &place);
        let mut client = machine.serve();
        client.get("sessions.patch_meta", &json!({"id": id(1), "patch": {"pinned": true}}));
        assert_eq!(row_of(&mut client, &id(1), "claude")["pinned"], true);
        assert!(place.is_file() && !file(&machine).exists(), "{name}");
        assert!(machine.run(&["doctor"]).ok().contains(&place.display().to_string()));
    }
}

#[test]
fn a_file_that_another_process_holds_is_busy_in_time() {
    let machine = Machine::with_samples().with("SEPIA_META_TIMEOUT_MS", "50");
    let held = fs::File::create(machine.sepia_home().join("meta.json.lock")).unwrap();
    held.lock().unwrap();
    let mut client = machine.serve();
    let pin = json!({"id": id(1), "patch": {"pinned": true}});
    let (number, code, _) = client.refusal("sessions.patch_meta", &pin);
    assert_eq!((number, code.as_str()), (-32002, "busy"));
    assert_eq!(rows(&mut client, &json!({})).len(), 13);
    drop(held);
    client.get("sessions.patch_meta", &pin);
}
