//! Why a program is spoken to no more.

/// Why a connection is no more.
#[derive(Debug, Clone)]
pub(crate) struct End {
    pub(crate) kind: EndKind,
    /// A sentence about "it", the program.
    pub(crate) message: String,
}

/// Kinds of [`End`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndKind {
    /// It died, closed its stdout, or was shut down.
    Lost,
    /// It overran its time.
    Time,
    /// It wrote a line over the limit.
    Transfer,
    /// It writes what is no message, and does not stop.
    Contract,
}
