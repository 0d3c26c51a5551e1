//! Times the redaction of 100 MB: of text like that of transcripts, which it makes, or of a
//! file of one's own.
//!
//!     measure [FILE]
//!
//! Piece by piece, each ten times, the best, as bytes a second: on a machine that does other
//! work besides, a short piece is the one that is left alone.

use sepia_redaction::Redactor;
use std::error::Error;
use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

const SIZE: usize = 100_000_000;
const ROUNDS: usize = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let texts = match std::env::args().nth(1) {
        Some(path) => vec![("file", String::from_utf8_lossy(&std::fs::read(path)?).into_owned())],
        None => vec![
            ("prose", repeated(&[PROSE])),
            ("code", repeated(&[CODE])),
            ("transcript", repeated(&[PROSE, CODE, OUTPUT])),
        ],
    };
    let mut out = std::io::stdout();
    for (name, text) in &texts {
        let mut redactor = Redactor::new();
        // Messages, not one text: what an export hands over.
        let messages: Vec<&str> = chunks(text, 4000);
        let speed = best(&messages, |message| message.len(), |message| redactor.text(message).len());
        writeln!(out, "{name:<12} text {speed:.2} GB/s")?;
        let json: Vec<String> = messages
            .iter()
            .map(|message| serde_json::to_string(&serde_json::json!({ "file": "/srv/a.rs", "content": message })))
            .collect::<Result<_, _>>()?;
        let speed = best(&json, String::len, |json| redactor.json(json).len());
        writeln!(out, "{name:<12} json {speed:.2} GB/s; {}", redactor.summary())?;
    }
    Ok(())
}

/// Gigabytes a second.
#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn best<T>(inputs: &[T], size: impl Fn(&T) -> usize, mut work: impl FnMut(&T) -> usize) -> f64 {
    let mut seconds = 0.0;
    for piece in inputs.chunks(500) {
        let mut best = f64::MAX;
        for _ in 0..ROUNDS {
            let begin = Instant::now();
            for input in piece {
                black_box(work(input));
            }
            best = best.min(begin.elapsed().as_secs_f64());
        }
        seconds += best;
    }
    inputs.iter().map(size).sum::<usize>() as f64 / 1e9 / seconds
}

fn chunks(text: &str, size: usize) -> Vec<&str> {
    let mut chunks = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (chunk, more) = rest.split_at(rest.floor_char_boundary(size.min(rest.len())).max(1));
        chunks.push(chunk);
        rest = more;
    }
    chunks
}

fn repeated(parts: &[&str]) -> String {
    let mut text = String::with_capacity(SIZE + 4096);
    while text.len() < SIZE {
        for part in parts {
            text.push_str(part);
        }
    }
    text
}

const PROSE: &str = "\
I looked at the failing test first. The parser reads a header, then the body, and it gives up at the first blank line \
it meets; that is why the second case never reaches the assertion. There are two ways out: skip blank lines in the \
loop, or split the input before it is parsed. The former is smaller and keeps the error positions right, so I will do \
that, and add a case with three blank lines in a row. The tokens that the lexer makes are not affected (see the note in \
the documentation: \"a blank line ends a block\"), and the key of each row stays what it was. I'll run the suite once \
more when this is done, and then update https://docs.example.com/parser/blocks#blank with one sentence about it.\n\n";

const CODE: &str = "\
/// Reads the rows of a block, blank lines passed over.\n\
pub fn rows(input: &str, options: &Options) -> Result<Vec<Row>, Error> {\n    let mut rows = Vec::with_capacity(16);\n    \
for (line_number, line) in input.lines().enumerate() {\n        let line = line.trim_end();\n        if line.is_empty() \
{\n            continue;\n        }\n        let token = lexer.next_token().ok_or_else(|| Error::at(line_number, \
\"a row is expected\"))?;\n        match (token.kind, options.strict) {\n            (Kind::Key, _) => rows.push(Row { \
key: token.text, value: None, line_number }),\n            (Kind::Value, true) if rows.is_empty() => return \
Err(Error::at(line_number, \"a value without a key\")),\n            _ => warn!(target: \"parser\", line = line_number, \
\"ignored: {token:?}\"),\n        }\n    }\n    Ok(rows)\n}\n\n";

const OUTPUT: &str = "\
   Compiling parser v0.3.1 (/home/dev/shop/parser)\nwarning: unused variable: `line_number`\n  --> src/rows.rs:12:10\n   \
|\n12 |     for (line_number, line) in input.lines().enumerate() {\n   |          ^^^^^^^^^^^ help: if this is intentional, \
prefix it with an underscore: `_line_number`\n   |\n   = note: `#[warn(unused_variables)]` on by default\n\n\
test rows::blank_lines ... ok\ntest rows::strict_mode ... ok\ntest result: ok. 14 passed; 0 failed; finished in 0.02s\n\
commit 89e6c98d92887913cadf06b2adb97f26cde4849b\nAuthor: dev <dev@example.com>\nDate:   Mon Jun 2 10:00:00 2025 +0000\n\
{\"type\":\"result\",\"session_id\":\"550e8400-e29b-41d4-a716-446655440000\",\"usage\":{\"input_tokens\":1234,\
\"output_tokens\":56,\"cache_read_input_tokens\":17000},\"id\":\"toolu_01A09q90qw90lq917835lq9q\"}\n";
