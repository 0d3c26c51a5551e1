//! Whether what a name is given is a secret, or a reference to one, or a stand-in.

use super::name::Class;
use crate::placeholder;

/// How the value is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// In quotes, or the string of a member.
    Quoted,
    /// `NAME=value`, no blanks: a shell, an environment, a connection string, a query.
    Shell,
    /// `--name value`.
    Flag,
    /// `name: value` alone on its line.
    Line,
    /// `name: value`, `name = value` anywhere.
    Loose,
}

/// Whether the value of a name of this class is a secret.
pub(crate) fn is_secret(class: Class, form: Form, value: &[u8]) -> bool {
    if value.is_empty() || is_reference(form, value) || is_stand_in(value) || placeholder::is_in(value) {
        return false;
    }
    let numeric = value.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b'_' | b'-'));
    let blank = value.iter().any(u8::is_ascii_whitespace);
    let password = class == Class::Password;
    match form {
        Form::Quoted if password => !(blank && says_password(value)),
        Form::Quoted if class == Class::Secret || class == Class::AwsSecret => !blank && !numeric,
        Form::Quoted => !blank && !numeric && value.len() >= 6 && (has_digit(value) || value.len() >= 16),
        Form::Shell => password || !numeric,
        Form::Flag => (password || !numeric) && !is_word_of_prose(value),
        Form::Line => {
            (password && numeric && value.len() >= 4)
                || looks_random(value, if password { 4 } else { 6 })
                || (matches!(class, Class::Password | Class::Secret)
                    && value.len() >= 3
                    && !is_word_of_prose(value)
                    && value
                        .iter()
                        .all(|byte| !byte.is_ascii_uppercase() && !matches!(byte, b'.' | b':' | b'[' | b'|')))
        }
        Form::Loose => looks_random(value, if password { 5 } else { 8 }),
    }
}

/// How expressions begin that read a secret from elsewhere, and URLs of contents.
const SOURCES: [&[u8]; 12] = [
    b"process.env",
    b"os.environ",
    b"os.getenv",
    b"env.",
    b"env::",
    b"ENV[",
    b"ENC[",
    b"secrets.",
    b"vars.",
    b"import.meta",
    b"data:",
    b"file:",
];

/// A variable, a call, a substitution, a path: what leads to a secret.
fn is_reference(form: Form, value: &[u8]) -> bool {
    let quoted = form == Form::Quoted;
    match value {
        [b'<' | b'`', ..]
        | [b'$', b'{' | b'(' | b'[' | b'$', ..]
        | [b'{', b'{' | b'%', ..]
        | [b'{', .., b'}']
        | [b'%', .., b'%']
        | [b'[', .., b']'] => return true,
        [b'{' | b'[' | b'(' | b'&' | b'*', ..] if !quoted => return true,
        [b'$' | b'%', name @ ..]
            if !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') =>
        {
            return true;
        }
        [b'!', tag @ ..] if !quoted && tag.iter().all(u8::is_ascii_alphabetic) => return true,
        _ => {}
    }
    if SOURCES.iter().any(|source| value.starts_with(source)) || is_path(value) {
        return true;
    }
    if matches!(form, Form::Loose | Form::Line) {
        return is_url(value) || is_expression(value) || is_type(value);
    }
    // `password=password_field.text,` in a call.
    form == Form::Shell && is_expression(value) && value.contains(&b'.') && !has_digit(value)
}

fn is_url(value: &[u8]) -> bool {
    memchr::memmem::find(&value[..value.len().min(16)], b"://").is_some()
}

/// `/run/secrets/db`, `./key.pem`, `~/.netrc`: base64 has capitals, paths of secrets don't.
fn is_path(value: &[u8]) -> bool {
    let ([b'/', rest @ ..] | [b'~' | b'.', b'/', rest @ ..] | [b'.', b'.', b'/', rest @ ..]) = value else {
        return false;
    };
    rest.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"/._-:".contains(byte))
        && (value[0] != b'/' || rest.contains(&b'/'))
}

/// `config.password`, `self.token`, `Sessions::token`, `user_token`, `userToken`: names without
/// digits.
fn is_expression(value: &[u8]) -> bool {
    let is_identifier = |part: &[u8]| {
        part.len() <= 32 && !part.is_empty() && part.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
    };
    let dotted = value.contains(&b'.') || value.contains(&b':') || value.contains(&b'_');
    let camel = value.windows(2).any(|two| two[0].is_ascii_lowercase() && two[1].is_ascii_uppercase());
    (dotted || camel)
        && value.split(|byte| *byte == b'.' || *byte == b':').filter(|part| !part.is_empty()).all(is_identifier)
}

