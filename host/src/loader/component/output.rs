//! What a guest writes to its stdout and stderr: kept up to a bound, never shown as it is.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tokio::io::AsyncWrite;
use wasmtime_wasi::async_trait;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

/// Keeps the last bytes written, for a panic comes last. Writing always succeeds: a full
/// buffer would make a talkative guest fail.
#[derive(Debug, Clone)]
pub(super) struct Output {
    kept: Arc<Mutex<VecDeque<u8>>>,
    most: usize,
}

/// What a guest may hand over at once; the stream asks before each write.
const PERMIT: usize = 64 << 10;

impl Output {
    pub(super) fn keeping(most: usize) -> Self {
        Self { kept: Arc::default(), most }
    }

    fn push(&self, bytes: &[u8]) {
        let bytes = &bytes[bytes.len().saturating_sub(self.most)..];
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let over = (kept.len() + bytes.len()).saturating_sub(self.most);
        kept.drain(..over);
        kept.extend(bytes);
    }

    /// The last `most` bytes, broken UTF-8 replaced.
    pub(super) fn tail(&self, most: usize) -> String {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = kept.iter().skip(kept.len().saturating_sub(most)).copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl IsTerminal for Output {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Output {
    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }

    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }
}

impl OutputStream for Output {
    fn write(&mut self, bytes: bytes::Bytes) -> StreamResult<()> {
        self.push(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(PERMIT)
    }
}

#[async_trait]
impl Pollable for Output {
    async fn ready(&mut self) {}
}

impl AsyncWrite for Output {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        self.push(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::Output;

    #[test]
    fn the_last_bytes_are_kept() {
        let output = Output::keeping(8);
        output.push(b"0123456789");
        assert_eq!(output.tail(99), "23456789");
        output.push(b"ab");
        assert_eq!(output.tail(99), "456789ab");
        assert_eq!(output.tail(3), "9ab");
    }
}
