//! Searching, against what `sessions.get` shows and what is known of the sample store.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use sepia_tests::claude::{Records, S1, S2, S3};
use sepia_tests::{Machine, machine, tree};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::{Duration, SystemTime};

fn id(number: u32) -> String {
    format!("11111111-1111-4111-8111-{number:012}")
}

fn ids(rows: &Value) -> Vec<String> {
    rows.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}

/// Session, part, and node (0 for titles).
type Place = (String, String, i64);

/// Every text of every session that `holds` says yes to, by reading all of them.
fn by_reading(client: &mut sepia_tests::Client, holds: &dyn Fn(&str) -> bool) -> BTreeSet<Place> {
    fn values(value: &Value, holds: &dyn Fn(&str) -> bool) -> bool {
        match value {
            Value::String(text) => holds(text),
            Value::Array(items) => items.iter().any(|item| values(item, holds)),
            Value::Object(members) => members.values().any(|member| values(member, holds)),
            _ => false,
        }
    }
    let mut places = BTreeSet::new();
    for row in client.get("sessions.list", &json!({})).as_array().unwrap() {
        let id = row["id"].as_str().unwrap().to_owned();
        let session = client.get("sessions.get", &json!({"id": id}));
        if holds(session["title"].as_str().unwrap()) {
            places.insert((id.clone(), "title".to_owned(), 0));
        }
        for node in session["nodes"].as_array().unwrap() {
            let at = node["nodeId"].as_i64().unwrap();
            let role = node["role"].as_str().unwrap();
            let part = if role == "tool" { "result" } else { role };
            let attached = node["blocks"].as_array().unwrap().iter().filter(|block| block["type"] == "file");
            if holds(node["content"].as_str().unwrap())
                || attached.filter_map(|block| block["text"].as_str()).any(holds)
            {
                places.insert((id.clone(), part.to_owned(), at));
            }
            if node["thinking"].as_str().is_some_and(|text| text != "[redacted]" && holds(text)) {
                places.insert((id.clone(), "thinking".to_owned(), at));
            }
            if node["toolCalls"].as_array().unwrap().iter().any(|call| values(&call["arguments"], holds)) {
                places.insert((id.clone(), "call".to_owned(), at));
            }
        }
    }
    places
}

/// The same, by searching.
fn by_search(client: &mut sepia_tests::Client, params: &Value) -> BTreeSet<Place> {
    let mut params = params.clone();
    params["hits"] = json!(100);
    let mut places = BTreeSet::new();
    for row in client.get("sessions.search", &params).as_array().unwrap() {
        assert_ne!(row["source"], "warning", "{row}");
        assert_eq!(row["moreHits"], false);
        for hit in row["hits"].as_array().unwrap() {
            let part = hit["part"].as_str().unwrap().to_owned();
            assert_eq!(hit.get("nodeId").is_none(), part == "title");
            places.insert((row["id"].as_str().unwrap().to_owned(), part, hit["nodeId"].as_i64().unwrap_or(0)));
        }
    }
    places
}

#[test]
fn it_finds_what_reading_every_session_finds() {
    let machine = Machine::with_samples();
    let mut client = machine.serve();
    let words = [
        "tax",
        "Tax",
        "hello",
        "Four.",
        "the",
        "price.py",
        "out\nerr",
        "echo err >&2; exit 3",
        "1\tprice",
        "notes",
        "\u{2014}",
        "compact",
        "Count files",
        "e",
        " ",
        "\n",
        "\"Tax work\"",
        "tax = 2",
        "general-purpose",
        "/compact",
        "[Request interrupted",
        "red square",
    ];
    for word in words {
        let expected = by_reading(&mut client, &|text| text.contains(word));
        assert!(!expected.is_empty(), "{word:?}");
        assert_eq!(by_search(&mut client, &json!({"query": word})), expected, "{word:?}");
    }
    for word in ["TAX", "hELLO", "FOUR"] {
        let expected = by_reading(&mut client, &|text| text.to_lowercase().contains(&word.to_lowercase()));
        assert!(!expected.is_empty());
        assert_eq!(by_search(&mut client, &json!({"query": word, "ignoreCase": true})), expected, "{word:?}");
        assert!(by_search(&mut client, &json!({"query": word})).is_empty());
    }
    // Expressions are lines' own: ^ and $ are at their ends, and . stops there.
    for (expression, holds) in [
        ("^err$", &(|text: &str| text.lines().any(|line| line == "err")) as &dyn Fn(&str) -> bool),
        ("ta[xy] to [0-9]", &|text| text.contains("tax to 4")),
        ("Wrote|Starting", &|text| text.contains("Wrote") || text.contains("Starting")),
        ("[0-9]{3} mock", &|text| text.contains("400 mock")),
        ("(?s)out.err", &|text| text.contains("out\nerr")),
    ] {
        let expected = by_reading(&mut client, holds);
        assert!(!expected.is_empty(), "{expression}");
        assert_eq!(by_search(&mut client, &json!({"query": expression, "regex": true})), expected, "{expression}");
    }
}

