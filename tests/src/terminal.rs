//! A program on a terminal: what a person sees there, and what they type.

use pty_process::{Size, blocking};
use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How long anything is waited for.
const PATIENCE: Duration = Duration::from_secs(60);
/// Lines that are kept above the ones that show.
const SCROLLBACK: usize = 1_000;

/// A running program, and the terminal that it has.
pub struct Terminal {
    child: Child,
    keyboard: File,
    output: Receiver<Vec<u8>>,
    screen: vt100::Parser,
}

impl Terminal {
    /// Runs a command on a terminal of this size.
    pub fn run(command: &Command, rows: u16, columns: u16) -> Self {
        let (pty, pts) = blocking::open().unwrap();
        pty.resize(Size::new(rows, columns)).unwrap();
        let variables = command.get_envs().map(|(name, value)| (name, value.unwrap()));
        let mut on_terminal = blocking::Command::new(command.get_program())
            .args(command.get_args())
            .env_clear()
            .envs(variables)
            .env("TERM", "xterm-256color");
        if let Some(place) = command.get_current_dir() {
            on_terminal = on_terminal.current_dir(place);
        }
        let child = on_terminal.spawn(pts).unwrap();
        let mut reading = File::from(OwnedFd::from(pty));
        let keyboard = reading.try_clone().unwrap();
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut piece = vec![0; 4 << 10];
            // The end of it is an error: nobody has the other side any more.
            while let Ok(count @ 1..) = reading.read(&mut piece) {
                if sender.send(piece[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        let measure = |count| NonZero::new(count).unwrap();
        let screen = vt100::Parser::new(measure(rows), measure(columns), SCROLLBACK);
        Self { child, keyboard, output, screen }
    }

    /// Waits until this shows.
    pub fn until(&mut self, text: &str) {
        let deadline = Instant::now() + PATIENCE;
        while !self.text().contains(text) {
            match self.output.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(piece) => self.screen.process(&piece),
                Err(e) => panic!("`{text}` does not show ({e}):\n{}", self.text()),
            }
        }
    }

    /// Types this. `\r` is Enter, `\u{3}` Ctrl-C.
    pub fn types(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for the end; how it ended.
    pub fn ends(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.output.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(piece) => self.screen.process(&piece),
                Err(RecvTimeoutError::Disconnected) => return self.child.wait().unwrap(),
                Err(RecvTimeoutError::Timeout) => panic!("it does not end:\n{}", self.text()),
            }
        }
    }

    /// What shows.
    pub fn text(&self) -> String {
        self.screen.screen().contents()
    }

    /// Lines that were longer than the terminal is wide.
    pub fn wrapped(&self) -> usize {
        let screen = self.screen.screen();
        (0..screen.size().0.get()).filter(|row| screen.row_wrapped(*row)).count()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It has ended, mostly.
        let _ended = self.child.kill();
        let _ended = self.child.wait();
    }
}
