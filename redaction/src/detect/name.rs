//! What the name of a variable, a member or an option says of its value.

use super::bytes::is_name;
use crate::kind::Kind;

/// Longer names are none.
const LONGEST: usize = 96;

/// What a name promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Made by people: may be short, may be a word.
    Password,
    /// Made by machines.
    Secret,
    /// Made by machines; the word also means other things.
    Token,
    /// Made by machines; the word also means other things.
    Key,
    /// The half of an AWS key that signs.
    AwsSecret,
    /// A scheme, and what it needs.
    Authorization,
}

impl Class {
    pub(super) const fn kind(self) -> Kind {
        match self {
            Self::Password => Kind::Password,
            Self::Secret => Kind::Secret,
            Self::Token => Kind::Token,
            Self::Key => Kind::ApiKey,
            Self::AwsSecret => Kind::AwsSecretKey,
            Self::Authorization => Kind::Authorization,
        }
    }
}

/// The start of the name that ends at `end`, when it may be one worth a closer look: it holds
/// all letters of one of the words that count.
#[inline]
pub(super) fn start(text: &[u8], end: usize, floor: usize) -> Option<usize> {
    let mut letters = 0u32;
    let mut at = end;
    while at > floor && is_name(text[at - 1]) {
        at -= 1;
        letters |= 1 << (text[at] & 31);
        if end - at > LONGEST {
            return None;
        }
    }
    WORTHY.iter().any(|word| letters & word == *word).then_some(at)
}

const WORTHY: [u32; 7] =
    [set(b"pwd"), set(b"pas"), set(b"secrt"), set(b"token"), set(b"key"), set(b"credntial"), set(b"auth")];

const fn set(letters: &[u8]) -> u32 {
    let mut set = 0;
    let mut at = 0;
    while at < letters.len() {
        set |= 1 << (letters[at] & 31);
        at += 1;
    }
    set
}

/// What a name promises of its value; `before` is the word in front of it, as in `API key`.
pub(crate) fn classify(name: &[u8], before: &[u8]) -> Option<Class> {
    if name.len() > LONGEST || name == b"PWD" || name == b"OLDPWD" {
        return None;
    }
    if name == b"_auth" {
        // Of `.npmrc`: user and password in base64.
        return Some(Class::Token);
    }
    let mut buffer = [0; 4 * LONGEST];
    let mut length = 0;
    if before.len() < LONGEST {
        length = split(before, &mut buffer, length);
    }
    let own = length;
    length = split(name, &mut buffer, length);
    let words = || buffer[..length].split(|byte| *byte == b'_').filter(|word| !word.is_empty());
    let own_words = buffer[own..length].split(|byte| *byte == b'_').filter(|word| !word.is_empty()).count();
    let total = words().count();
    let (mut found, mut aws, mut last) = (None, false, &b""[..]);
    for (at, word) in words().enumerate() {
        aws |= word == b"aws";
        let is_own = at + own_words >= total;
        if let Some(class) = is_own.then(|| one_word(word, last)).flatten() {
            // `secret_access_key` stays a secret.
            found = found.or(Some(class));
        } else if is_own && found.is_some() && speaks_of_something_else(word) {
            return None;
        }
        last = word;
    }
    match found {
        Some(Class::Secret) if aws => Some(Class::AwsSecret),
        // `SecretAccessKey`, the member of AWS's own answers.
        Some(Class::Secret) if buffer[own..length].ends_with(b"secret_access_key_") => Some(Class::AwsSecret),
        found => found,
    }
}

