//! What a name that speaks of a secret is given: in shells, environments, JSON, YAML, code,
//! headers, options, in text that is itself quoted and escaped.

use super::bytes::{blanks, blanks_before, is_name};
use super::name::{self, Class};
use super::reference::is_url;
use super::value::{self, Form};
use super::{Span, recognized};
use crate::kind::Kind;
use crate::placeholder;

/// Longer values in quotes are no secrets, or their closing quote is missing.
const LONGEST: usize = 8 << 10;
/// So much of a value without quotes decides whether it is one.
const LOOKED_AT: usize = 128;
/// The same of credentials behind a scheme.
const CREDENTIALS_LOOKED_AT: usize = 256;

/// The value behind the `=` or `:` at `at`.
#[inline]
pub(super) fn at_separator(text: &[u8], at: usize, floor: usize) -> Option<Span> {
    let separator = text[at];
    // `==`, `:=`: the last one counts; `::` is a path in code.
    let path = separator == b':' && at > 0 && text[at - 1] == b':';
    if path || matches!(text.get(at + 1), Some(b'=' | b':')) || (separator == b':' && text[at + 1..].starts_with(b"//"))
    {
        return None;
    }
    let (name_start, name_end, spaced) = name_before(text, at, floor)?;
    let class = classify(text, name_start, name_end, floor)?;
    if placeholder::names_a_kind(text, name_start) {
        return None;
    }
    let behind = at + 1 + usize::from(separator == b'=' && text.get(at + 1) == Some(&b'>'));
    // `**Password:** …`
    let marked = if text[behind..].starts_with(b"** ") { behind + 2 } else { behind };
    let from = blanks(text, marked);
    if let Some(quote) = Quote::at(text, from) {
        return quoted(text, quote, class);
    }
    let option = text[floor..name_start].ends_with(b"--") || text[name_start..].starts_with(b"--");
    let form = match separator {
        b'=' if option => Form::Flag,
        b'=' if !spaced && from == behind => unspaced(text, name_start, from),
        b':' if is_line(text, name_start, from) => Form::Line,
        _ => Form::Loose,
    };
    bare(text, from, class, form)
}

/// The value behind the option whose second dash is at `at`: `--token value`, or the next
/// string of a list.
#[inline]
pub(super) fn at_option(text: &[u8], at: usize) -> Option<Span> {
    let from = at + 1;
    let length = text[from..].iter().take(64).take_while(|byte| is_name(**byte)).count();
    let end = from + length;
    let class = name::classify(&text[from..end], b"")?;
    let mut value = end;
    if let Some(quote) = Quote::at(text, end) {
        // `"--token", "value"`
        let comma = blanks(text, quote.inside);
        if text.get(comma) != Some(&b',') {
            return None;
        }
        let mut next = comma + 1;
        while text.get(next).is_some_and(u8::is_ascii_whitespace) {
            next += 1;
        }
        return quoted_as(text, Quote::at(text, next)?, class, Form::Flag);
    }
    if text.get(value) != Some(&b' ') {
        return None;
    }
    value = blanks(text, value);
    if text[value..].starts_with(b"\\\n") {
        value = blanks(text, value + 2);
    }
    match Quote::at(text, value) {
        Some(quote) => quoted_as(text, quote, class, Form::Flag),
        None => bare(text, value, class, Form::Flag),
    }
}

/// `Bearer …` where no name says so; `at` is the `B`.
pub(super) fn at_bearer(text: &[u8], at: usize) -> Option<Span> {
    let rest = &text[at..];
    if !rest.starts_with(b"Bearer ") && !rest.starts_with(b"BEARER ") {
        return None;
    }
    let from = blanks(text, at + 7);
    let end = credentials_end(text, from);
    let value = &text[from..end];
    let long = value.len() >= 12 && value.iter().any(u8::is_ascii_digit) || value.len() >= 24;
    if !long || is_url(value) || !value::is_secret(Class::Authorization, Form::Shell, value) {
        return None;
    }
    Some(credentials(text, from, end))
}

/// What in the value of a member or variable of this class is secret.
pub(super) fn in_value(class: Class, value: &str) -> Option<Span> {
    let text = value.as_bytes();
    if class == Class::Authorization {
        return authorization(text, 0, text.len(), Form::Quoted);
    }
    value::is_secret(class, Form::Quoted, text).then(|| recognized(text, 0, text.len(), class.kind()))
}

/// Where the name before a separator stands, and whether blanks or quotes stand between. What
/// ends at `floor` was a secret and is no part of it.
fn name_before(text: &[u8], at: usize, floor: usize) -> Option<(usize, usize, bool)> {
    let mut end = at;
    // `+=`, `?=`, `||=`, `:=`, `===`.
    while end > 0 && at - end < 4 && matches!(text[end - 1], b'=' | b'+' | b'?' | b'|' | b':' | b'!') {
        end -= 1;
    }
    let tight = end;
    end = blanks_before(text, end);
    if end > 0 && text[end - 1] == b']' {
        end -= 1;
    }
    if end > 0 && matches!(text[end - 1], b'"' | b'\'' | b'`') {
        end -= 1;
        while end > 0 && text[end - 1] == b'\\' {
            end -= 1;
        }
    }
    // `**Password**:`
    while end > 0 && text[end - 1] == b'*' && tight - end < 2 {
        end -= 1;
    }
    if let Some(start) = name::start(text, end, floor)
        && start < end
    {
        return Some((start, end, end != at));
    }
    typed_name(text, at, end, floor)
}

