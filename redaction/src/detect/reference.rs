//! Values that lead to a secret instead of being one: variables, calls, substitutions, paths,
//! types, expressions of code.

use super::value::Form;

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

pub(super) fn is_reference(form: Form, value: &[u8]) -> bool {
    let in_code = matches!(form, Form::Loose | Form::Line | Form::Pair);
    is_substitution(form, value)
        || SOURCES.iter().any(|source| value.starts_with(source))
        || is_path(value)
        || (form != Form::Shell && (is_code_path(value, in_code) || is_colour(value)))
        || (in_code && (is_expression(value) || is_access(value)))
        || (matches!(form, Form::Loose | Form::Line)
            && (is_url(value) || is_type(value) || is_constant(value) || is_number(value)))
}

/// `$NAME`, `${…}`, `$(…)`, `<…>`, `{{ … }}`, `%NAME%`, `%s`, `!Ref`.
fn is_substitution(form: Form, value: &[u8]) -> bool {
    let quoted = form == Form::Quoted;
    match value {
        b"$"
        | [b'<' | b'`', ..]
        | [b'$', b'{' | b'(' | b'[' | b'$', ..]
        | [b'{', b'{' | b'%', ..]
        | [b'{', .., b'}']
        | [b'%', .., b'%']
        | [b'[', .., b']'] => true,
        [b'{' | b'[' | b'(' | b'&' | b'*', ..] if !quoted => true,
        [b'$' | b'%', name @ ..] if !name.is_empty() && name.iter().all(|byte| is_word(*byte)) => true,
        [b'!', tag @ ..] if !quoted && tag.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'.') => true,
        _ => {
            let formats: [&[u8]; 3] = [b"%s", b"{}", b"${"];
            formats.iter().any(|format| memchr::memmem::find(value, format).is_some())
        }
    }
}

pub(super) fn is_url(value: &[u8]) -> bool {
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

/// `user_token`, `userToken`, `token`, without digits.
fn is_expression(value: &[u8]) -> bool {
    let letters = value.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    let camel = value.windows(2).any(|two| two[0].is_ascii_lowercase() && two[1].is_ascii_uppercase());
    value.len() <= 32 && letters && (camel || value.contains(&b'_'))
}

/// `config.password`, `$crate::private::Token`, `crate::Token2`; of names joined by dots only
/// where there are no quotes, since some tokens have dots.
fn is_code_path(value: &[u8], in_code: bool) -> bool {
    let scoped = memchr::memmem::find(value, b"::").is_some();
    if !(scoped || in_code && value.contains(&b'.')) {
        return false;
    }
    value.strip_prefix(b"$").unwrap_or(value).split(|byte| matches!(byte, b'.' | b':')).all(|part| {
        let digits = part.iter().filter(|byte| byte.is_ascii_digit()).count();
        let name = part.iter().all(|byte| is_word(*byte)) && !part.first().is_some_and(u8::is_ascii_digit);
        name && part.len() <= 40 && digits <= 6 && (scoped || !part.is_empty())
    })
}

/// `tokens[1]`, `key[:16]`, `Optional[str]`, `Token![fn]`, `$parser->token`, `i+1`, `f(`.
fn is_access(value: &[u8]) -> bool {
    let sigil = usize::from(matches!(value, [b'$' | b'@', ..]));
    let length = value[sigil..].iter().take_while(|byte| is_word(**byte) || b".:".contains(byte)).count();
    let (name, rest) = value[sigil..].split_at(length);
    !name.is_empty()
        && !name[0].is_ascii_digit()
        && matches!(rest, [b'[' | b'(', ..] | [b'!', b'[', ..] | [b'-'] | [b'+', b'1'])
}

/// `String`, `Vec`, `u64`, `SecretStr`.
fn is_type(value: &[u8]) -> bool {
    const BUILT_IN: [&[u8]; 10] = [b"u", b"i", b"f", b"int", b"uint", b"float", b"char", b"varchar", b"bytes", b"Uint"];
    let digits = value.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let letters = &value[..value.len() - digits];
    let letters = letters.strip_prefix(b"__").unwrap_or(letters);
    let capital = letters.first().is_some_and(u8::is_ascii_uppercase);
    BUILT_IN.contains(&letters) || (digits == 0 && capital && letters.iter().all(u8::is_ascii_alphabetic))
}

/// `WINBIO_PRESENCE_0`.
fn is_constant(value: &[u8]) -> bool {
    value.contains(&b'_')
        && value.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_')
        && value.iter().filter(|byte| byte.is_ascii_digit()).count() <= 4
}

/// `983040i32`, `0x030`: no key is that short.
fn is_number(value: &[u8]) -> bool {
    let digits = value.strip_prefix(b"0x").unwrap_or(value);
    let length = digits.iter().take_while(|byte| byte.is_ascii_hexdigit() || **byte == b'_').count();
    value.len() <= 12
        && value[0].is_ascii_digit()
        && (digits.len() < value.len() && length == digits.len()
            || matches!(
                &digits[length..],
                b"i8" | b"u8" | b"i16" | b"u16" | b"i32" | b"u32" | b"i64" | b"u64" | b"usize"
            ))
}

/// `#d0d0d0`.
fn is_colour(value: &[u8]) -> bool {
    matches!(value, [b'#', digits @ ..]
        if matches!(digits.len(), 3 | 6 | 8) && digits.iter().all(u8::is_ascii_hexdigit))
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
