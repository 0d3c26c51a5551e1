//! JSON text.

use crate::planted::*;
use sepia_redaction::Redactor;
use serde_json::{Value, json};

#[track_caller]
fn becomes(json: &str, expected: &str) {
    let mut redactor = Redactor::new();
    let out = redactor.json(json).into_owned();
    assert_eq!(shown(&out), expected, "of {json}");
    serde_json::from_str::<Value>(&out).expect("still JSON");
    assert_eq!(redactor.json(&out), out, "taken out twice");
}

#[test]
fn strings_at_any_depth_and_keys() {
    let key = github();
    becomes(
        &format!(r#"{{"a": [1.50, {{"b": "see {key}"}}], "a": null, "{key}": true}}"#),
        r#"{"a": [1.50, {"b": "see [github-token]"}], "a": null, "[github-token]": true}"#,
    );
}

#[test]
fn what_is_not_changed_stays_byte_for_byte() {
    let json = "{ \"n\": 1.0e+5, \"big\": 123456789012345678901234567890,\n\t\"u\": \"\\u00e4\\/\", \"l\": \"\\ud83d\" , \"e\":[]}";
    assert_eq!(Redactor::new().json(json), json);
}

#[test]
fn json_inside_json_strings() {
    let mut nested = json!({ "key": anthropic(), "password": "hunter2", "n": 1.5 }).to_string();
    let mut expected = json!({ "key": "[anthropic-key]", "password": "[password]", "n": 1.5 }).to_string();
    for _ in 0..12 {
        nested = json!({ "body": nested, "ok": true }).to_string();
        expected = json!({ "body": expected, "ok": true }).to_string();
        becomes(&nested, &expected);
    }
}

#[test]
fn lines_of_json_in_a_string() {
    let lines = format!("{}\n{}\n", json!({ "token": "abc123def456" }), json!({ "b": github() }));
    becomes(
        &json!({ "stdout": lines }).to_string(),
        &json!({ "stdout": format!("{}\n{}\n", json!({ "token": "[token]" }), json!({ "b": "[github-token]" })) })
            .to_string(),
    );
}

#[test]
fn escapes_hide_nothing() {
    let key = github();
    let escaped: String =
        key.bytes().flat_map(|byte| format!("\\u00{byte:02x}").into_bytes()).map(char::from).collect();
    becomes(&format!(r#"{{"a":"{escaped}"}}"#), r#"{"a":"[github-token]"}"#);
    becomes(r#"{"a":"postgres:\/\/u:pw@h\/db"}"#, r#"{"a":"postgres://u:[url-password]@h/db"}"#);
    becomes(&format!(r#"{{"a":"\ud83d {key}"}}"#), "{\"a\":\"\u{fffd} [github-token]\"}");
}

#[test]
fn values_by_the_name_of_their_member() {
    becomes(
        r#"{"password":"x","apiKey":"abc123def","passwords":3,"token":"$TOKEN","input_tokens":5,"secret":null}"#,
        r#"{"password":"[password]","apiKey":"[api-key]","passwords":3,"token":"$TOKEN","input_tokens":5,"secret":null}"#,
    );
    becomes(r#"{"password":12345678,"token":12345678}"#, r#"{"password":"[password]","token":12345678}"#);
    becomes(r#"{"password":["one1","two2"],"b":"x"}"#, r#"{"password":["[password]","[password]"],"b":"x"}"#);
    becomes(r#"{"Authorization":"Bearer abc123def"}"#, r#"{"Authorization":"Bearer [authorization]"}"#);
    let both = json!({ "Authorization": format!("Bearer abc123def, not {}", github()) }).to_string();
    becomes(&both, r#"{"Authorization":"Bearer [authorization], not [github-token]"}"#);
    becomes(r#"{"password":{"type":"string","min":8}}"#, r#"{"password":{"type":"string","min":8}}"#);
}

#[test]
fn values_by_what_stands_beside_them() {
    becomes(r#"{"name":"DB_PASSWORD","value":"hunter2"}"#, r#"{"name":"DB_PASSWORD","value":"[password]"}"#);
    becomes(r#"{"name":"DB_HOST","value":"hunter2"}"#, r#"{"name":"DB_HOST","value":"hunter2"}"#);
    becomes(r#"["run","--token","abc123def","--user","me1"]"#, r#"["run","--token","[token]","--user","me1"]"#);
    let pair = json!([aws_id(), aws_secret()]).to_string();
    becomes(&pair, r#"["[aws-access-key]","[aws-secret-key]"]"#);
}

#[test]
fn a_key_cut_by_a_line_wrap_in_a_string() {
    let key = github();
    let (head, tail) = key.split_at(2);
    becomes(&json!({ "a": format!("{head}\n{tail}") }).to_string(), r#"{"a":"[github-token]"}"#);
}

#[test]
fn what_is_no_json_is_text() {
    let mut redactor = Redactor::new();
    let out = redactor.json("{\"password\": \"hunter2\", ").into_owned();
    assert_eq!(shown(&out), "{\"password\": \"[password]\", ");
}

#[test]
fn json_that_is_too_deep_is_taken_out_whole() {
    let deep = format!("{}\"{}\"{}", "[".repeat(5000), github(), "]".repeat(5000));
    becomes(&deep, "\"[deep-json]\"");
    let allowed = format!("{}\"{}\"{}", "[".repeat(1000), github(), "]".repeat(1000));
    let mut redactor = Redactor::new();
    let out = redactor.json(&allowed).into_owned();
    assert_eq!(shown(&out), format!("{}\"[github-token]\"{}", "[".repeat(1000), "]".repeat(1000)));
}
