//! Reads any path that it is told to, by each way that there is.

use sepia_hostile::{Guest, Misdeed};
use sepia_ir::{DriverError, Session};
use sepia_sdk::Host;

struct Bad;

impl Misdeed for Bad {
    /// The order is `std:<path>`, `lent:<store>:<path>`, `list:<path>`, `env` or `arguments`.
    fn summary_of(host: &Host, order: &str) -> Result<Session, DriverError> {
        let found = match order.split_once(':') {
            Some(("std", path)) => std::fs::read(path).map_err(|e| e.to_string()),
            Some(("list", path)) => std::fs::read_dir(path)
                .map(|entries| {
                    entries.flatten().map(|e| e.file_name().display().to_string()).collect::<Vec<_>>().join(" ").into()
                })
                .map_err(|e| e.to_string()),
            Some(("lent", rest)) => {
                let (store, path) = rest.split_once(':').unwrap_or((rest, ""));
                return Ok(sepia_hostile::answer(String::from_utf8_lossy(&host.read(store, path, 0, 1024)?)));
            }
            _ if order == "env" => Ok(format!("{:?}", std::env::vars().collect::<Vec<_>>()).into()),
            _ => Ok(format!("{:?}", std::env::args().collect::<Vec<_>>()).into()),
        };
        Ok(sepia_hostile::answer(match found {
            Ok(bytes) => format!("read: {}", String::from_utf8_lossy(&bytes)),
            Err(error) => format!("refused: {error}"),
        }))
    }
}

sepia_sdk::export_driver!(Guest<Bad>);
