//! Texts made to be slow, to be large, or to break something.

use crate::planted::*;
use sepia_redaction::Redactor;
use std::time::{Duration, Instant};

/// Far above what they take, far below what anything quadratic would.
const BOUND: Duration = Duration::from_secs(60);
const SIZE: usize = 64 << 20;

#[test]
fn no_repeated_piece_takes_long() {
    let repeated = [
        "password=",
        "password: ",
        "password='",
        "token:token:",
        "authorization=",
        "Bearer ",
        "x=\\\"",
        "\"\\\\\"",
        "github_pat_",
        "sk-",
        "-sk-",
        "ghp_\n",
        "eyJ",
        "eyJaaaaaaa.a.",
        "eyJ-",
        "AKIA",
        "a://",
        "a://b:c",
        "a:@",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "[redacted:",
        "[redacted:token:",
        "=",
        ":",
        "_",
        "-",
        "\n",
        "\n    ",
        "--token ",
        "--token \"",
        "I",
        "B",
        " = ",
        "\\n",
        "{\"a\":",
        "password=\\\"a",
        "secret=\u{1F511}",
    ];
    for piece in repeated {
        let text = piece.repeat(SIZE / piece.len() / 16);
        let begin = Instant::now();
        let out = Redactor::new().text(&text).len();
        let took = begin.elapsed();
        assert!(took < BOUND / 2, "{took:?} for 4 MiB of {piece:?}");
        assert!(out <= 8 * text.len(), "{out} bytes out of {} of {piece:?}", text.len());
    }
}

#[test]
fn one_run_of_64_mib() {
    for text in
        ["a".repeat(SIZE), "\u{e9}".repeat(SIZE / 2), " ".repeat(SIZE), format!("ghp_{}", "a1".repeat(SIZE / 2))]
    {
        let begin = Instant::now();
        let _out = Redactor::new().text(&text);
        assert!(begin.elapsed() < BOUND);
    }
}

#[test]
fn json_of_64_mib() {
    let strings = format!("[{}\"end\"]", "\"a\\\"b\",".repeat(SIZE / 8));
    let objects = format!("[{}1]", "{\"password\":\"x\"},".repeat(SIZE / 64));
    let deep = "[".repeat(SIZE / 2) + &"]".repeat(SIZE / 2);
    for json in [strings, objects, deep] {
        let begin = Instant::now();
        let _out = Redactor::new().json(&json);
        assert!(begin.elapsed() < BOUND);
    }
}

#[test]
fn a_value_longer_than_what_is_looked_at_is_taken_whole() {
    let long = random(90, 100_000);
    becomes(&format!("PASSWORD={long} next"), "PASSWORD=[password] next");
    becomes(&format!("ghp_{long} next").replace("ghp_", &format!("{}p_", "gh")), "[github-token] next");
}

#[test]
fn every_cut_of_a_text_full_of_secrets() {
    let text = format!(
        "é{} PASSWORD=\"x\" --token 'y' a://b:c@d Bearer {} \\\"password\\\":\\\"z\\\" [redacted:token:3fa2c1]ü",
        private_key("", "\n"),
        jwt()
    );
    for (start, _) in text.char_indices() {
        let _from = Redactor::new().text(&text[start..]);
        let _to = Redactor::new().text(&text[..start]);
    }
}
