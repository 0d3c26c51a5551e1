//! Stdin: lines, its end, and the way to close it while its reader waits.

use super::lock;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsFd;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};

const READ_AHEAD: usize = 64 << 10;

/// What the reader of stdin gives.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// A line without its end.
    Line(Vec<u8>),
    /// The end of the stream.
    End,
    /// The agent itself has closed it.
    Closed,
}

/// Reads stdin; there is one.
pub(crate) struct Reader {
    wake: PipeReader,
    closed: Sender<io::Result<()>>,
    unread: Vec<u8>,
    /// How much of `unread` has no line end.
    looked_at: usize,
    ended: bool,
}

/// Closes stdin.
pub(crate) struct Closer(Mutex<(PipeWriter, Receiver<io::Result<()>>)>);

impl Closer {
    /// Closes stdin and waits until it is. The reader does it: a read that waits would keep the
    /// pipe open.
    pub(crate) fn close(&self) -> io::Result<()> {
        let mut close = lock(&self.0);
        close.0.write_all(b"x")?;
        close.1.recv().map_err(|_| io::Error::other("the reader of stdin has ended"))?
    }
}

pub(crate) fn open() -> io::Result<(Reader, Closer)> {
    let (wake, waker) = io::pipe()?;
    let (closed, told) = channel();
    let reader = Reader { wake, closed, unread: Vec::new(), looked_at: 0, ended: false };
    Ok((reader, Closer(Mutex::new((waker, told)))))
}

impl Reader {
    /// The next line, or the end. After the end it waits to be closed.
    pub(crate) fn next(&mut self) -> io::Result<Input> {
        let mut part = vec![0; READ_AHEAD];
        loop {
            if let Some(line) = self.line() {
                return Ok(Input::Line(line));
            }
            if self.is_woken()? {
                self.wake.read_exact(&mut [0])?;
                let nowhere = File::open("/dev/null")?;
                let closed = rustix::stdio::dup2_stdin(&nowhere).map_err(io::Error::from);
                self.ended = true;
                // Whoever closes waits for this.
                let _gone = self.closed.send(closed);
                return Ok(Input::Closed);
            }
            match rustix::io::read(rustix::stdio::stdin(), &mut part) {
                // What follows the last line feed is a line too.
                Ok(0) if !self.unread.is_empty() => {
                    self.looked_at = 0;
                    return Ok(Input::Line(std::mem::take(&mut self.unread)));
                }
                Ok(0) => {
                    self.ended = true;
                    return Ok(Input::End);
                }
                Ok(read) => self.unread.extend_from_slice(part.get(..read).unwrap_or_default()),
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(e) => return Err(e.into()),
            }
        }
    }

    fn line(&mut self) -> Option<Vec<u8>> {
        let new = self.unread.get(self.looked_at..).unwrap_or_default();
        let Some(at) = new.iter().position(|byte| *byte == b'\n') else {
            self.looked_at = self.unread.len();
            return None;
        };
        let mut line: Vec<u8> = self.unread.drain(..=self.looked_at + at).collect();
        line.pop();
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        self.looked_at = 0;
        Some(line)
    }

    /// Waits for input; `true` when stdin is to be closed instead.
    fn is_woken(&self) -> io::Result<bool> {
        let stdin = rustix::stdio::stdin();
        loop {
            let mut watched = vec![PollFd::from_borrowed_fd(self.wake.as_fd(), PollFlags::IN)];
            if !self.ended {
                watched.push(PollFd::from_borrowed_fd(stdin, PollFlags::IN));
            }
            match poll(&mut watched, None) {
                Ok(_) => return Ok(watched.first().is_some_and(|wake| !wake.revents().is_empty())),
                Err(Errno::INTR) => {}
                Err(e) => return Err(e.into()),
            }
        }
    }
}
