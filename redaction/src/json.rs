//! Secrets in JSON text. The text is walked once, strings are looked into, and what is no
//! changed string is copied as it stands: numbers keep their digits, blanks and duplicate
//! members stay.
//!
//! Strings that are JSON themselves are walked in the same way, to a bound. A value is judged
//! by the name of its member too, by the name beside it (`{"name": …, "value": …}`), and by
//! the option before it in a list of arguments.

use crate::detect::{self, Class, Span};
use crate::kind::Kind;
use crate::redactor::Redactor;
use sepia_ir::json_text;
use std::borrow::Cow;

/// JSON in strings in JSON, so many times; below, it is looked at as text.
const MOST_NESTED: usize = 8;
/// Containers in one another. A driver hands over 128 at most.
const DEEPEST: usize = 1024;
/// The second half of an AWS key is expected within so many strings behind the first.
const NEAR: u8 = 4;

/// JSON text without its secrets.
pub(crate) fn redact<'t>(redactor: &mut Redactor, json: &'t str) -> Cow<'t, str> {
    nested(redactor, json, 0).unwrap_or_else(|| redactor.text(json))
}

/// `None` when it is no JSON.
fn nested<'t>(redactor: &mut Redactor, json: &'t str, depth: usize) -> Option<Cow<'t, str>> {
    let before = redactor.mark();
    let mut walk = Walk { redactor, json, at: 0, out: None, copied: 0, frames: Vec::new(), depth, near_aws: 0 };
    match walk.run() {
        Ok(()) => Some(match walk.out {
            None => Cow::Borrowed(json),
            Some(mut out) => {
                out.push_str(&json[walk.copied..]);
                Cow::Owned(out)
            }
        }),
        Err(Stopped::NoJson) => {
            redactor.roll_back(before);
            None
        }
        Err(Stopped::TooDeep) => {
            redactor.roll_back(before);
            let mut whole = "\"".to_owned();
            redactor.replace(&mut whole, Kind::DeepJson, json.as_bytes());
            whole.push('"');
            Some(Cow::Owned(whole))
        }
    }
}

/// Why a text was not walked to its end.
enum Stopped {
    NoJson,
    TooDeep,
}

struct Walk<'r, 't> {
    redactor: &'r mut Redactor,
    json: &'t str,
    at: usize,
    /// What is written so far, once anything was changed.
    out: Option<String>,
    /// Up to where the input is in `out`.
    copied: usize,
    frames: Vec<Frame>,
    depth: usize,
    /// Strings to come that are near the id of an AWS key.
    near_aws: u8,
}

/// A container that is open.
#[derive(Clone, Copy, Default)]
struct Frame {
    object: bool,
    /// Objects: the next string is a key.
    wants_key: bool,
    /// What the name of the container promises of the strings in it.
    outer: Option<Class>,
    /// What the key, or the option before, promises of the next value.
    next: Option<Class>,
    /// Objects: what the value of `name` or `key` promises of `value`.
    beside: Option<Class>,
    key: Key,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Key {
    #[default]
    Other,
    Name,
    Value,
}

impl Walk<'_, '_> {
    /// Takes what consists of the tokens of JSON and is closed, in whatever order: outside of
    /// strings nothing of them can be a secret.
    fn run(&mut self) -> Result<(), Stopped> {
        while let Some(byte) = self.json.as_bytes().get(self.at) {
            match byte {
                b'"' => self.string().ok_or(Stopped::NoJson)?,
                b'{' | b'[' => {
                    if self.frames.len() == DEEPEST {
                        return Err(Stopped::TooDeep);
                    }
                    let object = *byte == b'{';
                    let outer = self.promised();
                    self.frames.push(Frame { object, wants_key: object, outer, ..Frame::default() });
                    self.at += 1;
                }
                b'}' | b']' => {
                    self.frames.pop().ok_or(Stopped::NoJson)?;
                    self.value_ended();
                    self.at += 1;
                }
                b',' => {
                    if let Some(frame) = self.frames.last_mut() {
                        frame.wants_key = frame.object;
                    }
                    self.at += 1;
                }
                b':' | b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                b'0'..=b'9' | b'-' => self.number(),
                b't' | b'f' | b'n' => {
                    let rest = self.rest();
                    let word = ["true", "false", "null"].into_iter().find(|word| rest.starts_with(word));
                    self.at += word.ok_or(Stopped::NoJson)?.len();
                    self.value_ended();
                }
                _ => return Err(Stopped::NoJson),
            }
        }
        if self.frames.is_empty() { Ok(()) } else { Err(Stopped::NoJson) }
    }

    fn rest(&self) -> &str {
        &self.json[self.at..]
    }

