//! Listing and reading, against what is known of the sample store.

use rustix::fs::symlink;
use sepia_tests::claude::{Records, S1, S2, S3};
use sepia_tests::{Machine, machine, tree};
use serde_json::{Value, json};
use std::fs;
use std::time::{Duration, SystemTime};

fn id(number: u32) -> String {
    format!("11111111-1111-4111-8111-{number:012}")
}

fn ids(rows: &Value) -> Vec<String> {
    rows.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}

const SUBAGENT: &str = "a159cd2916ff2cc7b";

#[test]
fn rows_have_the_members_of_the_wire_document_in_its_order() {
    let machine = Machine::with_samples();
    let mut client = machine.serve();
    let request = client.ask("sessions.list", &json!({"limit": 1}));
    let frame = client.frame_of(request);
    let expected = [
        "id",
        "title",
        "cwd",
        "agent",
        "updatedAt",
        "locked",
        "lockHolderPid",
        "source",
        "busy",
        "pinned",
        "archived",
        "projectIds",
        "model",
        "spans",
    ];
    let mut at = 0;
    for member in expected {
        let found = frame[at..].find(&format!("\"{member}\":")).unwrap_or_else(|| panic!("{member} in {frame}"));
        at += found;
    }
    let row = &serde_json::from_str::<Value>(&frame).unwrap()["result"][0];
    let known = json!({
        "id": id(12), "title": "What is in this picture and document?", "cwd": "/home/dev/shop", "agent": "claude",
        "updatedAt": "2026-11-30T10:10:46.966Z", "locked": false, "lockHolderPid": null, "source": "claude",
        "busy": false, "pinned": false, "archived": false, "projectIds": [], "model": null, "spans": []
    });
    for (member, value) in known.as_object().unwrap() {
        assert_eq!(&row[member], value, "{member}");
    }
}

#[test]
fn all_are_listed_newest_first() {
    let machine = Machine::with_samples();
    let mut client = machine.serve();
    let rows = client.get("sessions.list", &json!({}));
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 13);
    let order: Vec<_> =
        rows.iter().map(|row| (row["updatedAt"].as_str().unwrap(), row["id"].as_str().unwrap())).collect();
    assert!(order.windows(2).all(|pair| pair[0].0 > pair[1].0 || pair[0].0 == pair[1].0 && pair[0].1 < pair[1].1));
    let children: Vec<_> = rows.iter().filter(|row| row.get("parentSessionId").is_some()).collect();
    let [child] = children.as_slice() else { panic!("{children:?}") };
    assert_eq!((&child["parentSessionId"], &child["agentId"]), (&json!(id(5)), &json!(SUBAGENT)));
    let top = client.get("sessions.list", &json!({"topLevel": true}));
    assert_eq!(top.as_array().unwrap().len(), 12);
    assert!(top.as_array().unwrap().iter().all(|row| row.get("agentId").is_none()));
}

#[test]
fn filters_take_away_and_change_nothing_else() {
    let machine = Machine::with_samples();
    let mut client = machine.serve();
    let all = client.get("sessions.list", &json!({}));
    let all = all.as_array().unwrap();
    for limit in 0..=14 {
        let some = client.get("sessions.list", &json!({"limit": limit}));
        assert_eq!(some.as_array().unwrap().as_slice(), &all[..limit.min(13)], "limit {limit}");
    }
    assert_eq!(client.get("sessions.list", &json!({"agent": "claude"})).as_array().unwrap(), all);
    assert_eq!(client.get("sessions.list", &json!({"cwd": "/home/dev/shop"})).as_array().unwrap(), all);
    assert_eq!(client.get("sessions.list", &json!({"cwd": "/home/dev/shop/"})).as_array().unwrap(), all);
    for elsewhere in ["/home/dev", "/home/dev/sho", "/home/dev/shop/x", "home/dev/shop", ""] {
        assert_eq!(client.get("sessions.list", &json!({"cwd": elsewhere})), json!([]), "{elsewhere}");
    }
    // 08 ended in this millisecond, 11 and 12 after it.
    for since in [json!("2026-11-30T10:10:11.952Z"), json!("2026-11-30T12:10:11.952+02:00"), json!(1_796_033_411.952)] {
        let some = client.get("sessions.list", &json!({"since": since}));
        assert_eq!(ids(&some), [id(12), id(11), id(8)], "{since}");
    }
    assert_eq!(client.get("sessions.list", &json!({"since": "2026-11-30T10:10:46.967Z"})), json!([]));
    let (number, code, message) = client.refusal("sessions.list", &json!({"agent": "nobody"}));
    assert_eq!((number, code.as_str()), (-32008, "unknown_agent"));
    assert!(message.contains("claude"), "{message}");
}

