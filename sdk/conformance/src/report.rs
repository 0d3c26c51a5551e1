//! What the suite found.

use std::fmt;

/// What became of one law, for the store or for one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Name of the law.
    pub law: &'static str,
    /// The session that it was tried on; absent for laws about the whole.
    pub session: Option<String>,
    /// Whether it held.
    pub ok: bool,
    /// What was wrong; empty when nothing was.
    pub message: String,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.ok { "holds" } else { "broken" };
        write!(f, "{}: {verdict}", self.law)?;
        if let Some(session) = &self.session {
            write!(f, " (session {session})")?;
        }
        if !self.message.is_empty() {
            write!(f, ": {}", self.message)?;
        }
        Ok(())
    }
}

/// All outcomes, in the order in which the laws were tried.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    outcomes: Vec<Outcome>,
}

impl Report {
    /// Everything that was tried.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// The laws that did not hold.
    pub fn failures(&self) -> Vec<&Outcome> {
        self.outcomes.iter().filter(|outcome| !outcome.ok).collect()
    }

    /// How many sessions were read.
    pub fn sessions(&self) -> usize {
        let sessions = self.outcomes.iter().filter_map(|outcome| outcome.session.as_deref());
        sessions.collect::<std::collections::BTreeSet<_>>().len()
    }

    pub(crate) fn add(&mut self, law: &'static str, session: Option<&str>, verdict: Result<(), String>) {
        let (ok, message) = match verdict {
            Ok(()) => (true, String::new()),
            Err(message) => (false, message),
        };
        self.outcomes.push(Outcome { law, session: session.map(str::to_owned), ok, message });
    }
}
