//! Secrets of every form, none of them real, put together when the tests run: as literals they
//! would raise alarms in every scanner of repositories.

use sepia_redaction::{Kind, Redactor};

/// So many letters and digits, as if drawn by lot; another seed gives others.
pub(crate) fn random(seed: u64, length: usize) -> String {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    drawn(seed, length, ALPHABET)
}

pub(crate) fn drawn(seed: u64, length: usize, alphabet: &[u8]) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(0x1234_5678_9ABC_DEF1);
    let mut draw = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        alphabet[usize::try_from(state >> 33).unwrap() % alphabet.len()] as char
    };
    // Every class of the alphabet is there, whatever the lot says.
    let mut text: String = (0..length.saturating_sub(3)).map(|_| draw()).collect();
    text.push_str(&"q7K"[..length.min(3)]);
    text
}

pub(crate) fn anthropic() -> String {
    format!("{}-{}-api03-{}AA", "sk", "ant", random(1, 93))
}

pub(crate) fn openai() -> String {
    format!("{}-{}-{}", "sk", "proj", random(2, 120))
}

pub(crate) fn github() -> String {
    format!("{}{}_{}", "gh", "p", random(3, 36))
}

pub(crate) fn aws_id() -> String {
    format!("{}{}{}", "AK", "IA", drawn(4, 16, b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567").to_uppercase())
}

pub(crate) fn aws_secret() -> String {
    format!("{}/{}+{}", random(5, 12), random(6, 15), random(7, 11))
}

pub(crate) fn jwt() -> String {
    // {"alg":"HS256","typ":"JWT"} and {"sub":"1234567890"}, signed by nobody.
    format!("ey{}.ey{}.{}", "JhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", "JzdWIiOiIxMjM0NTY3ODkwIn0", random(8, 43))
}

pub(crate) fn private_key(label: &str, line_end: &str) -> String {
    let lines: Vec<String> = (20..30).map(|seed| random(seed, 64)).collect();
    let fence =
        |word: &str| format!("{dashes}{word} {label}PRIVATE {key}{dashes}", dashes = "-".repeat(5), key = "KEY");
    let body = format!("{}{line_end}{}==", lines.join(line_end), random(30, 22));
    format!("{}{line_end}{body}{line_end}{}", fence("BEGIN"), fence("END"))
}

/// What stands for the text: its placeholders have their digits taken off.
pub(crate) fn shown(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("[redacted:") {
        let end = at + rest[at..].find(']').expect("a placeholder ends");
        let inside = &rest[at + 1..end];
        let (kind, digits) = inside.rsplit_once(':').expect("digits");
        assert!(digits.len() == 6 && digits.bytes().all(|d| d.is_ascii_hexdigit()), "{inside}");
        out.push_str(&rest[..at]);
        out.push('[');
        out.push_str(kind.strip_prefix("redacted:").expect("a kind"));
        out.push(']');
        rest = &rest[end + 1..];
    }
    out + rest
}

/// Asserts what becomes of a text, that nothing more is taken out of that, and that only so
/// many secrets are counted as there are.
#[track_caller]
pub(crate) fn becomes(text: &str, expected: &str) {
    let mut redactor = Redactor::new();
    let out = redactor.text(text).into_owned();
    assert_eq!(shown(&out), expected, "of {text:?}");
    assert_eq!(redactor.count(), expected.matches('[').count() - text.matches('[').count(), "secrets in {text:?}");
    assert_eq!(redactor.text(&out), out, "taken out twice");
}

#[track_caller]
pub(crate) fn stays(text: &str) {
    let mut redactor = Redactor::new();
    assert_eq!(redactor.text(text), text);
    assert_eq!(redactor.count(), 0);
}

/// Asserts that exactly the secret is taken out, wherever in a text it stands.
#[track_caller]
pub(crate) fn is_taken(secret: &str, kind: Kind) {
    let around = [
        ("", ""),
        ("see ", " there"),
        ("\"", "\""),
        ("'", "'"),
        ("`", "`"),
        ("(", ")"),
        ("at ", ". Next"),
        ("<", ">"),
        ("line\n", "\nline"),
        ("line\\n", "\\nline"),
        ("\u{1b}[32m", "\u{1b}[0m"),
        ("ä", "ö"),
        ("a=", "&b=1"),
        ("/srv/", "/config.json"),
        ("x%3D", "%26y"),
        ("| ", " |"),
        ("**", "**"),
        ("日本", "日本"),
    ];
    for (before, after) in around {
        becomes(&format!("{before}{secret}{after}"), &format!("{before}[{}]{after}", kind.name()));
    }
}