#[test]
fn an_empty_machine_has_an_empty_list() {
    let machine = Machine::empty();
    let mut client = machine.serve();
    assert_eq!(client.get("sessions.list", &json!({"withLocks": true, "withStats": true})), json!([]));
}

#[test]
fn a_session_is_the_same_in_all_its_forms() {
    let machine = Machine::with_samples();
    let mut client = machine.serve();
    for row in client.get("sessions.list", &json!({"withStats": true})).as_array().unwrap() {
        let params = json!({"id": row["id"]});
        let whole = client.get("sessions.get", &params);
        assert_eq!(client.get("sessions.export", &params), json!({"session": whole}));
        let scoped = json!({"id": row["id"], "agent": "claude"});
        assert_eq!(client.get("sessions.get", &scoped), whole);
        let mut summary = client.get("sessions.summary", &params);
        assert_eq!((&summary["nodes"], &summary["promptHistory"]), (&json!([]), &json!([])));
        for of_all in ["nodes", "promptHistory"] {
            summary[of_all] = whole[of_all].clone();
        }
        assert_eq!(summary, whole, "{}", row["id"]);
        assert_eq!((&whole["id"], &whole["title"]), (&row["id"], &row["title"]));
        assert_eq!((&whole["workingDirectory"], &whole["backendType"]), (&row["cwd"], &json!("claude")));
        assert_eq!(whole["metadata"]["stats"], row["stats"]);
    }
}

#[test]
fn counts_and_tokens_are_as_known() {
    let machine = Machine::with_samples();
    let mut client = machine.serve();
    let rows = client.get("sessions.list", &json!({"withStats": true}));
    let of = |number| rows.as_array().unwrap().iter().find(|row| row["id"] == id(number)).unwrap()["stats"].clone();
    let usage = |input: u32, output: u32, read: u32, write: u32| json!({"input": input, "output": output, "cacheRead": read, "cacheWrite": write});
    assert_eq!((&of(3)["messages"], &of(3)["toolCalls"], &of(3)["toolErrors"]), (&json!(15), &json!(5), &json!(1)));
    assert_eq!(of(1)["usage"], usage(110, 8, 1000, 7));
    assert_eq!(of(3)["usage"], usage(1190, 131, 7000, 49));
    assert_eq!(of(8)["usage"], usage(1150, 95, 7000, 49));
}

