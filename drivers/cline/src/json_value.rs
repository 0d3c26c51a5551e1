//! JSON text inside of something that is written as JSON.

use serde::{Serialize, Serializer};

/// JSON text that is written as the value that it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JsonValue(pub(crate) String);

impl Serialize for JsonValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        sepia_ir::json_text::serialize(&self.0, serializer)
    }
}
