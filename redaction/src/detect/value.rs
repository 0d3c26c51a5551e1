//! Whether what a name is given is a secret.

use super::name::Class;
use super::reference::{is_reference, is_url};
use super::stand_in::{is_name, is_stand_in};
use crate::placeholder;

/// How the value is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// In quotes, or the string of a member.
    Quoted,
    /// `NAME=value`, no blanks: a shell, an environment.
    Shell,
    /// `name=value`, no blanks: a connection string, a query, code.
    Pair,
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
    let password = class == Class::Password;
    let taken_literally = matches!(form, Form::Shell | Form::Flag) || (form == Form::Quoted && password);
    // A label of a form, `"password": "Password"`, is a name even so.
    if is_name(value) && (!taken_literally || (form == Form::Quoted && says_password(value))) {
        return false;
    }
    let numeric = value.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b'_' | b'-'));
    let blank = value.iter().any(u8::is_ascii_whitespace);
    match form {
        // An object identifier, a version.
        Form::Quoted if password && numeric && value.contains(&b'.') => false,
        Form::Quoted if password => !(blank && says_password(value)),
        Form::Quoted if class == Class::Secret || class == Class::AwsSecret => !blank && !numeric,
        Form::Quoted => {
            !blank && !numeric && value.len() >= 6 && (has_digit(value) || value.len() >= 16) && !is_url(value)
        }
        Form::Shell => password || !numeric,
        Form::Pair => password || (!numeric && value.len() >= 4),
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