/// The name in `token: &str = "…"`, from the `=`.
fn typed_name(text: &[u8], at: usize, type_end: usize, floor: usize) -> Option<(usize, usize, bool)> {
    if text[at] != b'=' || !matches!(text.get(blanks(text, at + 1)), Some(b'"' | b'\'' | b'`')) {
        return None;
    }
    let first = type_end.saturating_sub(32).max(floor.min(type_end));
    let is_type = |byte: &u8| byte.is_ascii_alphanumeric() || b"_<>&'[]| ".contains(byte);
    let length = text[first..type_end].iter().rev().take_while(|byte| is_type(byte)).count();
    let colon = (type_end - length).checked_sub(1).filter(|colon| text[*colon] == b':')?;
    let start = name::start(text, colon, floor).filter(|start| *start < colon)?;
    Some((start, colon, true))
}

fn classify(text: &[u8], start: usize, end: usize, floor: usize) -> Option<Class> {
    let name = &text[start..end];
    // `API key: …`, `Secret Access Key: …`
    let before = if name.len() <= 8 && text[floor..start].ends_with(b" ") {
        let length = text[floor..start - 1].iter().rev().take(16).take_while(|byte| byte.is_ascii_alphabetic()).count();
        &text[start - 1 - length..start - 1]
    } else {
        b""
    };
    name::classify(name, before)
}

/// What `name=value` is: a variable of a shell has no small letters, and an argument of a call
/// or an attribute, `f(password=password)`, is followed by more of them.
fn unspaced(text: &[u8], name_start: usize, from: usize) -> Form {
    let small = text[name_start..].iter().take_while(|byte| is_name(**byte)).any(u8::is_ascii_lowercase);
    if !small {
        return Form::Shell;
    }
    if matches!(text.get(bare_end(text, from)), Some(b',' | b')')) { Form::Loose } else { Form::Pair }
}

/// Whether a name starts its line and its value ends it, as in YAML.
fn is_line(text: &[u8], name_start: usize, from: usize) -> bool {
    let before = &text[..name_start];
    let before = before.strip_suffix(b"\"").or(before.strip_suffix(b"'")).unwrap_or(before);
    let mut line = &before[..blanks_before(before, before.len())];
    if let Some(item) = line.strip_suffix(b"-") {
        line = &item[..blanks_before(item, item.len())];
    }
    if !line.is_empty() && !line.ends_with(b"\n") && !line.ends_with(b"\\n") {
        return false;
    }
    let end = bare_end(text, from);
    let rest = &text[blanks(text, end)..];
    // What ends like a member of a list or a statement is code.
    let code = text[from..end].ends_with(b",") || text[from..end].ends_with(b";");
    !code && matches!(rest, [] | [b'\n' | b'\r' | b'#', ..] | [b'\\', b'n' | b'r', ..])
}

/// An opening quote: which, behind how many backslashes.
struct Quote {
    mark: u8,
    slashes: usize,
    /// Where what it opens starts.
    inside: usize,
}

impl Quote {
    /// At most a letter stands before it, as in `f"…"` and `$'…'`.
    fn at(text: &[u8], at: usize) -> Option<Self> {
        let prefix =
            usize::from(matches!(text.get(at..), Some([b'b' | b'f' | b'r' | b'u' | b'$' | b'@', b'"' | b'\'', ..])));
        let slashes =
            text[at.min(text.len())..].iter().skip(prefix).take(32).take_while(|byte| **byte == b'\\').count();
        let inside = at + prefix + slashes + 1;
        let mark = *text.get(inside - 1)?;
        matches!(mark, b'"' | b'\'' | b'`').then_some(Self { mark, slashes, inside })
    }

