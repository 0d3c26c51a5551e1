//! What a scan rests on. A driver's scan is a function of what it asks of its stores: as long
//! as every question would be answered the same, so would the scan, and the driver need not
//! run at all. Only what the host answers itself can be told so; a scan that looks at files by
//! its own means has no basis.

use sepia_ir::WalkReport;
use sepia_services::Store;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A file or directory that changed so short a time before may change again without its time
/// telling, nanoseconds: the clock of file systems is coarse.
const SETTLED_NS: u64 = 1_000_000_000;
/// A scan that asks more than this is not worth asking again.
const MOST_QUESTIONS: usize = 64;

/// What a scan asked, and how it was answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScanBasis(Vec<(Question, Answer)>);

/// Something that a driver asked of a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Question {
    /// `bulk-files.walk`
    Walk { store: String, under: String, depth: u32, suffixes: Vec<String> },
    /// The content of a file.
    File { store: String, path: String },
    /// The content of a database.
    Database { store: String, path: String },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum Answer {
    /// SHA-256 over all that a walk reported.
    Walk([u8; 32]),
    /// Size, time and inode of files.
    Looks(Vec<Option<(u64, u64, u64)>>),
}

/// The report of a walk, and its digest.
#[derive(Debug)]
pub(crate) struct Walked {
    pub(crate) report: WalkReport,
    digest: [u8; 32],
}

impl From<WalkReport> for Walked {
    fn from(report: WalkReport) -> Self {
        Self { digest: digest(&report), report }
    }
}

/// What lies beside a database and may hold a part of it.
const BESIDE: [&str; 3] = ["", "-wal", "-journal"];

/// Questions of a scan that runs, being written down.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    asked: Vec<(Question, Answer)>,
    /// Newest change of anything that was looked at, epoch nanoseconds.
    newest: u64,
    /// Something was asked whose answer can't be told to be the same.
    opaque: bool,
    /// Walks that were made to compare them, with their digests, for the scan that follows.
    walked: Vec<(Question, Walked)>,
}

impl Trace {
    /// Something was asked whose answer can't be told to be the same.
    pub(crate) fn is_opaque(&mut self) {
        self.opaque = true;
    }

    /// The report of a walk that was made before the scan, if there is one.
    pub(crate) fn walked(&mut self, question: &Question) -> Option<Walked> {
        let at = self.walked.iter().position(|(walked, _)| walked == question)?;
        Some(self.walked.swap_remove(at).1)
    }

    /// A walk was answered.
    pub(crate) fn walk(&mut self, question: Question, walked: &Walked) {
        let Walked { report, digest } = walked;
        // A directory that can't be looked into tells no change of what is in it.
        self.opaque |= !report.failures.is_empty();
        let newest = report.files.iter().map(|file| file.modified_ns).max().unwrap_or(0);
        self.note(question, Answer::Walk(*digest), newest);
    }

    /// A file or database is about to be read.
    pub(crate) fn read(&mut self, question: Question, store: &Store) {
        let looks = looks(&question, store);
        let newest = looks.iter().flatten().map(|(_, modified, _)| *modified).max().unwrap_or(0);
        self.note(question, Answer::Looks(looks), newest);
    }

    fn note(&mut self, question: Question, answer: Answer, newest: u64) {
        if self.asked.iter().any(|(asked, _)| *asked == question) {
            // Asked again: only the first answer was there before anything was made of it.
            return;
        }
        self.newest = self.newest.max(newest);
        self.opaque |= self.asked.len() >= MOST_QUESTIONS;
        if !self.opaque {
            self.asked.push((question, answer));
        }
    }

    /// What the scan rests on, when that is known. `began` is when it began, epoch nanoseconds.
    pub(crate) fn basis(self, began: u64) -> Option<ScanBasis> {
        let settled = self.newest.saturating_add(SETTLED_NS) < began;
        (settled && !self.opaque && !self.asked.is_empty()).then_some(ScanBasis(self.asked))
    }
}

impl ScanBasis {
    /// Whether every question would be answered the same. If not, the trace of the next scan,
    /// which has the walks that were made so far.
    pub(crate) fn holds<'a>(&self, store: impl Fn(&str) -> Option<&'a Store>) -> Result<(), Trace> {
        let mut trace = Trace::default();
        for (question, answer) in &self.0 {
            let same = match (question, store(question.store())) {
                (_, None) => false,
                (Question::Walk { under, depth, suffixes, .. }, Some(store)) => {
                    let Ok(report) = store.walk(under, *depth, suffixes) else { return Err(trace) };
                    let walked = Walked::from(report);
                    let same = *answer == Answer::Walk(walked.digest);
                    trace.walked.push((question.clone(), walked));
                    same
                }
                (_, Some(store)) => *answer == Answer::Looks(looks(question, store)),
            };
            if !same {
                return Err(trace);
            }
        }
        Ok(())
    }
}

impl Question {
    /// Name of the store that is asked about.
    pub(crate) fn store(&self) -> &str {
        match self {
            Self::Walk { store, .. } | Self::File { store, .. } | Self::Database { store, .. } => store,
        }
    }
}

fn looks(question: &Question, store: &Store) -> Vec<Option<(u64, u64, u64)>> {
    match question {
        Question::Walk { .. } => Vec::new(),
        Question::File { path, .. } => vec![store.look(path)],
        Question::Database { path, .. } => BESIDE.iter().map(|suffix| store.look(&[path, *suffix].concat())).collect(),
    }
}

fn digest(report: &WalkReport) -> [u8; 32] {
    let mut bytes = Vec::with_capacity(report.files.len() * 128);
    for file in &report.files {
        bytes.extend_from_slice(file.path.as_bytes());
        bytes.push(0);
        for number in [file.bytes, file.modified_ns, file.inode] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
    }
    for (path, reason) in &report.failures {
        bytes.extend_from_slice(format!("{path}\0{reason}\0").as_bytes());
    }
    Sha256::digest(&bytes).into()
}