    /// What is promised of the value that comes.
    fn promised(&self) -> Option<Class> {
        let frame = self.frames.last()?;
        frame.next.or(if frame.object { None } else { frame.outer })
    }

    fn value_ended(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.next = None;
        }
    }

    /// A password of digits that somebody wrote without quotes.
    fn number(&mut self) {
        let length = self.rest().bytes().take_while(|byte| b"0123456789+-.eE".contains(byte)).count();
        let text = &self.json[self.at..self.at + length];
        if self.promised() == Some(Class::Password) && length >= 4 {
            let mut string = "\"".to_owned();
            self.redactor.replace(&mut string, Kind::Password, text.as_bytes());
            string.push('"');
            self.put(self.at, self.at + length, &string);
        }
        self.at += length;
        self.value_ended();
    }

    fn string(&mut self) -> Option<()> {
        let json = self.json;
        let start = self.at;
        let end = string_end(json.as_bytes(), start + 1)?;
        let text = decoded(&json[start..end])?;
        self.at = end;
        let is_key = self.frames.last().is_some_and(|frame| frame.wants_key);
        let changed = if is_key { self.key(&text) } else { self.value(&text) };
        if let Some(changed) = changed {
            let string = serde_json::to_string(&changed).ok()?;
            self.put(start, end, &string);
        }
        Some(())
    }

    fn key(&mut self, text: &str) -> Option<String> {
        if let Some(frame) = self.frames.last_mut() {
            frame.wants_key = false;
            frame.key = match text {
                "name" | "Name" | "key" | "Key" => Key::Name,
                "value" | "Value" => Key::Value,
                _ => Key::Other,
            };
            frame.next = match frame.key {
                Key::Value => frame.beside,
                _ => named(text),
            };
        }
        let changed = self.replaced(text, detect::spans(text));
        if let (Some(_), Some(frame)) = (&changed, self.frames.last_mut()) {
            // A key that is a secret is no name.
            frame.next = None;
        }
        changed
    }

    fn value(&mut self, text: &str) -> Option<String> {
        let class = self.promised();
        self.value_ended();
        if let Some(frame) = self.frames.last_mut() {
            if frame.object && frame.key == Key::Name {
                frame.beside = named(text);
            } else if !frame.object {
                // The next of a list of arguments is the value of this option.
                frame.next = text.strip_prefix("--").and_then(named);
            }
        }
        if self.near_aws > 0 {
            self.near_aws -= 1;
            if detect::is_aws_secret(text.as_bytes()) {
                let mut out = String::new();
                self.redactor.replace(&mut out, Kind::AwsSecretKey, text.as_bytes());
                return Some(out);
            }
        }
        if self.depth < MOST_NESTED
            && looks_like_json(text)
            && let Some(changed) = nested(self.redactor, text, self.depth + 1)
        {
            return match changed {
                Cow::Borrowed(_) => None,
                Cow::Owned(changed) => Some(changed),
            };
        }
        self.replaced(
            text,
            match class {
                None => detect::spans(text),
                Some(class) => detect::spans_of_value(class, text),
            },
        )
    }

    fn replaced(&mut self, text: &str, spans: Vec<Span>) -> Option<String> {
        if spans.is_empty() {
            return None;
        }
        if spans.iter().any(|span| span.kind == Kind::AwsAccessKey) {
            self.near_aws = NEAR;
        }
        Some(self.redactor.replaced(text, &spans))
    }

    /// Writes a string in place of the one from `start` to `end`.
    fn put(&mut self, start: usize, end: usize, string: &str) {
        let json = self.json;
        let out = self.out.get_or_insert_with(|| String::with_capacity(json.len() + 64));
        out.push_str(&json[self.copied..start]);
        out.push_str(string);
        self.copied = end;
    }
}

/// Behind the closing quote of the string whose first byte is at `at`.
fn string_end(json: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += memchr::memchr2(b'"', b'\\', json.get(at..)?)?;
        if json[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// What a string says; halves of surrogate pairs become U+FFFD.
fn decoded(string: &str) -> Option<Cow<'_, str>> {
    let inside = &string[1..string.len() - 1];
    if memchr::memchr(b'\\', inside.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inside));
    }
    let text = serde_json::from_str::<String>(string).or_else(|_| {
        let (repaired, _) = json_text::replace_lone_surrogates(string.as_bytes());
        serde_json::from_slice(&repaired)
    });
    text.ok().map(Cow::Owned)
}

fn named(name: &str) -> Option<Class> {
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-. ".contains(&byte));
    if is_name { detect::classify(name.as_bytes(), b"") } else { None }
}

fn looks_like_json(text: &str) -> bool {
    let text = text.trim_ascii();
    matches!(text.as_bytes(), [b'{', .., b'}'] | [b'[', .., b']'])
}