    /// Where what it opens ends, on the same line.
    fn end(&self, text: &[u8]) -> Option<usize> {
        let inside = &text[self.inside..text.len().min(self.inside + LONGEST)];
        let mut from = 0;
        loop {
            let at = from + memchr::memchr2(self.mark, b'\n', &inside[from..])?;
            if inside[at] == b'\n' {
                return None;
            }
            let slashes = inside[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
            // More of them escape it; fewer close what is around.
            if slashes <= self.slashes {
                return Some(self.inside + at - slashes);
            }
            from = at + 1;
        }
    }
}

fn quoted(text: &[u8], quote: Quote, class: Class) -> Option<Span> {
    quoted_as(text, quote, class, Form::Quoted)
}

fn quoted_as(text: &[u8], quote: Quote, class: Class, form: Form) -> Option<Span> {
    let from = quote.inside;
    let Some(end) = quote.end(text) else {
        // The text was cut off, or the quote is none.
        return bare(text, from, class, Form::Loose);
    };
    if class == Class::Authorization {
        return authorization(text, from, end, Form::Quoted);
    }
    // `--password "two words"` is as much a value as one in an assignment.
    let form = if form == Form::Flag && text[from..end].contains(&b' ') { Form::Quoted } else { form };
    value::is_secret(class, form, &text[from..end]).then(|| recognized(text, from, end, class.kind()))
}

/// A value without quotes.
fn bare(text: &[u8], from: usize, class: Class, form: Form) -> Option<Span> {
    if class == Class::Authorization {
        return authorization(text, from, text.len(), form);
    }
    let mut end = bare_end(text, from);
    if text.get(end) == Some(&b'(') && !text[from..end].is_empty() {
        // A call.
        return None;
    }
    if form != Form::Shell {
        // Punctuation of the sentence or the code around.
        while end > from && matches!(text[end - 1], b',' | b';' | b'.' | b':' | b'*' | b'?') {
            end -= 1;
        }
    }
    let is_secret = value::is_secret(class, form, &text[from..end]);
    is_secret.then(|| {
        let end = if end >= from + LOOKED_AT { word_end(text, end) } else { end };
        recognized(text, from, end, class.kind())
    })
}

/// The end of a word of a shell or of a query, if it is near.
fn bare_end(text: &[u8], from: usize) -> usize {
    let near = &text[..text.len().min(from + LOOKED_AT)];
    let at = word_end(near, from);
    // `${NAME}`, `{{ name }}`, `[redacted:…]` are seen whole.
    let opened = text[from..at].iter().any(|byte| matches!(byte, b'{' | b'['));
    if opened && matches!(text.get(at), Some(b'}' | b']')) { at + 1 } else { at }
}

/// The next blank, quote or operator.
fn word_end(text: &[u8], mut at: usize) -> usize {
    while let Some(byte) = text.get(at) {
        match byte {
            // A blank that belongs to the word.
            b'\\' if text.get(at + 1) == Some(&b' ') => at += 2,
            b'\\' | b'"' | b'\'' | b'`' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' | b'}' | b']' | b',' => break,
            byte if byte.is_ascii_whitespace() => break,
            _ => at += 1,
        }
    }
    at
}

/// The credentials of an `Authorization` header: what stands behind the scheme.
fn authorization(text: &[u8], from: usize, limit: usize, form: Form) -> Option<Span> {
    let scheme_end = from + text[from..limit].iter().take(32).take_while(|byte| is_name(**byte)).count();
    let value = blanks(&text[..limit], scheme_end);
    let (start, scheme) = if value > scheme_end && scheme_end > from { (value, true) } else { (from, false) };
    let end = credentials_end(&text[..limit], start);
    let secret = &text[start..end];
    if scheme {
        const SCHEMES: [&[u8]; 9] =
            [b"bearer", b"basic", b"token", b"apikey", b"api-key", b"key", b"negotiate", b"bot", b"digest"];
        let name = text[from..scheme_end].to_ascii_lowercase();
        if !SCHEMES.contains(&name.as_slice()) || name == b"digest" {
            return None;
        }
        let enough = secret.len() >= 2 && value::is_secret(Class::Password, Form::Shell, secret);
        return (enough && !is_plain_word(secret)).then(|| credentials(&text[..limit], start, end));
    }
    let form = if form == Form::Quoted { Form::Quoted } else { Form::Loose };
    value::is_secret(Class::Token, form, secret).then(|| credentials(&text[..limit], start, end))
}

/// `Bearer authentication`, `Basic auth`.
fn is_plain_word(value: &[u8]) -> bool {
    matches!(
        value.to_ascii_lowercase().as_slice(),
        b"token" | b"tokens" | b"auth" | b"authentication" | b"authorization" | b"header" | b"scheme" | b"credentials"
    )
}

/// The end of credentials, if it is near.
fn credentials_end(text: &[u8], from: usize) -> usize {
    let near = &text[..text.len().min(from + CREDENTIALS_LOOKED_AT)];
    let end = far_credentials_end(near, from);
    let brackets = text[from..end].iter().any(|byte| matches!(byte, b'{' | b'['));
    if brackets && matches!(text.get(end), Some(b'}' | b']')) { end + 1 } else { end }
}

fn far_credentials_end(text: &[u8], from: usize) -> usize {
    let takes = |byte: &u8| byte.is_ascii_graphic() && !b"\"'`\\,;)]}<>".contains(byte);
    from + text[from..].iter().take_while(|byte| takes(byte)).count()
}

/// Credentials, with what of them wasn't looked at.
fn credentials(text: &[u8], start: usize, end: usize) -> Span {
    let end = if end >= start + CREDENTIALS_LOOKED_AT { far_credentials_end(text, end) } else { end };
    recognized(text, start, end, Kind::Authorization)
}
