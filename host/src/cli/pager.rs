//! Long text on a terminal, one screen at a time.

use super::exit::Failure;
use super::output;
use std::io::{self, BufWriter, StdoutLock, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

/// Where the text goes: to a pager, or straight to stdout.
pub(super) enum Pager {
    Child(Child, BufWriter<ChildStdin>),
    Plain(BufWriter<StdoutLock<'static>>),
}

impl Pager {
    /// `$PAGER`, else `less`, where one is wanted and can be started. The program named is
    /// run without a shell.
    pub(super) fn start(wanted: bool) -> Self {
        let started = wanted.then(|| {
            let set = std::env::var("PAGER").unwrap_or_default();
            let mut words = set.split_whitespace();
            let program = words.next().unwrap_or("less").to_owned();
            if program == "cat" {
                return None;
            }
            let mut child = Command::new(program)
                .args(words)
                // Quit when it fits, keep colours, leave the screen as it was.
                .env("LESS", std::env::var("LESS").unwrap_or_else(|_| "FRX".to_owned()))
                .stdin(Stdio::piped())
                .spawn()
                .ok()?;
            let stdin = child.stdin.take()?;
            Some(Self::Child(child, BufWriter::with_capacity(64 << 10, stdin)))
        });
        started.flatten().unwrap_or_else(|| Self::Plain(output::stdout()))
    }

    /// Hands over what is left and waits for the reader.
    pub(super) fn finish(self) -> Result<(), Failure> {
        let closed_early = |result: io::Result<()>| match result {
            Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(Failure::output(&e)),
            _ => Ok(()),
        };
        match self {
            Self::Plain(mut out) => closed_early(out.flush()),
            Self::Child(mut child, mut stdin) => {
                let flushed = closed_early(stdin.flush());
                drop(stdin);
                child.wait().map_err(|e| Failure::output(&e))?;
                flushed
            }
        }
    }
}

impl Write for Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Child(_, stdin) => stdin.write(bytes),
            Self::Plain(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Child(_, stdin) => stdin.flush(),
            Self::Plain(out) => out.flush(),
        }
    }
}
