//! Lenient reading of JSON: members that are missing or of another type read as absent, and
//! what is not looked into stays text.
//!
//! Its functions are not inlined: they are used all over, and a component should be small.

use sepia_sdk::json::{self, Str, parse};
use sepia_sdk::metadata::clean;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The members of an object, each as the JSON text that it is.
#[derive(Debug, Default)]
pub(crate) struct Object<'a>(json::Object<'a>);

impl<'a> Object<'a> {
    /// Absent when the text is no JSON object.
    #[inline(never)]
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        if !text.trim_start().starts_with('{') {
            return None;
        }
        Some(Self(parse(text).ok()?))
    }

    /// JSON text of a member; of several of one name the last.
    #[inline(never)]
    pub(crate) fn get(&self, name: &str) -> Option<&'a str> {
        self.0.get(name).map(RawValue::get)
    }

    /// Name and JSON text of each member, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.0.0.iter().map(|(key, raw)| (key.as_ref(), raw.get()))
    }

    /// A string.
    #[inline(never)]
    pub(crate) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name).and_then(text)
    }

    /// A string that is not empty.
    #[inline(never)]
    pub(crate) fn filled(&self, name: &str) -> Option<String> {
        self.text(name).filter(|text| !text.is_empty()).map(Cow::into_owned)
    }

    /// A number, or text that is one, as protobuf's JSON writes long numbers.
    #[inline(never)]
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        let raw = self.get(name)?;
        let number: f64 = raw.trim_matches('"').parse().ok()?;
        number.is_finite().then_some(number)
    }

    /// Whether a member is `true`, or the number 1 as databases keep it.
    #[inline(never)]
    pub(crate) fn flag(&self, name: &str) -> bool {
        matches!(self.get(name), Some("true" | "1"))
    }

    /// An object.
    #[inline(never)]
    pub(crate) fn object(&self, name: &str) -> Option<Self> {
        self.get(name).and_then(Self::parse)
    }

    /// JSON texts of the elements of a list.
    #[inline(never)]
    pub(crate) fn list(&self, name: &str) -> Option<Vec<&'a str>> {
        self.get(name).and_then(list)
    }
}

/// The string that a JSON text is.
#[inline(never)]
pub(crate) fn text(json: &str) -> Option<Cow<'_, str>> {
    if !json.starts_with('"') {
        return None;
    }
    parse::<Str<'_>>(json).ok()?.0
}

/// JSON texts of the elements of a list.
#[inline(never)]
pub(crate) fn list(json: &str) -> Option<Vec<&str>> {
    let elements: Vec<&RawValue> = parse(json).ok()?;
    Some(elements.into_iter().map(RawValue::get).collect())
}

/// Whether a text is one JSON value.
pub(crate) fn is_value(json: &str) -> bool {
    parse::<IgnoredAny>(json).is_ok()
}

/// Bytes of a store as text that can be parsed: wrong bytes and half surrogate pairs are
/// replaced by U+FFFD. Says how many places were.
#[inline(never)]
pub(crate) fn decoded(bytes: &[u8]) -> (Cow<'_, str>, usize) {
    // Looking whether it is UTF-8 is several times as fast as looking for what is not.
    let text = sepia_sdk::utf8_or_repaired(bytes);
    let wrong = match &text {
        Cow::Borrowed(_) => 0,
        Cow::Owned(text) => text.matches('\u{fffd}').count(),
    };
    if memchr::memmem::find(text.as_bytes(), b"\\u").is_none() {
        return (text, wrong);
    }
    match sepia_ir::json_text::replace_lone_surrogates(text.as_bytes()) {
        (_, 0) => (text, wrong),
        (repaired, halves) => (Cow::Owned(String::from_utf8_lossy(&repaired).into_owned()), wrong + halves),
    }
}

/// A JSON text to be passed on as a raw value. What is nested too deeply for others to read becomes a
/// note of its size.
#[inline(never)]
pub(crate) fn passed_on(json: &str) -> Box<RawValue> {
    RawValue::from_string(clean(json).into_owned()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
    use super::{Object, decoded, passed_on};

    #[test]
    fn members_of_another_type_are_absent_and_the_last_of_a_name_wins() {
        let object = Object::parse(r#"{"a":1,"b":"x","a":"y","n":"5400","f":1,"l":[1,{}],"\u0063":"c"}"#).unwrap();
        assert_eq!(object.text("a").as_deref(), Some("y"));
        assert_eq!((object.text("n").as_deref(), object.number("n")), (Some("5400"), Some(5400.0)));
        assert_eq!((object.number("b"), object.flag("f"), object.flag("b")), (None, true, false));
        assert_eq!(object.list("l").unwrap(), ["1", "{}"]);
        assert_eq!(object.text("c").as_deref(), Some("c"));
        for other in ["[1]", "\"x\"", "3", "-3", "2.5", "null", "true", "", "{", "{\"a\":}"] {
            assert!(Object::parse(other).is_none(), "{other}");
        }
    }

    #[test]
    fn broken_text_is_repaired_and_counted() {
        assert_eq!(decoded(br#""\ud83d x""#), (r#""\ufffd x""#.into(), 1));
        assert_eq!(decoded(b"\"a\xffb\""), ("\"a\u{fffd}b\"".into(), 1));
        assert_eq!(decoded(br#""\ud83d\ude00""#), (r#""\ud83d\ude00""#.into(), 0));
    }

    #[test]
    fn what_is_nested_too_deeply_is_told_by_its_size() {
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(passed_on(&deep(100)).get(), deep(100));
        assert_eq!(passed_on(&deep(101)).get(), r#"{"nestedTooDeeply":true,"bytes":202}"#);
        let quoted = format!("\"{}\\\"[\"", "[".repeat(500));
        assert_eq!(passed_on(&quoted).get(), quoted);
    }
}