#[test]
fn keys_ids_and_other_format_are_not_text() {
    let machine = Machine::with_samples();
    let mut client = machine.serve();
    for format in [
        "parentUuid",
        "tool_use_id",
        "sessionId",
        "d5788108-97e0",
        "input_tokens",
        "isSidechain",
        "file_path",
        "end_turn",
        "msg_",
        "2026-11-30T",
        "\"type\"",
        "claude-sonnet",
    ] {
        assert_eq!(client.get("sessions.search", &json!({"query": format})), json!([]), "{format}");
    }
}

#[test]
fn a_row_is_that_of_the_list_with_its_hits() {
    let machine = Machine::with_samples();
    let mut client = machine.serve();
    let found = client.get("sessions.search", &json!({"query": "exit code 3", "in": ["assistant"]}));
    let row = client.get("sessions.list", &json!({}));
    let row = row.as_array().unwrap().iter().find(|row| row["id"] == id(3)).unwrap();
    let first = found.as_array().unwrap().iter().find(|row| row["id"] == id(3)).unwrap();
    // Its torn copy is the other.
    assert_eq!(ids(&found).into_iter().collect::<BTreeSet<_>>(), BTreeSet::from([id(3), id(9)]));
    for (member, value) in row.as_object().unwrap() {
        assert_eq!(&first[member], value, "{member}");
    }
    let nodes = client.get("sessions.get", &json!({"id": id(3)}))["nodes"].clone();
    let said =
        nodes.as_array().unwrap().iter().find(|node| node["content"] == "The second command failed with exit code 3.");
    let said = said.unwrap();
    let hit = json!({
        "part": "assistant", "nodeId": said["nodeId"], "createdAt": said["createdAt"].as_f64().unwrap() * 1000.0,
        "snippet": "The second command failed with exit code 3.", "matches": [[31, 42]]
    });
    assert_eq!((&first["hits"], &first["moreHits"]), (&json!([hit]), &json!(false)));
    let call = client.get("sessions.search", &json!({"query": "echo err", "limit": 1}))[0]["hits"][0].clone();
    assert_eq!((&call["part"], &call["toolName"]), (&json!("call"), &json!("Bash")));
}

#[test]
fn the_newest_come_first_and_filters_take_away() {
    let machine = Machine::with_samples();
    let mut client = machine.serve();
    let list = client.get("sessions.list", &json!({}));
    let all = client.get("sessions.search", &json!({"query": "e"}));
    assert!(ids(&all).len() > 10);
    let order: Vec<String> = ids(&list).into_iter().filter(|id| ids(&all).contains(id)).collect();
    assert_eq!(ids(&all), order);
    for limit in [0, 1, 5, 12, 1_000] {
        let some = client.get("sessions.search", &json!({"query": "e", "limit": limit}));
        assert_eq!(ids(&some), order[..limit.min(order.len())], "{limit}");
    }
    let since = json!({"query": "e", "since": "2026-11-30T10:10:11.952Z"});
    assert_eq!(ids(&client.get("sessions.search", &since)), [id(12), id(11), id(8)]);
    for (cwd, count) in [("/home/dev/shop", order.len()), ("/home/dev", 0)] {
        // Before the rows are kept, and after.
        for _ in 0..2 {
            assert_eq!(ids(&client.get("sessions.search", &json!({"query": "e", "cwd": cwd}))).len(), count);
            client.get("sessions.list", &json!({}));
        }
    }
    let helper = json!({"query": "Helper: count files", "in": ["user"]});
    let found = client.get("sessions.search", &helper);
    assert_eq!((ids(&found).len(), &found[0]["parentSessionId"]), (1, &json!(id(5))));
    let top = json!({"query": "Helper: count files", "in": ["user"], "topLevel": true});
    assert_eq!(client.get("sessions.search", &top), json!([]));
    let (number, code, _) = client.refusal("sessions.search", &json!({"query": "e", "agent": "nobody"}));
    assert_eq!((number, code.as_str()), (-32008, "unknown_agent"));
    let titles = client.get("sessions.search", &json!({"query": "Tax work", "in": ["title"]}));
    assert_eq!((ids(&titles), &titles[0]["hits"][0]["part"]), (vec![id(8)], &json!("title")));
}

