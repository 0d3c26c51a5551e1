//! What replaces secrets, and counts them.

use crate::counts::{Count, Summary};
use crate::detect::{self, Span};
use crate::kind::Kind;
use crate::placeholder::{self, Fingerprint, Hasher};
use crate::{json, session, structure};
use sepia_ir::{MessageNode, Session};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;

/// Takes secrets out of texts, out of JSON and out of sessions. One per export: equal secrets
/// get equal placeholders from the same redactor, and from no other.
pub struct Redactor {
    hasher: Hasher,
    structure_only: bool,
    /// The kind under which each secret was first seen, which its placeholders keep.
    seen: HashMap<Fingerprint, Kind>,
    counts: BTreeMap<Kind, Count>,
    /// What was counted in the JSON at hand, which may turn out to be none.
    journal: Vec<Counted>,
}

/// One secret as it was counted.
struct Counted {
    fingerprint: Fingerprint,
    kind: Kind,
    is_new: bool,
}

impl Redactor {
    /// One that takes out secrets, under a key of its own.
    pub fn new() -> Self {
        let mut salt = [0; 32];
        salt[..16].copy_from_slice(uuid::Uuid::new_v4().as_bytes());
        salt[16..].copy_from_slice(uuid::Uuid::new_v4().as_bytes());
        Self::with_salt(salt)
    }

    /// One whose placeholders are the same in every export under the same salt. Who has the
    /// salt can try out secrets against them: it is to be random, and kept to oneself.
    pub fn with_salt(salt: [u8; 32]) -> Self {
        Self {
            hasher: Hasher::new(salt),
            structure_only: false,
            seen: HashMap::new(),
            counts: BTreeMap::new(),
            journal: Vec::new(),
        }
    }

    /// One that takes out everything but the structure: roles, times, models, names of tools,
    /// outcomes, counts and lengths. Texts become `[text: 123 characters]`, ids become
    /// pseudonyms, so that what belonged together still does. Counts no secrets.
    pub fn structure_only() -> Self {
        Self { structure_only: true, ..Self::new() }
    }

    /// Whether nothing but the structure is let through.
    pub fn is_structure_only(&self) -> bool {
        self.structure_only
    }

    /// A text without its secrets; the text itself when there are none.
    pub fn text<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        if self.structure_only {
            return Cow::Owned(structure::text(text));
        }
        let spans = detect::spans(text);
        if spans.is_empty() {
            return Cow::Borrowed(text);
        }
        let replaced = self.replaced(text, &spans);
        self.journal.clear();
        Cow::Owned(replaced)
    }

    /// JSON text without its secrets: in strings at any depth, in keys, in JSON that is itself
    /// in strings. Valid JSON stays valid, and all bytes but those of changed strings stay as
    /// they are. Several values one after the other, as lines, are taken too; what is no JSON
    /// is treated as [`text`](Self::text).
    pub fn json<'t>(&mut self, json: &'t str) -> Cow<'t, str> {
        if self.structure_only {
            return Cow::Owned(structure::json(json));
        }
        let redacted = json::redact(self, json);
        self.journal.clear();
        redacted
    }

    /// The header of a session, in place, and the nodes that it may hold. Ids stay, and the
    /// signatures of reasoning, which are opaque.
    pub fn session(&mut self, session: &mut Session) {
        if self.structure_only { structure::session(self, session) } else { session::session(self, session) }
    }

    /// Messages, in place.
    pub fn nodes(&mut self, nodes: &mut [MessageNode]) {
        for node in nodes {
            if self.structure_only { structure::node(self, node) } else { session::node(self, node) }
        }
    }

    /// How many different secrets were found so far.
    pub fn count(&self) -> usize {
        self.seen.len()
    }

    /// What was found so far, by kind.
    pub fn summary(&self) -> Summary {
        Summary {
            secrets: self.seen.len(),
            places: self.counts.values().map(|count| count.places).sum(),
            by_kind: self.counts.iter().map(|(kind, count)| (*kind, *count)).collect(),
        }
    }

    pub(crate) fn hash(&self, text: &[u8]) -> Fingerprint {
        self.hasher.hash(text)
    }

    /// The placeholder of a secret, which it counts.
    pub(crate) fn replace(&mut self, out: &mut String, kind: Kind, secret: &[u8]) {
        let fingerprint = self.hasher.hash(secret);
        let mut is_new = false;
        let kind = *self.seen.entry(fingerprint).or_insert_with(|| {
            is_new = true;
            kind
        });
        let count = self.counts.entry(kind).or_default();
        count.secrets += usize::from(is_new);
        count.places += 1;
        self.journal.push(Counted { fingerprint, kind, is_new });
        placeholder::write(out, kind, fingerprint);
    }

    /// Where in the counting this is, for [`roll_back`](Self::roll_back).
    pub(crate) fn mark(&self) -> usize {
        self.journal.len()
    }

    /// Forgets what was counted since.
    pub(crate) fn roll_back(&mut self, mark: usize) {
        for Counted { fingerprint, kind, is_new } in self.journal.drain(mark..) {
            if is_new {
                self.seen.remove(&fingerprint);
            }
            if let Some(count) = self.counts.get_mut(&kind) {
                count.places -= 1;
                count.secrets -= usize::from(is_new);
                if count.places == 0 {
                    self.counts.remove(&kind);
                }
            }
        }
    }

    /// The text with placeholders for these.
    pub(crate) fn replaced(&mut self, text: &str, spans: &[Span]) -> String {
        let mut out = String::with_capacity(text.len() + 32);
        let mut copied = 0;
        for span in spans {
            out.push_str(&text[copied..span.start]);
            let secret = span.joined.as_deref().unwrap_or(&text.as_bytes()[span.start..span.end]);
            self.replace(&mut out, span.kind, secret);
            copied = span.end;
        }
        out.push_str(&text[copied..]);
        out
    }
}

impl Default for Redactor {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The key of the hashes is not for logs.
        out.debug_struct("Redactor").field("structure_only", &self.structure_only).finish_non_exhaustive()
    }
}