#[test]
fn ids_are_looked_up_and_never_joined_to_a_path() {
    let machine = Machine::with_samples();
    let secret = Records::of(S2).user("the secret outside", 1).assistant("kept", 2);
    for outside in ["victim.jsonl", &format!("claude/{S2}.jsonl"), &format!("claude/projects/{S2}.jsonl")] {
        machine.write(outside, secret.text());
    }
    let outside = machine.place("victim").display().to_string();
    let first = id(1);
    let ids = [
        format!("../{first}"),
        format!("..\\\\{first}"),
        "/etc/passwd".into(),
        format!("{first}.jsonl"),
        format!("{}/subagents/{SUBAGENT}", id(5)),
        format!("{}/subagents/agent-{SUBAGENT}", id(5)),
        String::new(),
        "x".repeat(5_000),
        "x".repeat(500),
        format!("{first}\0x"),
        format!("%2e%2e%2f{first}"),
        "-h".into(),
        "--dangerously-skip-permissions".into(),
        "x\"; touch canary; \"".into(),
        "CON".into(),
        format!("{first}\u{202e}"),
        "../victim".into(),
        "../../victim".into(),
        "../../../victim".into(),
        outside,
        format!("../{S2}"),
        format!("../../{S2}"),
        S2.into(),
        ".".into(),
        "..".into(),
        "~".into(),
        "*".into(),
        first[..20].into(),
        first.replace('-', "/"),
        format!(" {first}"),
        format!("{first}\n"),
        "-home-dev-shop".into(),
        format!("-home-dev-shop/{first}"),
        "$(touch canary)".into(),
        "\u{fffd}".into(),
    ];
    let before = tree::fingerprint(&machine.place("claude"));
    let mut client = machine.serve();
    for method in ["sessions.get", "sessions.summary", "sessions.export", "sessions.history"] {
        for id in &ids {
            for params in [json!({"id": id}), json!({"id": id, "agent": "claude"})] {
                let (number, code, message) = client.refusal(method, &params);
                assert_eq!((number, code.as_str()), (-32001, "not_found"), "{method} {id:.100}");
                assert!(message.starts_with("there is no session `"), "{message}");
                assert!(message.ends_with("`; `sepia list` shows those that there are"), "{message}");
                assert!(message.len() < 200 && !message.contains("secret"), "{message}");
            }
        }
    }
    client.finish();
    assert_eq!(tree::fingerprint(&machine.place("claude")), before);
    for folder in ["home", "claude", "drivers"] {
        assert!(!machine.place(folder).join("canary").exists());
    }
}

#[test]
fn a_folder_name_is_no_path() {
    let machine = Machine::empty();
    let places = [(S1, "/p/my_app.v2/a b"), (S2, "/p/my-app-v2/a-b"), (S3, "/p/my/app/v2/a/b")];
    for (id, cwd) in places {
        let records = Records::of(id).in_directory(cwd).user("hello", 1).assistant("hi", 2);
        machine.write(&format!("claude/projects/-p-my-app-v2-a-b/{id}.jsonl"), records.text());
    }
    let windows = "44444444-4444-4444-8444-444444444444";
    let records = Records::of(windows).in_directory("C:\\w\\my_p").user("hello", 1).assistant("hi", 2);
    machine.write(&format!("claude/projects/C--w-my-p/{windows}.jsonl"), records.text());
    let mut client = machine.serve();
    for (id, cwd) in places.into_iter().chain([(windows, "C:\\w\\my_p")]) {
        let rows = client.get("sessions.list", &json!({"cwd": cwd}));
        assert_eq!((ids(&rows), &rows[0]["cwd"]), (vec![id.to_owned()], &json!(cwd)));
    }
    assert_eq!(client.get("sessions.list", &json!({"cwd": "/p/my/app/v2/a-b"})), json!([]));
}

#[test]
fn linked_projects_are_listed_once_and_found_by_both_names_of_a_directory() {
    let machine = Machine::empty();
    let real = machine.place("p/demo");
    fs::create_dir_all(&real).unwrap();
    symlink(&real, machine.place("p/link")).unwrap();
    let records = Records::of(S1).in_directory(&real.display().to_string()).user("hello", 1).assistant("hi", 2);
    machine.write(&format!("shared/-p-demo/{S1}.jsonl"), records.text());
    let projects = machine.place("claude/projects");
    fs::create_dir_all(&projects).unwrap();
    symlink(machine.place("shared/-p-demo"), projects.join("-p-demo")).unwrap();
    symlink(&projects, projects.join("-p-loop")).unwrap();
    symlink("-p-demo", projects.join("-p-dup")).unwrap();
    symlink("nowhere", projects.join("-p-dangling")).unwrap();
    let mut client = machine.serve();
    for params in [json!({}), json!({"cwd": real}), json!({"cwd": machine.place("p/link")})] {
        let rows = client.get("sessions.list", &params);
        let sessions: Vec<_> = rows.as_array().unwrap().iter().filter(|row| row["source"] != "warning").collect();
        assert_eq!(sessions.len(), 1, "{params}: {rows}");
        assert_eq!((&sessions[0]["id"], &sessions[0]["cwd"]), (&json!(S1), &json!(real)));
    }
    assert_eq!(client.get("sessions.history", &json!({"id": S1}))["total"], 2);
}

