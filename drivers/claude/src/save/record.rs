//! Records as the agent writes them, one line each: what is the same in all of them is here.

use sepia_sdk::carried::KEY;

/// Lines that are to be written.
#[derive(Debug, Default)]
pub(crate) struct Records {
    pub(crate) bytes: Vec<u8>,
    /// Members at the end of every record of the tree.
    envelope: Vec<u8>,
    begun: usize,
}

impl Records {
    /// For records that say these things alike, as pairs of a name and a text.
    pub(crate) fn new(envelope: &[(&str, &str)]) -> Self {
        let mut records = Self::default();
        for (name, value) in envelope {
            records.text(name, value);
        }
        records.envelope = std::mem::take(&mut records.bytes);
        records
    }

    /// JSON as it stands.
    pub(crate) fn json(&mut self, json: &str) {
        self.bytes.extend_from_slice(json.as_bytes());
    }

    /// A JSON string.
    pub(crate) fn string(&mut self, text: &str) {
        self.bytes.reserve(text.len() + 2);
        sepia_sdk::quoted(text, |piece| self.bytes.extend_from_slice(piece.as_bytes()));
    }

    /// A member that follows others.
    pub(crate) fn text(&mut self, name: &str, value: &str) {
        self.json(",\"");
        self.json(name);
        self.json("\":");
        self.string(value);
    }

    /// A member that follows others and is JSON already, on one line.
    pub(crate) fn raw(&mut self, name: &str, json: &str) {
        self.json(",\"");
        self.json(name);
        self.json("\":");
        self.json(&one_line(json));
    }

    /// The start of a record of the tree. The agent finds its way through long files by just these bytes.
    pub(crate) fn begin(&mut self, parent: Option<u128>) {
        self.begun = self.bytes.len();
        self.json("{\"parentUuid\":");
        match parent {
            Some(parent) => self.uuid(parent),
            None => self.json("null"),
        }
    }

    /// A UUID as a JSON string.
    pub(crate) fn uuid(&mut self, uuid: u128) {
        self.json("\"");
        self.json(uuid::Uuid::from_u128(uuid).as_hyphenated().encode_lower(&mut uuid::Uuid::encode_buffer()));
        self.json("\"");
    }

    /// Id and time, which the agent looks for side by side.
    pub(crate) fn identity(&mut self, uuid: u128, time: &str) {
        self.json(",\"uuid\":");
        self.uuid(uuid);
        self.text("timestamp", time);
    }

    /// The end of a record of the tree, with what it carries; its bytes.
    pub(crate) fn end(&mut self, carried: Option<&str>) -> usize {
        self.bytes.extend_from_slice(&self.envelope);
        if let Some(carried) = carried {
            self.raw(KEY, carried);
        }
        self.json("}\n");
        self.bytes.len() - self.begun
    }
}

/// JSON text on one line: line feeds are white space between its values only.
pub(crate) fn one_line(json: &str) -> std::borrow::Cow<'_, str> {
    if memchr::memchr2(b'\n', b'\r', json.as_bytes()).is_none() {
        return json.into();
    }
    json.replace(['\n', '\r'], " ").into()
}
