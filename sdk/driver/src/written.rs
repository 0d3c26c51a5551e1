//! Whether what was written is what was to be written: every save is read back and compared.
//!
//! What is compared is what the agent's model will see and what pairs it: who speaks, the text, the
//! calls with their tools and arguments, and which call a result answers. Everything else a
//! driver may carry along or declare lost.

use crate::host::Host;
use crate::session_write::{Draft, SessionWrite};
use foldhash::quality::FixedState;
use sepia_ir::{Block, DriverError, ErrorCode, LossKind, MessageNode, Role, SaveOptions, SaveReport, Session};
use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, Hasher};

/// Nodes read back at once.
const BATCH: usize = 256;
/// Both sides are compared in one process, so that any will do.
const SEED: u64 = 0;

/// A draft whose session is read back once it is in its place.
pub struct Checked<D: SessionWrite> {
    host: Host,
    draft: D::Draft,
    dry_run: bool,
    sent: Vec<Sent>,
}

/// A node that was handed over.
struct Sent {
    node: i64,
    print: u64,
}

impl<D: SessionWrite> Checked<D> {
    /// Starts writing a session.
    pub fn begin(host: Host, header: Session, options: &SaveOptions) -> Result<Self, DriverError> {
        let draft = D::begin(&host, header, options)?;
        Ok(Self { host, draft, dry_run: options.dry_run, sent: Vec::new() })
    }

    /// The next nodes.
    pub fn append(&mut self, nodes: Vec<MessageNode>) -> Result<(), DriverError> {
        self.sent.extend(nodes.iter().map(|node| Sent { node: node.node_id, print: print(node) }));
        self.draft.append(nodes)
    }

    /// Puts the session in its place and reads it back. When that gives something else, it is
    /// taken back, and the error says where the first difference is.
    pub fn commit(mut self) -> Result<SaveReport, DriverError> {
        let report = self.draft.commit()?;
        if self.dry_run {
            return Ok(report);
        }
        if let Err(difference) = self.compare(&report) {
            let outcome = match self.draft.undo() {
                Ok(()) => "it was taken back".to_owned(),
                Err(e) => format!("taking it back failed too: {e}"),
            };
            let message = format!("what was written does not read back as it should, and {outcome}: {difference}");
            return Err(DriverError::new(ErrorCode::Store, message));
        }
        Ok(report)
    }

    fn compare(&self, report: &SaveReport) -> Result<(), DriverError> {
        let mut excused: HashMap<i64, LossKind> = HashMap::new();
        for loss in &report.losses {
            if let Some(node) = loss.node_id {
                // Of several losses of a node the greatest counts.
                let known = excused.entry(node).or_insert(loss.kind);
                if loss.kind == LossKind::Dropped {
                    *known = loss.kind;
                }
            }
        }
        let mut nodes = D::read_back(&self.host, report)?;
        let mut sent = self.sent.iter().peekable();
        loop {
            let batch = nodes.batch(BATCH)?;
            if batch.is_empty() {
                break;
            }
            for read in &batch {
                let found = print(read);
                loop {
                    let Some(wanted) = sent.peek() else {
                        if read.role == Role::System {
                            break;
                        }
                        return Err(differs(format!("node {} was not in it", read.node_id)));
                    };
                    if wanted.print == found {
                        sent.next();
                        break;
                    }
                    match excused.get(&wanted.node) {
                        Some(LossKind::Dropped) => {
                            sent.next();
                        }
                        Some(LossKind::Mapped) => {
                            sent.next();
                            break;
                        }
                        _ if read.role == Role::System => break,
                        _ => return Err(differs(format!("node {} became something else", wanted.node))),
                    }
                }
            }
        }
        match sent.find(|left| excused.get(&left.node) != Some(&LossKind::Dropped)) {
            None => Ok(()),
            Some(left) => Err(differs(format!("node {} is missing", left.node))),
        }
    }
}

fn differs(what: String) -> DriverError {
    DriverError::new(ErrorCode::Store, what)
}

/// What of a node has to come back, as a number.
fn print(node: &MessageNode) -> u64 {
    let mut hasher = FixedState::with_seed(SEED).build_hasher();
    (node.role as u8).hash(&mut hasher);
    node.content.hash(&mut hasher);
    node.tool_call_id.hash(&mut hasher);
    for call in &node.tool_calls {
        call.id.hash(&mut hasher);
        call.name.hash(&mut hasher);
        compact(&call.arguments).hash(&mut hasher);
    }
    for block in &node.blocks {
        match block {
            Block::Text(_) => {}
            Block::Image(image) => image.data.hash(&mut hasher),
            Block::Audio(audio) => audio.data.hash(&mut hasher),
            Block::File(file) => (&file.data, &file.text).hash(&mut hasher),
        }
    }
    hasher.finish()
}

/// JSON text without the white space between its values.
fn compact(json: &str) -> Cow<'_, str> {
    let bytes = json.as_bytes();
    let mut out = String::new();
    let (mut from, mut at) = (0, 0);
    while let Some(byte) = bytes.get(at) {
        if byte.is_ascii_whitespace() {
            out.push_str(&json[from..at]);
            from = at + 1;
        } else if *byte == b'"' {
            at = end_of_string(bytes, at + 1);
        }
        at += 1;
    }
    if from == 0 {
        return Cow::Borrowed(json);
    }
    out.push_str(&json[from..]);
    Cow::Owned(out)
}

/// Where the string ends whose first byte is at `at`.
fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += found;
        if bytes[at] == b'"' {
            return at;
        }
        at += 2;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::{compact, print};
    use sepia_ir::{MessageNode, Role, ToolCall};

    #[test]
    fn white_space_between_values_does_not_count() {
        let same = [
            (r#"{"a":[1,"b \" c"]}"#, "{ \"a\" :\n[1,\t\"b \\\" c\" ]\r\n}"),
            (r#"" \\""#, r#"  " \\"  "#),
            ("{}", "{\u{c}}"),
            (r#""cut off \"#, r#""cut off \"#),
        ];
        for (compacted, spaced) in same {
            assert_eq!(compact(spaced), compacted);
            assert_eq!(compact(compacted), compacted);
        }
    }

    #[test]
    fn what_a_model_sees_counts_and_the_rest_does_not() {
        let called = |arguments: &str| MessageNode {
            tool_calls: vec![ToolCall::new("c", "run", arguments.into())],
            ..MessageNode::new(1, Role::Assistant, 1.0)
        };
        let wanted = print(&called(r#"{"a":"b c"}"#));
        assert_eq!(print(&called(r#"{ "a": "b c" }"#)), wanted);
        assert_eq!(print(&MessageNode { node_id: 7, created_at: 2.0, ..called(r#"{"a":"b c"}"#) }), wanted);
        assert_ne!(print(&called(r#"{"a":"bc"}"#)), wanted);
        assert_ne!(print(&MessageNode { content: "x".into(), ..called(r#"{"a":"b c"}"#) }), wanted);
        assert_ne!(print(&MessageNode { tool_calls: vec![], ..called("") }), wanted);
    }
}
