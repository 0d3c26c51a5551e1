//! Keys that a line wrap cuts, at every place.

use crate::planted::*;
use sepia_redaction::{Kind, Redactor};

/// Cuts inside a prefix shorter than this leave too little to go by.
const FIRST: usize = 1;

fn cut_everywhere(secret: &str, kind: Kind, wrap: &str, first: usize) {
    for cut in first..secret.len() {
        let (head, tail) = secret.split_at(cut);
        let text = format!("use {head}{wrap}{tail}\nthen go on");
        let mut redactor = Redactor::new();
        let out = redactor.text(&text).into_owned();
        assert_eq!(shown(&out), format!("use [{}]\nthen go on", kind.name()), "cut at {cut} of {text:?}");
        assert_eq!(redactor.count(), 1);
        // It is the same secret as in one piece.
        assert!(out.contains(&*redactor.text(secret).into_owned()), "cut at {cut}");
        assert_eq!(redactor.count(), 1);
    }
}

#[test]
fn a_key_cut_by_a_line_break() {
    for wrap in ["\n", "\r\n", "\n    ", " \\\n  "] {
        let wrap = wrap.trim_start_matches(' ');
        cut_everywhere(&github(), Kind::GithubToken, wrap, FIRST);
        cut_everywhere(&anthropic(), Kind::AnthropicKey, wrap, FIRST);
        cut_everywhere(&aws_id(), Kind::AwsAccessKey, wrap, 4);
    }
}

#[test]
fn a_key_cut_by_an_escaped_line_break_or_a_frame() {
    for wrap in ["\\n", "\\r\\n", "\\\\n    ", " │\n│ "] {
        cut_everywhere(&github(), Kind::GithubToken, wrap, 4);
        cut_everywhere(&anthropic(), Kind::AnthropicKey, wrap, 7);
    }
}

#[test]
fn a_key_over_many_lines() {
    for width in [20, 30, 40, 72] {
        let key = anthropic();
        let lines: Vec<&str> = (0..key.len()).step_by(width).map(|at| &key[at..key.len().min(at + width)]).collect();
        becomes(&format!("key:\n  {}\nend", lines.join("\n  ")), "key:\n  [anthropic-key]\nend");
        let token = jwt();
        let lines: Vec<&str> =
            (0..token.len()).step_by(width).map(|at| &token[at..token.len().min(at + width)]).collect();
        becomes(&format!("it is:\n{}\nend", lines.join("\n")), "it is:\n[jwt]\nend");
    }
}

#[test]
fn a_key_whose_rest_is_letters() {
    for rest in ["abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWX"] {
        becomes(&format!("use {}{}\n{rest}\nnow", "sk-ant-", random(82, 40)), "use [anthropic-key]\nnow");
    }
}

#[test]
fn a_key_that_is_assigned_and_cut() {
    let key = github();
    let (head, tail) = key.split_at(20);
    becomes(&format!("TOKEN={head}\n{tail} run"), "TOKEN=[github-token] run");
    becomes(&format!("Authorization: Bearer {head}\n  {tail}\""), "Authorization: Bearer [github-token]\"");
}

#[test]
fn what_stands_on_the_next_line_is_not_part_of_a_whole_key() {
    for next in [
        "3f786850e387550fdab836ed7e6dc881de23001b",
        "550e8400-e29b-41d4-a716-446655440000",
        "Then",
        "word2",
        "toolu_01A",
    ] {
        becomes(&format!("{}\n{next}\n", github()), &format!("[github-token]\n{next}\n"));
        becomes(&format!("{}\n{next}\n", anthropic()), &format!("[anthropic-key]\n{next}\n"));
        becomes(&format!("{}\n{next}\n", aws_id()), &format!("[aws-access-key]\n{next}\n"));
    }
    // Of a length that no vendor has, and so perhaps cut.
    let short = &anthropic()[..60];
    for next in ["3f786850e387550fdab836ed7e6dc881de23001b", "550e8400-e29b-41d4-a716-446655440000", "and then"] {
        becomes(&format!("{short}\n{next}\n"), &format!("[anthropic-key]\n{next}\n"));
    }
}

#[test]
fn a_key_that_a_title_cuts_off() {
    becomes(&github()[..18], "[github-token]");
    becomes(&format!("Use {}…", &anthropic()[..24]), "Use [anthropic-key]…");
    becomes(&format!("Use {}...", &github()[..18]), "Use [github-token]...");
    stays("npm_config");
    stays("ghp_...");
}