/// `String`, `Vec`, `u64`, `SecretStr`, `[u8`.
fn is_type(value: &[u8]) -> bool {
    let digits = value.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let letters = &value[..value.len() - digits];
    let builtin: [&[u8]; 10] = [b"u", b"i", b"f", b"int", b"uint", b"float", b"char", b"varchar", b"bytes", b"Uint"];
    builtin.contains(&letters)
        || (digits == 0
            && letters.first().is_some_and(u8::is_ascii_uppercase)
            && letters.iter().all(u8::is_ascii_alphabetic))
}

/// Values that are the names of values.
const STAND_INS: [&str; 62] = [
    "null",
    "none",
    "nil",
    "undefined",
    "true",
    "false",
    "yes",
    "no",
    "string",
    "str",
    "text",
    "int",
    "integer",
    "number",
    "bool",
    "boolean",
    "any",
    "object",
    "optional",
    "required",
    "unknown",
    "empty",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "pass",
    "pwd",
    "token",
    "key",
    "apikey",
    "api_key",
    "api-key",
    "value",
    "default",
    "hidden",
    "redacted",
    "masked",
    "placeholder",
    "changeme",
    "change-me",
    "change_me",
    "changeit",
    "todo",
    "tbd",
    "n/a",
    "na",
    "dummy",
    "example",
    "sample",
    "fixme",
    "input",
    "prompt",
    "env",
    "bearer",
    "basic",
    "credentials",
    "access_token",
    "refresh_token",
    "auth_token",
    "self",
    "this",
];

/// What documents put where a secret would be.
pub(super) fn is_stand_in(value: &[u8]) -> bool {
    if value.len() > 128 {
        return false;
    }
    if is_blacked_out(value) {
        return true;
    }
    // `sk-…`, `ghp_...`: too little is left.
    let text = String::from_utf8_lossy(value).to_ascii_lowercase();
    let shown = text.trim_end_matches(['.', '…']);
    if shown.len() < text.len() && shown.len() < 12 && text.len() - shown.len() >= 3 {
        return true;
    }
    let text = text.trim_matches(['"', '\'', '`', '.', ',', ';', ':']);
    STAND_INS.contains(&text) || says_your(text) || {
        let starts =
            ["example-", "example_", "dummy-", "dummy_", "insert-", "insert_", "replace-", "replace_", "enter-"];
        starts.iter().any(|start| text.starts_with(start)) || text.contains("placeholder") || text.contains("changeme")
    }
}

/// `your-key`, `YOUR_API_KEY`, `sk-ant-your-key-here`.
fn says_your(text: &str) -> bool {
    text.match_indices("your").any(|(at, your)| {
        let starts = at == 0 || !text.as_bytes()[at - 1].is_ascii_alphanumeric();
        let rest = &text[at + your.len()..];
        starts
            && (["-", "_", " ", "key", "token", "password", "secret", "api"].iter().any(|next| rest.starts_with(next)))
    })
}

/// Nothing but one mark, and what stands between groups: `xxxx`, `****`, `xxx-xxx`, `...`.
pub(super) fn is_blacked_out(value: &[u8]) -> bool {
    let marks = b"xX*.#?-_=\xe2\x80\xa2\xa6";
    value.len() >= 3 && value.iter().all(|byte| marks.contains(byte))
}

fn has_digit(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit)
}

/// More than a word: letters with digits or with marks that no code has there, or very long.
fn looks_random(value: &[u8], least: usize) -> bool {
    let letters = value.iter().any(u8::is_ascii_alphabetic);
    let marked = value.iter().any(|byte| b"!@#%^*+~?$".contains(byte));
    let mixed = value.iter().any(u8::is_ascii_uppercase) && value.iter().any(u8::is_ascii_lowercase);
    value.len() >= least && letters && (has_digit(value) || marked || (value.len() >= 20 && mixed))
}

/// A label for people: `Enter your password`.
fn says_password(value: &[u8]) -> bool {
    let text = String::from_utf8_lossy(&value[..value.len().min(256)]).to_ascii_lowercase();
    ["password", "passphrase", "passwd", "passcode"].iter().any(|word| text.contains(word))
}

/// What follows `--token` in a sentence about it.
fn is_word_of_prose(value: &[u8]) -> bool {
    const WORDS: [&[u8]; 40] = [
        b"to",
        b"the",
        b"and",
        b"or",
        b"is",
        b"a",
        b"an",
        b"flag",
        b"flags",
        b"option",
        b"options",
        b"argument",
        b"arguments",
        b"for",
        b"if",
        b"in",
        b"on",
        b"with",
        b"from",
        b"when",
        b"was",
        b"can",
        b"should",
        b"must",
        b"file",
        b"stdin",
        b"as",
        b"parameter",
        b"has",
        b"not",
        b"be",
        b"via",
        b"instead",
        b"of",
        b"but",
        b"are",
        b"will",
        b"you",
        b"field",
        b"set",
    ];
    let value = value.strip_suffix(b".").unwrap_or(value);
    WORDS.contains(&value) || value.starts_with(b"-") || value.starts_with(b"|")
}