#[test]
fn what_is_cut_says_so() {
    let machine = Machine::empty();
    let mut records = Records::of(S1);
    for n in 0..5_000 {
        records = records.user(&format!("needle {n} {}", "é".repeat(300)), n).assistant("ok", n);
    }
    machine.write(&format!("claude/projects/-p/{S1}.jsonl"), records.text());
    let mut client = machine.serve();
    let of = |client: &mut sepia_tests::Client, hits: u32| {
        client.get("sessions.search", &json!({"query": "needle", "hits": hits, "in": ["user"], "context": 20}))[0]
            .clone()
    };
    for hits in [1, 3, 17, 100] {
        let found = of(&mut client, hits);
        assert_eq!((found["hits"].as_array().unwrap().len(), &found["moreHits"]), (hits as usize, &json!(true)));
        let snippets: Vec<&str> =
            found["hits"].as_array().unwrap().iter().map(|hit| hit["snippet"].as_str().unwrap()).collect();
        for (n, snippet) in snippets.iter().enumerate() {
            assert!(snippet.starts_with(&format!("needle {n} é")) && snippet.len() <= 26, "{snippet}");
        }
    }
    let nodes = client.get("sessions.search", &json!({"query": "needle 4999 "}))[0]["hits"][0]["nodeId"].clone();
    assert_eq!(nodes, 9_999);
}

#[test]
fn matches_are_counted_in_utf16() {
    let machine = Machine::empty();
    machine.write(
        &format!("claude/projects/-p/{S1}.jsonl"),
        Records::of(S1).user("😀é needle, needle", 1).assistant("x", 2).text(),
    );
    let mut client = machine.serve();
    let found = client.get("sessions.search", &json!({"query": "needle", "in": ["user"]}));
    assert_eq!(found[0]["hits"][0]["matches"], json!([[4, 10], [12, 18]]));
}

#[test]
fn queries_that_nobody_can_search_for_are_refused() {
    let machine = Machine::with_samples();
    let mut client = machine.serve();
    let long = "x".repeat(5_000);
    let wrong = [
        json!({}),
        json!({"query": ""}),
        json!({"query": 7}),
        json!({"query": long}),
        json!({"query": "(", "regex": true}),
        json!({"query": "\\w{1000}{1000}", "regex": true}),
        json!({"query": "((((a{100}){100}){100}){100})", "regex": true}),
        json!({"query": "(".repeat(3_000), "regex": true}),
        json!({"query": "x", "limit": 1_001}),
        json!({"query": "x", "hits": 0}),
        json!({"query": "x", "hits": 101}),
        json!({"query": "x", "context": 1_001}),
        json!({"query": "x", "in": ["nowhere"]}),
        json!({"query": "x", "since": "soon"}),
    ];
    for params in wrong {
        let (number, code, message) = client.refusal("sessions.search", &params);
        assert_eq!((number, code.as_str()), (-32602, "invalid_params"), "{params:.80}");
        assert!(message.len() < 500 && !message.contains('\n'), "{message}");
    }
    // An expression that takes for ever elsewhere.
    assert_eq!(client.get("sessions.search", &json!({"query": "(a*)*(b|a+)+$c", "regex": true})), json!([]));
}

#[test]
fn a_store_that_fails_hides_no_other() {
    let machine = Machine::with_samples().with("SEPIA_PROCESS_TIMEOUT_MS", "300");
    machine.add_program("hangs");
    let mut client = machine.serve();
    let found = client.get("sessions.search", &json!({"query": "red square"}));
    let rows = found.as_array().unwrap();
    assert_eq!((rows.len(), &rows[0]["id"], &rows[1]["source"]), (2, &json!(id(12)), &json!("warning")));
    assert_eq!((&rows[1]["agent"], &rows[1]["hits"]), (&json!("misbehaving"), &json!([])));
}

