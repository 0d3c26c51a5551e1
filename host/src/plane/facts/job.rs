//! What waits to be written, together with whoever waits for it.

use super::error::LogError;
use super::owner::Owner;
use rusqlite::Connection;
use tokio::sync::oneshot;

/// What a job hands back: what it was given, and what became of it.
pub(super) type Answer<I, T> = Result<(I, T), LogError>;

/// What a job does inside a transaction. It may run again when the transaction was given up.
pub(super) type Run<I, T> = fn(&Connection, Owner, &I) -> rusqlite::Result<T>;

/// Something that is written in one transaction, alone or with others.
pub(super) trait Job: Send {
    /// Does it inside a transaction.
    fn run(&mut self, connection: &Connection, owner: Owner) -> rusqlite::Result<()>;
    /// Tells whoever waits what became of the transaction.
    fn answer(self: Box<Self>, outcome: Result<(), LogError>);
    /// Facts and bytes that it stores.
    fn size(&self) -> (usize, u64);
}

struct Waiting<I, T> {
    input: I,
    run: Run<I, T>,
    output: Option<T>,
    answer: oneshot::Sender<Answer<I, T>>,
    size: (usize, u64),
}

/// A job, and where its answer comes.
pub(super) fn job<I: Send + 'static, T: Send + 'static>(
    input: I,
    size: (usize, u64),
    run: Run<I, T>,
) -> (Box<dyn Job>, oneshot::Receiver<Answer<I, T>>) {
    let (answer, receiver) = oneshot::channel();
    (Box::new(Waiting { input, run, output: None, answer, size }), receiver)
}

impl<I: Send, T: Send> Job for Waiting<I, T> {
    fn run(&mut self, connection: &Connection, owner: Owner) -> rusqlite::Result<()> {
        self.output = Some((self.run)(connection, owner, &self.input)?);
        Ok(())
    }

    fn answer(self: Box<Self>, outcome: Result<(), LogError>) {
        let answer = match (outcome, self.output) {
            (Ok(()), Some(output)) => Ok((self.input, output)),
            // Dropping the sender says that the writer gave no answer.
            (Ok(()), None) => return,
            (Err(error), _) => Err(error),
        };
        // Who waits may have given up.
        let _ = self.answer.send(answer);
    }

    fn size(&self) -> (usize, u64) {
        self.size
    }
}
