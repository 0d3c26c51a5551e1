//! `log`: lines of a driver in the host's log, marked as its own.

use super::{Reach, contract::log::Host};
use crate::text::clean_line;
use sepia_ir::LogLevel;
use wasmtime::Result;

/// A line is cut at this many bytes.
const LINE: usize = 4 << 10;
/// Lines of one instance; a driver in a loop shall not fill the disk.
const LINES: u32 = 256;

impl Host for Reach {
    async fn write(&mut self, level: LogLevel, message: String) -> Result<()> {
        let driver = &*self.driver;
        self.log_lines = self.log_lines.saturating_add(1);
        if self.log_lines > LINES {
            if self.log_lines == LINES + 1 {
                tracing::warn!("{driver}: more than {LINES} lines in one call; the rest is left out");
            }
            return Ok(());
        }
        let line = clean_line(&message, LINE);
        match level {
            LogLevel::Debug => tracing::debug!("{driver}: {line}"),
            LogLevel::Info => tracing::info!("{driver}: {line}"),
            LogLevel::Warn => tracing::warn!("{driver}: {line}"),
            LogLevel::Error => tracing::error!("{driver}: {line}"),
        }
        Ok(())
    }
}
