//! Lenient reading of JSON: members that are missing or of another type read as absent, and
//! what is not looked into stays text.
//!
//! Its functions are not inlined: they are used all over, and a component should be small.

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// Deeper values are not passed on: readers of JSON give up at 128 levels, some of which are
/// around the value.
const DEEPEST: usize = 100;

/// The members of an object, each as the JSON text that it is.
#[derive(Debug, Default)]
pub(crate) struct Object<'a>(Vec<(Cow<'a, str>, &'a str)>);

impl<'a> Object<'a> {
    /// Absent when the text is no JSON object.
    #[inline(never)]
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        serde_json::from_str::<Found<'a>>(text).ok()?.0
    }

    /// JSON text of a member; of several of one name the last.
    #[inline(never)]
    pub(crate) fn get(&self, name: &str) -> Option<&'a str> {
        self.0.iter().rev().find(|(key, _)| key == name).map(|(_, raw)| *raw)
    }

    /// Name and JSON text of each member, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.0.iter().map(|(key, raw)| (key.as_ref(), *raw))
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
    match serde_json::from_str::<&str>(json) {
        Ok(plain) => Some(Cow::Borrowed(plain)),
        Err(_) => serde_json::from_str::<String>(json).ok().map(Cow::Owned),
    }
}

/// JSON texts of the elements of a list.
#[inline(never)]
pub(crate) fn list(json: &str) -> Option<Vec<&str>> {
    let elements: Vec<&RawValue> = serde_json::from_str(json).ok()?;
    Some(elements.into_iter().map(RawValue::get).collect())
}

/// Whether a text is one JSON value.
pub(crate) fn is_value(json: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(json).is_ok()
}

/// Bytes of a store as text that can be parsed: wrong bytes and half surrogate pairs are
/// replaced by U+FFFD. Says how many places were.
#[inline(never)]
pub(crate) fn decoded(bytes: &[u8]) -> (Cow<'_, str>, usize) {
    let text = String::from_utf8_lossy(bytes);
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
    let note = || format!("{{\"nestedTooDeeply\":true,\"bytes\":{}}}", json.len());
    let text = if is_too_deep(json) { note() } else { json.to_owned() };
    RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

fn is_too_deep(json: &str) -> bool {
    let (mut depth, mut quoted, mut escaped) = (0usize, false, false);
    // Most values are flat: looking is cheap where few brackets open.
    if memchr::memchr2_iter(b'{', b'[', json.as_bytes()).take(DEEPEST + 1).count() <= DEEPEST {
        return false;
    }
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => {
                depth += 1;
                if depth > DEEPEST {
                    return true;
                }
            }
            b'}' | b']' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// What any JSON value reads as.
struct Found<'a>(Option<Object<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for Found<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Anything)
    }
}

struct Anything;

impl<'de> Visitor<'de> for Anything {
    type Value = Found<'de>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(Key(key)) = map.next_key::<Key<'de>>()? {
            members.push((key, map.next_value::<&'de RawValue>()?.get()));
        }
        Ok(Found(Some(Object(members))))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Found(None))
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(Found(None))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Found(None))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Found(None))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Found(None))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Found(None))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Found(None))
    }
}

/// The name of a member, borrowed when it has no escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(KeyText).map(Key)
    }
}

struct KeyText;

impl<'de> Visitor<'de> for KeyText {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
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
