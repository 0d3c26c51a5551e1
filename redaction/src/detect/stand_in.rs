//! What documents and templates put where a secret would be.

/// Values that say that there is none.
const ABSENT: &[&str] = &[
    "null",
    "none",
    "nil",
    "undefined",
    "true",
    "false",
    "yes",
    "no",
    "string",
    "optional",
    "required",
    "unknown",
    "empty",
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
    "fixme",
];

/// Names of values, of types and of variables, which code puts behind the name of a secret. In
/// an environment they are what somebody really took for a password.
const NAMES: &[&str] = &[
    "str",
    "text",
    "int",
    "integer",
    "number",
    "bool",
    "boolean",
    "any",
    "object",
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
    "dummy",
    "example",
    "sample",
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

/// Whether the value is no more than a name that code has there.
pub(super) fn is_name(value: &[u8]) -> bool {
    NAMES.iter().any(|name| name.as_bytes().eq_ignore_ascii_case(value))
}

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
    ABSENT.contains(&text) || says_your(text) || {
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
