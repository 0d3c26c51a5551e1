//! A program on a terminal: what a person sees there, and what they type.

use portable_pty::{Child, CommandBuilder, ExitStatus, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How long anything is waited for.
const PATIENCE: Duration = Duration::from_secs(60);
/// Lines that are kept above the ones that show.
const SCROLLBACK: usize = 1_000;

/// A running program, and the terminal that it has.
pub struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    keyboard: Box<dyn Write + Send>,
    output: Receiver<Vec<u8>>,
    screen: vt100::Parser,
}

impl Terminal {
    /// Runs a command on a terminal of this size.
    pub fn run(command: &Command, rows: u16, columns: u16) -> Self {
        let size = PtySize { rows, cols: columns, ..PtySize::default() };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut on_terminal = CommandBuilder::new(command.get_program());
        on_terminal.args(command.get_args());
        on_terminal.env_clear();
        for (name, value) in command.get_envs() {
            on_terminal.env(name, value.unwrap());
        }
        on_terminal.env("TERM", "xterm-256color");
        if let Some(place) = command.get_current_dir() {
            on_terminal.cwd(place);
        }
        let child = pair.slave.spawn_command(on_terminal).unwrap();
        let mut reading = pair.master.try_clone_reader().unwrap();
        let keyboard = pair.master.take_writer().unwrap();
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
        Self { child, keyboard, output, screen: vt100::Parser::new(rows, columns, SCROLLBACK) }
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
        (0..screen.size().0).filter(|row| screen.row_wrapped(*row)).count()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It has ended, mostly.
        let _ended = self.child.kill();
        let _ended = self.child.wait();
    }
}
