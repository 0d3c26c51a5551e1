//! What holds for any text.

use crate::planted::*;
use proptest::prelude::*;
use sepia_redaction::Redactor;
use serde_json::Value;

/// What secrets and their surroundings are made of.
fn piece() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        "password",
        "PASSWORD",
        "api_key",
        "--token",
        "secret",
        "Authorization",
        "Bearer ",
        "Basic ",
        "=",
        ":",
        ": ",
        " ",
        "\"",
        "'",
        "\\\"",
        "\\",
        "\\n",
        "\n",
        "\r\n",
        ",",
        "{",
        "}",
        "[",
        "]",
        "<",
        ">",
        "$",
        "@",
        "/",
        "//",
        "://",
        "-",
        "--",
        "_",
        ".",
        "#",
        "%",
        "&",
        ";",
        "(",
        ")",
        "|",
        "é",
        "日",
        "😀",
        "\u{1b}[0m",
        "AKIA",
        "AIza",
        "ghp_",
        "sk-",
        "sk-ant-",
        "xoxb-",
        "eyJ",
        "github_pat_",
        "[redacted:",
        "[redacted:token:3fa2c1]",
        "-----BEGIN ",
        "PRIVATE KEY-----",
        "-----END ",
        "token",
        "key",
        "hunter2",
        "x",
        "null",
        "12345678",
        "https://u:",
        "pw@h",
    ]);
    prop_oneof![
        6 => fixed.prop_map(str::to_owned),
        2 => (any::<u64>(), 1..60usize).prop_map(|(seed, length)| random(seed, length)),
        1 => prop::sample::select(vec![github(), anthropic(), aws_id(), aws_secret(), jwt(), private_key("", "\n")]),
        1 => "\\PC{0,8}",
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..24).prop_map(|pieces| pieces.concat())
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        text().prop_map(Value::from),
        text().prop_map(|text| Value::from(serde_json::json!({ "password": text }).to_string())),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(text(), inner, 0..4).prop_map(Value::from_iter),
        ]
    })
}

/// Words, code, hashes: nothing that is a secret.
fn innocent() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        4 => "[a-z]{1,9}",
        1 => "[0-9a-f]{40}",
        1 => "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}",
        // A prompt without a value is none when a word follows.
        1 => prop::sample::select(crate::decoys::decoys()).prop_filter("no prompt", |decoy| !decoy.ends_with(": ")),
        1 => "[A-Za-z]{1,6}\\([a-z]{0,5}\\);",
        1 => "/[a-z]{1,8}/[a-z]{1,8}\\.rs:[0-9]{1,4}",
    ];
    prop::collection::vec(word, 0..30).prop_map(|words| words.join(" "))
}

fn secret() -> impl Strategy<Value = (&'static str, String, &'static str)> {
    let body = |length| any::<u64>().prop_map(move |seed| random(seed, length));
    prop_oneof![
        body(36).prop_map(|body| ("", format!("{}p_{body}", "gh"), "")),
        body(95).prop_map(|body| ("", format!("{}-ant-api03-{body}", "sk"), "")),
        body(12).prop_map(|body| ("PASSWORD=", body, "")),
        body(12).prop_map(|body| ("postgres://u:", body, "@h/db")),
        body(40).prop_map(|body| ("Authorization: Bearer ", body, "")),
        body(20).prop_map(|body| ("{\"api_key\": \"", body, "\"}")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_taken_out_of_is_left_alone(text in text()) {
        let mut redactor = Redactor::new();
        let once = redactor.text(&text).into_owned();
        prop_assert_eq!(redactor.text(&once).into_owned(), once.clone(), "of {}", text);
    }

    #[test]
    fn json_stays_json(json in json()) {
        let json = json.to_string();
        let mut redactor = Redactor::new();
        let once = redactor.json(&json).into_owned();
        prop_assert!(serde_json::from_str::<Value>(&once).is_ok(), "{} of {}", once, json);
        prop_assert_eq!(redactor.json(&once).into_owned(), once.clone(), "of {}", json);
    }

    #[test]
    fn a_text_without_secrets_stays(text in innocent()) {
        let mut redactor = Redactor::new();
        prop_assert_eq!(redactor.text(&text).into_owned(), text.clone());
        prop_assert_eq!(redactor.count(), 0);
    }

    #[test]
    fn as_many_as_were_planted(
        parts in prop::collection::vec((innocent(), secret()), 0..8),
        end in innocent(),
    ) {
        let (mut text, mut expected) = (String::new(), std::collections::HashSet::new());
        for (between, (before, secret, after)) in &parts {
            text.extend([between, "\n", before, secret, after, "\n"]);
            expected.insert(secret);
        }
        text.push_str(&end);
        let mut redactor = Redactor::new();
        let out = redactor.text(&text).into_owned();
        for (between, (_, secret, _)) in &parts {
            prop_assert!(!out.contains(secret.as_str()), "{} in {}", secret, out);
            prop_assert!(out.contains(between.as_str()), "{} in {}", between, out);
        }
        prop_assert_eq!(redactor.count(), expected.len(), "{}", out);
    }
}