#[test]
fn a_program_that_can_not_search_has_its_sessions_read() {
    let machine = Machine::with_samples();
    machine.add_program("good");
    let mut client = machine.serve();
    let found = client.get("sessions.search", &json!({"query": "node 7", "hits": 2, "agent": "misbehaving"}));
    let nodes = |row: &Value| -> Vec<i64> {
        row["hits"].as_array().unwrap().iter().map(|hit| hit["nodeId"].as_i64().unwrap()).collect()
    };
    assert_eq!((ids(&found), nodes(&found[0])), (vec!["s0".to_owned(), "s1".to_owned()], vec![7, 70]));
    assert_eq!(found[0]["moreHits"], true);
    let titles = client.get("sessions.search", &json!({"query": "Title s1"}));
    assert_eq!(ids(&titles), ["s1"]);
    // And a slow or wrong one is one warning.
    for misdeed in ["falling-ids", "exits", "wrong-shape"] {
        let machine = Machine::with_samples();
        machine.add_program(misdeed);
        let mut client = machine.serve();
        let found = client.get("sessions.search", &json!({"query": "red square"}));
        assert_eq!(found[0]["id"], id(12), "{misdeed}");
        assert!(found.as_array().unwrap()[1..].iter().all(|row| row["source"] == "warning"), "{misdeed}: {found}");
    }
}

#[test]
fn a_torn_session_is_searched_as_far_as_it_goes() {
    let machine = Machine::empty();
    let text = Records::of(S1).user("before needle", 1).assistant("needle again", 2).user("the last needle", 3);
    let text = text.text();
    machine.write(&format!("claude/projects/-p/{S1}.jsonl"), &text[..text.len() - 30]);
    machine.write(&format!("claude/projects/-p/{S2}.jsonl"), format!("no JSON needle\n{text}"));
    machine.write(&format!("claude/projects/-p/{S3}.jsonl"), "needle\n{\"needle\":1}\n");
    let mut client = machine.serve();
    let found = client.get("sessions.search", &json!({"query": "needle", "hits": 9, "in": ["user", "assistant"]}));
    let counts: Vec<_> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["id"].clone(), row["hits"].as_array().unwrap().len()))
        .collect();
    assert_eq!(counts, [(json!(S2), 3), (json!(S1), 2)]);
}

#[test]
fn searching_changes_nothing() {
    let machine = Machine::with_samples();
    machine::change_modes(&machine.claude(), 0o555, 0o444);
    let before = (tree::fingerprint(&machine.claude()), tree::fingerprint(&machine.place("home")));
    let mut client = machine.serve();
    for params in
        [json!({"query": "e"}), json!({"query": "E", "ignoreCase": true}), json!({"query": ".", "regex": true})]
    {
        assert!(!ids(&client.get("sessions.search", &params)).is_empty());
    }
    client.finish();
    assert_eq!((tree::fingerprint(&machine.claude()), tree::fingerprint(&machine.place("home"))), before);
    machine::change_modes(&machine.claude(), 0o755, 0o644);
}

#[test]
fn any_text_is_found_whatever_its_characters_and_however_it_is_spelled() {
    let machine = Machine::empty();
    let client = RefCell::new(machine.serve());
    let mtime = SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_230_000);
    let mut runner = TestRunner::new(Config { cases: 200, failure_persistence: None, ..Config::default() });
    let texts =
        ("\\PC{0,10}", "[\\PC\n\t\r\u{0}\u{1b}\"\\\\/é😀\u{2028}]{1,24}", "\\PC{0,10}", any::<bool>(), any::<bool>());
    let outcome = runner.run(&texts, |(before, text, after, ascii, as_call)| {
        let whole = format!("{before}{text}{after}");
        let records = Records::of(S1).user("ask", 1);
        let records = if as_call {
            records.calls("t1", "Write", &json!({"content": whole}), 2)
        } else {
            records.assistant(&whole, 2)
        };
        let file = if ascii { escaped(records.text()) } else { records.text().to_owned() };
        machine.write(&format!("claude/projects/-p/{S1}.jsonl"), file);
        machine::age(&machine.claude(), mtime);
        for ignore_case in [false, true] {
            let params = json!({"query": text, "ignoreCase": ignore_case, "context": 0});
            let found = client.borrow_mut().get("sessions.search", &params);
            let hits = found[0]["hits"].as_array();
            let part = if as_call { "call" } else { "assistant" };
            let hit = hits.and_then(|hits| hits.iter().find(|hit| hit["part"] == part));
            prop_assert!(hit.is_some(), "{:?} in {:?}: {}", text, whole, found);
            prop_assert!(ignore_case || hit.unwrap()["snippet"].as_str().unwrap().starts_with(&text));
        }
        Ok(())
    });
    outcome.unwrap();
}

/// JSON text with everything outside ASCII as escapes.
fn escaped(json: &str) -> String {
    let mut out = String::new();
    for c in json.chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}").unwrap();
            }
        }
    }
    out
}