#[test]
fn order_is_by_what_was_said_and_is_total() {
    let machine = Machine::empty();
    let place = |id: &str| format!("claude/projects/-p-demo/{id}.jsonl");
    for (id, seconds) in [(S1, 100), (S2, 200), (S3, 300)] {
        let mut records = Records::of(id).user("hello", seconds - 1).assistant("hi", seconds);
        if id == S1 {
            let late = sepia_tests::claude::time(900);
            records = records
                .line(&format!(r#"{{"type":"last-prompt","lastPrompt":"x","sessionId":"{id}","timestamp":"{late}"}}"#));
        }
        machine.write(&place(id), records.text());
    }
    // Ten more of the very same time, in no order of their names.
    let equal: Vec<String> = (0..10).map(|n| format!("5555555{n}-5555-4555-8555-555555555555")).collect();
    for id in equal.iter().rev() {
        machine.write(&place(id), Records::of(id).user("hello", 49).assistant("hi", 50).text());
    }
    let mtime = SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_230_000);
    machine::age(&machine.claude(), mtime);
    let mut client = machine.serve();
    let rows = client.get("sessions.list", &json!({}));
    let mut expected = vec![S3.to_owned(), S2.to_owned(), S1.to_owned()];
    expected.extend(equal);
    assert_eq!(ids(&rows), expected);
    for limit in 1..13 {
        assert_eq!(ids(&client.get("sessions.list", &json!({"limit": limit}))), expected[..limit]);
    }
}

#[test]
fn text_that_some_take_for_line_ends_or_no_text_at_all_comes_through() {
    let machine = Machine::empty();
    let odd = "a\u{2028}b\u{2029}c\u{85}d\u{b}e\u{c}f\u{1c}g";
    let broken = Records::of(S1).user(odd, 1).assistant(odd, 2).user("@", 3).assistant("end", 4);
    // A half of a pair that has lost the other, a whole pair, and hex digits after a half.
    let broken = broken.text().replace("\"@\"", r#""ok \ud83d end \udc00 and \ud83eade9 and \ud83d\ude00""#);
    machine.write(&format!("claude/projects/-p-demo/{S1}.jsonl"), broken);
    let mut client = machine.serve();
    // The client refuses frames that are more than one line to anybody, or no strict JSON.
    let page = client.get("sessions.history", &json!({"id": S1}));
    let texts: Vec<_> = page["messages"].as_array().unwrap().iter().map(|m| m["content"].as_str().unwrap()).collect();
    let mended = "ok \u{fffd} end \u{fffd} and \u{fffd}ade9 and 😀";
    assert_eq!(texts, [odd, odd, mended, "end"]);
    let export = client.get("sessions.export", &json!({"id": S1}));
    assert_eq!(export["session"]["nodes"][0]["content"], odd);
    assert_eq!(export["session"]["nodes"][2]["content"], mended);
    let rows = client.get("sessions.list", &json!({}));
    assert!(!rows[0]["title"].as_str().unwrap().is_empty());
}

#[test]
fn nothing_of_the_store_or_of_the_home_directory_is_changed() {
    let machine = Machine::with_samples();
    machine.write("claude/projects/-home-dev-shop/notes.txt", "mine");
    machine::change_modes(&machine.claude(), 0o555, 0o444);
    let before = (tree::fingerprint(&machine.claude()), tree::fingerprint(&machine.place("home")));
    let mut client = machine.serve();
    for row in client.get("sessions.list", &json!({"withLocks": true, "withStats": true})).as_array().unwrap() {
        for method in ["sessions.get", "sessions.summary", "sessions.export", "sessions.history"] {
            client.get(method, &json!({"id": row["id"]}));
        }
    }
    client.finish();
    for arguments in [
        vec!["list", "--locks", "--stats"],
        vec!["doctor"],
        vec!["driver", "list"],
        vec!["show", &id(8)],
        vec!["export", &id(8)],
        vec!["export", "--native", &id(8)],
    ] {
        machine.run(&arguments).ok();
    }
    let after = (tree::fingerprint(&machine.claude()), tree::fingerprint(&machine.place("home")));
    machine::change_modes(&machine.claude(), 0o755, 0o644);
    assert!(before == after);
}
