//! Directories that are kept as URIs.

/// The path of a `file://` URI, its escapes decoded. Other URIs stay as they are: what they name
/// is on another machine.
pub(crate) fn path(uri: &str) -> Option<String> {
    let Some(rest) = uri.strip_prefix("file://") else {
        return uri.contains("://").then(|| uri.to_owned());
    };
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    let decoded = decoded(rest);
    // `/c:/x` of Windows.
    let bytes = decoded.as_bytes();
    let drive = bytes.first() == Some(&b'/')
        && bytes.get(1).is_some_and(u8::is_ascii_alphabetic)
        && bytes.get(2) == Some(&b':');
    let decoded = if drive { decoded[1..].to_owned() } else { decoded };
    let path = if decoded.len() > 1 { decoded.trim_end_matches('/') } else { &decoded };
    (!path.is_empty()).then(|| path.to_owned())
}

/// The `file://` URI of an absolute path.
pub(crate) fn of_path(path: &str) -> String {
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "file:///" });
    for byte in path.replace('\\', "/").bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push('%');
            uri.push_str(&crate::blobs::hex(&[byte]).to_ascii_uppercase());
        }
    }
    uri
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escaped = (*first == b'%').then(|| after.get(..2)).flatten();
        let value = escaped.and_then(|pair| crate::message::unhex(std::str::from_utf8(pair).ok()?)?.pop());
        bytes.push(value.unwrap_or(*first));
        rest = if value.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{of_path, path};

    #[test]
    fn paths_become_uris_and_come_back() {
        assert_eq!(of_path("/home/dev/my app"), "file:///home/dev/my%20app");
        for plain in ["/", "/home/dev/é %2F#?", "c:/w"] {
            assert_eq!(path(&of_path(plain)).as_deref(), Some(plain));
        }
    }

    #[test]
    fn uris_become_paths() {
        let of = |uri: &str| path(uri).unwrap_or_default();
        assert_eq!(of("file:///home/dev/my%20app%2Fx"), "/home/dev/my app/x");
        assert_eq!(of("file:///home/dev/shop/"), "/home/dev/shop");
        assert_eq!(of("file:///c%3A/w"), "c:/w");
        assert_eq!(of("file:///%C3%A9%zz%"), "/é%zz%");
        assert_eq!(of("vscode-remote://ssh-remote%2Bbox/home/x"), "vscode-remote://ssh-remote%2Bbox/home/x");
        assert_eq!((path("file://"), path("/plain")), (None, None));
    }
}