/// Writes the words of a name in lower case, each with `_` behind it.
fn split(name: &[u8], buffer: &mut [u8; 4 * LONGEST], mut length: usize) -> usize {
    for (at, byte) in name.iter().enumerate() {
        let previous = at.checked_sub(1).map(|at| name[at]);
        let next_is_lower = name.get(at + 1).is_some_and(u8::is_ascii_lowercase);
        let starts_word = byte.is_ascii_uppercase()
            && previous.is_some_and(|previous| !previous.is_ascii_uppercase() || next_is_lower);
        if starts_word {
            buffer[length] = b'_';
            length += 1;
        }
        buffer[length] = if matches!(byte, b'-' | b'.' | b' ') { b'_' } else { byte.to_ascii_lowercase() };
        length += 1;
    }
    buffer[length] = b'_';
    length + 1
}

fn one_word(word: &[u8], previous: &[u8]) -> Option<Class> {
    // `password1`, `TOKEN2`.
    let digits = word.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let word = &word[..word.len() - digits];
    let ends = |stem: &[u8]| word.ends_with(stem);
    match word {
        b"pwd" | b"sshpass" | b"passcode" | b"pgpass" => Some(Class::Password),
        b"pass" if !previous.is_empty() => Some(Class::Password),
        b"authorization" => Some(Class::Authorization),
        b"credential" | b"credentials" | b"creds" => Some(Class::Token),
        b"apikey" | b"authkey" | b"accesskey" | b"accountkey" => Some(Class::Key),
        b"secretkey" | b"privatekey" => Some(Class::Secret),
        b"key" => match previous {
            b"api" | b"access" | b"account" | b"auth" | b"encryption" | b"signing" | b"master" | b"jwt" | b"hmac"
            | b"deploy" | b"subscription" | b"shared" | b"app" | b"client" | b"admin" => Some(Class::Key),
            b"secret" | b"private" => Some(Class::Secret),
            _ => None,
        },
        _ if ends(b"password") || ends(b"passwd") || ends(b"passphrase") => Some(Class::Password),
        _ if ends(b"secret") => Some(Class::Secret),
        // Names of what a model reads and of places in lists.
        _ if ends(b"token") => (!matches!(
            previous,
            b"page"
                | b"next"
                | b"continuation"
                | b"cancel"
                | b"cancellation"
                | b"max"
                | b"min"
                | b"num"
                | b"per"
                | b"stop"
                | b"eos"
                | b"bos"
                | b"pad"
                | b"unk"
                | b"mask"
                | b"special"
                | b"design"
                | b"syntax"
                | b"sync"
        ))
        .then_some(Class::Token),
        _ => None,
    }
}

/// Words behind `token` and its like that make it a name for something that is no secret.
fn speaks_of_something_else(word: &[u8]) -> bool {
    matches!(
        word,
        b"count"
            | b"counts"
            | b"type"
            | b"types"
            | b"url"
            | b"uri"
            | b"endpoint"
            | b"file"
            | b"files"
            | b"path"
            | b"paths"
            | b"dir"
            | b"name"
            | b"names"
            | b"id"
            | b"ids"
            | b"limit"
            | b"limits"
            | b"budget"
            | b"field"
            | b"length"
            | b"len"
            | b"size"
            | b"usage"
            | b"max"
            | b"min"
            | b"ttl"
            | b"expiry"
            | b"expires"
            | b"expiration"
            | b"expired"
            | b"at"
            | b"in"
            | b"policy"
            | b"prompt"
            | b"reset"
            | b"hint"
            | b"regex"
            | b"pattern"
            | b"format"
            | b"strategy"
            | b"manager"
            | b"store"
            | b"ref"
            | b"header"
            | b"env"
            | b"var"
            | b"stdin"
            | b"fd"
            | b"encryption"
            | b"prefix"
            | b"suffix"
            | b"index"
            | b"kind"
            | b"provider"
            | b"source"
            | b"status"
            | b"valid"
            | b"enabled"
            | b"required"
            | b"algorithm"
            | b"version"
            | b"label"
            | b"placeholder"
            | b"column"
            | b"arn"
            | b"created"
            | b"updated"
            | b"rotation"
            | b"helper"
            | b"cost"
            | b"price"
            | b"s"
    )
}
