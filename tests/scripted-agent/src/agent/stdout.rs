//! Stdout: whole frames of several threads, without a buffer that an exit would lose.

use super::lock;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::fs::OpenOptions;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is written at once stays together.
#[derive(Debug, Default)]
pub(crate) struct Stdout {
    writing: Mutex<()>,
    lost: AtomicBool,
}

impl Stdout {
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let _writing = lock(&self.writing);
        if self.lost.load(Ordering::Relaxed) {
            return Ok(());
        }
        write_all(rustix::stdio::stdout(), bytes)
    }

    /// Writes no more; `false` when that was so already.
    pub(crate) fn lose(&self) -> bool {
        !self.lost.swap(true, Ordering::Relaxed)
    }

    /// Gives the pipe up, so that its reader sees the end.
    pub(crate) fn close(&self) -> io::Result<()> {
        let _writing = lock(&self.writing);
        self.lost.store(true, Ordering::Relaxed);
        // A free descriptor would be taken by the next file that is opened.
        let nowhere = OpenOptions::new().write(true).open("/dev/null")?;
        Ok(rustix::stdio::dup2_stdout(&nowhere)?)
    }
}

/// Writes all of it, also where the reader has made the pipe one that does not wait.
pub(crate) fn write_all(to: BorrowedFd<'_>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(to, bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => wait_until(to, PollFlags::OUT)?,
            Err(e) => return Err(e.into()),
        }
    }
    Ok(())
}

fn wait_until(descriptor: BorrowedFd<'_>, ready: PollFlags) -> io::Result<()> {
    match poll(&mut [PollFd::from_borrowed_fd(descriptor, ready)], None) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(e) => Err(e.into()),
    }
}
