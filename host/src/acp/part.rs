//! What a prompt is made of: content blocks in the spelling of the protocol.

use super::capabilities::PromptCapabilities;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A part of a prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum PromptPart {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// An image.
    Image {
        /// Base64.
        data: String,
        /// For example `image/png`.
        #[serde(alias = "mime_type")]
        mime_type: String,
        /// Where it comes from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        uri: Option<String>,
    },
    /// A sound.
    Audio {
        /// Base64.
        data: String,
        /// For example `audio/wav`.
        #[serde(alias = "mime_type")]
        mime_type: String,
    },
    /// A file with its content.
    Resource {
        /// The file.
        resource: EmbeddedResource,
    },
    /// A file that the agent may read.
    #[serde(alias = "resourceLink")]
    ResourceLink {
        /// Where it is.
        uri: String,
        /// Its name.
        name: String,
        /// For example `text/plain`.
        #[serde(default, alias = "mime_type", skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
        /// Bytes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        size: Option<u64>,
    },
}

/// A file with its content: `text` or `blob`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmbeddedResource {
    /// Where it is.
    pub uri: String,
    /// For example `text/plain`.
    #[serde(default, alias = "mime_type", skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Its bytes, base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
}

impl PromptPart {
    /// The kind of part that an agent with these capabilities can't take, if this is one.
    pub(crate) fn beyond(&self, can: PromptCapabilities) -> Option<&'static str> {
        match self {
            Self::Image { .. } if !can.image => Some("images"),
            Self::Audio { .. } if !can.audio => Some("audio"),
            Self::Resource { .. } if !can.embedded_context => Some("embedded files"),
            _ => None,
        }
    }

    /// The part without the bytes of what is large, for the log of what happened.
    pub(crate) fn without_bytes(&self) -> Self {
        /// Base64 that is kept, bytes.
        const MOST: usize = 4 << 10;
        /// Text that is kept, bytes.
        const MOST_TEXT: usize = 1 << 20;
        let cut = |data: &str| {
            if data.len() > MOST { String::new() } else { data.to_owned() }
        };
        match self {
            Self::Image { data, mime_type, uri } => {
                Self::Image { data: cut(data), mime_type: mime_type.clone(), uri: uri.clone() }
            }
            Self::Audio { data, mime_type } => Self::Audio { data: cut(data), mime_type: mime_type.clone() },
            Self::Resource { resource } => Self::Resource {
                resource: EmbeddedResource {
                    blob: resource.blob.as_deref().map(cut),
                    text: resource.text.as_deref().map(|text| text[..text.floor_char_boundary(MOST_TEXT)].to_owned()),
                    ..resource.clone()
                },
            },
            Self::Text { text } => Self::Text { text: text[..text.floor_char_boundary(MOST_TEXT)].to_owned() },
            Self::ResourceLink { .. } => self.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::PromptPart;
    use crate::acp::PromptCapabilities;
    use serde_json::json;

    #[test]
    fn parts_have_the_spelling_of_the_protocol_and_older_ones_are_taken() {
        let parts = json!([
            {"type": "text", "text": "a"},
            {"type": "image", "data": "AA==", "mime_type": "image/png"},
            {"type": "resourceLink", "uri": "file:///a", "name": "a"},
            {"type": "resource", "resource": {"uri": "file:///b", "mimeType": "text/plain", "text": "b"}},
        ]);
        let parts: Vec<PromptPart> = serde_json::from_value(parts).unwrap();
        let spelled = serde_json::to_value(&parts).unwrap();
        assert_eq!(spelled[1], json!({"type": "image", "data": "AA==", "mimeType": "image/png"}));
        assert_eq!(spelled[2]["type"], "resource_link");
        let nothing = PromptCapabilities::default();
        let beyond: Vec<_> = parts.iter().map(|part| part.beyond(nothing)).collect();
        assert_eq!(beyond, [None, Some("images"), None, Some("embedded files")]);
    }
}
