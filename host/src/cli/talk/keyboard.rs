//! Lines that a person types. One thread reads stdin, whoever wants a line next.

use std::io::{BufRead, IsTerminal};
use tokio::sync::mpsc;

/// stdin, line by line.
pub(in crate::cli) struct Keyboard {
    lines: Option<mpsc::Receiver<String>>,
}

impl Keyboard {
    /// Nothing is read before a line is wanted.
    pub(in crate::cli) fn new() -> Self {
        Self { lines: None }
    }

    /// Whether a person sits at it and sees what is asked.
    pub(in crate::cli) fn has_person() -> bool {
        std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }

    /// Throws away what was typed before it was asked for.
    pub(in crate::cli) fn discard(&mut self) {
        // What is no terminal has nothing typed ahead.
        let _no_terminal = rustix::termios::tcflush(std::io::stdin(), rustix::termios::QueueSelector::IFlush);
        if let Some(lines) = &mut self.lines {
            while lines.try_recv().is_ok() {}
        }
    }

    /// The next line, without its end; none when there are no more.
    pub(in crate::cli) async fn line(&mut self) -> Option<String> {
        self.lines.get_or_insert_with(start).recv().await
    }
}

fn start() -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel(1);
    // Left when the program ends: it may wait for a line for ever.
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}
