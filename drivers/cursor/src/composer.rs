//! A composer of the IDE: its header, its document, and which bubbles are its conversation.

use crate::blobs::{Blobs, bytes_of};
use crate::bubbles::{self, BubbleFeed, ListFeed};
use crate::conversation::Conversation;
use crate::ide::{GLOBAL, Header, Ide};
use crate::json::{Object, decoded};
use crate::prompt::one_line;
use crate::proto::ConversationStateStructure;
use crate::record::{About, BACKEND, Context, Reader, Record, Times};
use crate::step::{Part, within};
use crate::workspaces::Workspaces;
use crate::{chat, key::Kind, time};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use prost::Message;
use sepia_ir::{DriverError, Session, SqlValue, Warning};
use std::rc::Rc;

/// Bubbles at an end of the conversation in which a time or a model is looked for.
const EDGE: usize = 16;

/// Where the messages are.
enum Messages {
    /// Bubbles by their id.
    Kept(Rc<Vec<String>>),
    /// Bubbles inside the document, as the oldest versions wrote them.
    Inside(Rc<Vec<String>>),
    /// The model's view, when no bubble is left.
    Model(Rc<Conversation>, Blobs),
}

impl Messages {
    fn is_empty(&self) -> bool {
        match self {
            Self::Kept(ids) | Self::Inside(ids) => ids.is_empty(),
            Self::Model(conversation, _) => conversation.messages.is_empty(),
        }
    }
}

/// What a composer is read from, parsed once.
struct Told<'a> {
    header: Object<'a>,
    document: Object<'a>,
}

impl Told<'_> {
    fn filled(&self, name: &str) -> Option<String> {
        self.header.filled(name).or_else(|| self.document.filled(name))
    }

    fn newest(&self, name: &str) -> Option<f64> {
        let of = |object: &Object<'_>| object.number(name).and_then(time::of_number);
        match (of(&self.header), of(&self.document)) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        }
    }

    fn object(&self, name: &str) -> Option<Object<'_>> {
        self.header.object(name).or_else(|| self.document.object(name))
    }
}

/// The session of a composer; none when it is gone, or a draft.
pub(crate) fn record(ide: &Ide, id: &str, workspaces: &Workspaces) -> Result<Option<Record>, DriverError> {
    let mut warnings = Vec::new();
    let kept = ide.header(id)?;
    let found = kept.is_some();
    let Header { value: header, archived, subagent, updated_ms } = kept.unwrap_or_default();
    let document = match ide.document(id)? {
        Some(Ok(document)) => document,
        Some(Err(warning)) => {
            warnings.push(warning);
            String::new()
        }
        None if !found => return Ok(None),
        None => String::new(),
    };
    let told = Told {
        header: Object::parse(&header).unwrap_or_default(),
        document: Object::parse(&document).unwrap_or_default(),
    };
    let state = state(&told.document);
    let messages = messages(ide, id, &told.document, state.as_ref(), &mut warnings)?;
    if messages.is_empty() || told.header.flag("isDraft") {
        return Ok(None);
    }
    let mut about = About {
        space: Kind::Composer.space(),
        archived: archived || told.header.flag("isArchived") || told.document.flag("isArchived"),
        subagent: subagent || told.object("subagentInfo").is_some(),
        status: told.filled("status").filter(|status| status != "none"),
        warnings,
        ..About::default()
    };
    let mut session = Session::new(id, BACKEND);
    session.agent_mode = told.filled("unifiedMode").unwrap_or_else(|| "agent".to_owned());
    if let Some(parent) =
        told.object("subagentInfo").and_then(|info| chat::parent_of(&info)).filter(|parent| parent != id)
    {
        session.parent_session_id = Some(parent);
        session.agent_id = Some(id.to_owned());
    }
    let identifier = told.object("workspaceIdentifier");
    about.workspace_id =
        identifier.as_ref().and_then(|identifier| identifier.filled("id")).or_else(|| told.filled("workspaceId"));
    let folder = identifier.as_ref().and_then(Ide::folder_of);
    session.working_directory = match folder {
        Some(folder) => folder,
        None => workspaces.folder(about.workspace_id.as_deref(), id)?.unwrap_or_default(),
    };
    if about.workspace_id.as_deref() == Some("empty-window") {
        // The agent takes what is begun in a window without a folder for a draft.
        about.draft = true;
        session.hidden = 1;
    }
    let edges = Edges::look(ide, id, &messages)?;
    session.model = told
        .document
        .object("modelConfig")
        .and_then(|config| config.filled("modelName"))
        .filter(|model| model != "default")
        .or(edges.model)
        .unwrap_or_default();
    let file_time = time::of_file(ide.modified_ns);
    let active = told.newest("lastUpdatedAt").or(edges.last).or_else(|| told.newest("createdAt"));
    let times = Times {
        created: told.newest("createdAt").or(edges.first),
        // The list promises that nothing is newer than the dates in its columns.
        active: active.map(|active| time::of_number(updated_ms).map_or(active, |bound| active.min(bound))),
    };
    times.fill(&mut session, &mut about, file_time);
    let titles =
        [(told.filled("name"), "generated"), (told.filled("subtitle"), "subtitle"), (edges.prompt, "first-prompt")];
    let title = titles.into_iter().map(|(title, source)| (one_line(&title.unwrap_or_default()), source));
    (session.title, about.title_source) =
        title.into_iter().find(|(title, _)| !title.is_empty()).unwrap_or_else(|| (id.chars().take(8).collect(), "id"));
    if let (Some(used), Some(max)) =
        (told.document.number("contextTokensUsed"), told.document.number("contextTokenLimit"))
    {
        about.context = Some(Context { used, max });
    }
    about.model_messages = state.map(|state| state.message_ids.len()).filter(|count| *count > 0);
    Ok(Some(Record {
        session,
        about,
        reader: reader(ide, id, messages),
        file: None,
        typed: None,
        more: None,
        kept: None,
    }))
}

fn reader(ide: &Ide, id: &str, messages: Messages) -> Reader {
    let shown = format!("composer {id} in `{GLOBAL}`");
    match messages {
        Messages::Kept(ids) => {
            let (database, id) = (Rc::clone(&ide.database), id.to_owned());
            Rc::new(move |range| {
                Ok(Box::new(BubbleFeed::over(&database, &id, within(&ids, &range).to_vec(), range.start)?))
            })
        }
        Messages::Inside(texts) => {
            Rc::new(move |range| Ok(Part::of(Box::new(ListFeed::new(Rc::clone(&texts), shown.clone())), &range)))
        }
        Messages::Model(conversation, blobs) => Rc::new(move |range| conversation.feed(&blobs, GLOBAL, &range)),
    }
}

/// The model's view of a composer: `~` and base64 of a root.
fn state(document: &Object<'_>) -> Option<ConversationStateStructure> {
    let text = document.text("conversationState")?;
    let base64 = text.strip_prefix('~')?;
    if base64.is_empty() {
        return None;
    }
    let bytes = STANDARD.decode(base64).or_else(|_| STANDARD_NO_PAD.decode(base64)).ok()?;
    ConversationStateStructure::decode(bytes.as_slice()).ok()
}

/// The conversation is what the document lists: other bubbles that are kept under the composer
/// were edited away or generated anew. Without a list, the forms of older versions, and last
/// whatever bubbles there are.
fn messages(
    ide: &Ide,
    id: &str,
    document: &Object<'_>,
    state: Option<&ConversationStateStructure>,
    warnings: &mut Vec<Warning>,
) -> Result<Messages, DriverError> {
    if let Some(list) = document.list("fullConversationHeadersOnly").filter(|list| !list.is_empty()) {
        let ids = list.into_iter().filter_map(|raw| Object::parse(raw)?.filled("bubbleId"));
        let ids: Vec<String> = ids.collect();
        let kept = if ide.has("cursorDiskKV") { BubbleCount::of(ide, id, &ids)? } else { BubbleCount::default() };
        let model = state.filter(|state| !state.message_ids.is_empty() && kept.found == 0);
        return Ok(match model {
            Some(state) => {
                let message = format!("no bubble of composer {id} is left in `{GLOBAL}`, so the model's view is shown");
                warnings.push(Warning::new("missing-bubbles", message).in_file(GLOBAL));
                let blobs = Blobs::of_ide(Rc::clone(&ide.database));
                Messages::Model(Rc::new(Conversation::read(state, &blobs, None)?), blobs)
            }
            None => Messages::Kept(Rc::new(ids)),
        });
    }
    if let Some(list) = document.list("conversation").filter(|list| !list.is_empty()) {
        return Ok(Messages::Inside(Rc::new(list.into_iter().map(str::to_owned).collect())));
    }
    Ok(Messages::Kept(Rc::new(ide.bubbles_kept(id)?)))
}

/// How many of the bubbles of a list are there; of a long list its ends tell.
#[derive(Default)]
struct BubbleCount {
    found: usize,
}

impl BubbleCount {
    fn of(ide: &Ide, composer: &str, ids: &[String]) -> Result<Self, DriverError> {
        let list = serde_json::to_string(ids).unwrap_or_else(|_| "[]".to_owned());
        let sql = "SELECT count(*) FROM (SELECT 1 FROM json_each(?) AS wanted JOIN cursorDiskKV AS b \
                   ON b.key = 'bubbleId:' || ? || ':' || wanted.value LIMIT 1)";
        let row = ide.rows(sql, &[SqlValue::Text(list), SqlValue::Text(composer.to_owned())])?.into_iter().next();
        let found = match row.and_then(|row| row.into_iter().next()) {
            Some(SqlValue::Integer(count)) => usize::try_from(count).unwrap_or_default(),
            _ => 0,
        };
        Ok(Self { found })
    }
}

/// What the first and the last bubbles tell.
#[derive(Default)]
struct Edges {
    prompt: Option<String>,
    first: Option<f64>,
    last: Option<f64>,
    model: Option<String>,
}

impl Edges {
    fn look(ide: &Ide, id: &str, messages: &Messages) -> Result<Self, DriverError> {
        let mut edges = Self::default();
        let texts: Vec<String> = match messages {
            Messages::Kept(ids) => {
                let middle = EDGE.min(ids.len())..ids.len().saturating_sub(EDGE).max(EDGE.min(ids.len()));
                let wanted: Vec<&String> = ids[..middle.start].iter().chain(&ids[middle.end..]).collect();
                let list = serde_json::to_string(&wanted).unwrap_or_else(|_| "[]".to_owned());
                // A bubble with a long result is not read for a row.
                let sql = "SELECT b.value FROM json_each(?) AS wanted LEFT JOIN cursorDiskKV AS b \
                           ON b.key = 'bubbleId:' || ? || ':' || wanted.value AND octet_length(b.value) <= 262144";
                let rows = ide.rows(sql, &[SqlValue::Text(list), SqlValue::Text(id.to_owned())])?;
                let bytes = rows.into_iter().filter_map(|row| row.into_iter().next()).map(bytes_of);
                bytes.map(|bytes| decoded(&bytes).0.into_owned()).collect()
            }
            Messages::Inside(texts) => texts.as_ref().clone(),
            Messages::Model(..) => Vec::new(),
        };
        for text in &texts {
            for step in bubbles::steps(text, "").unwrap_or_default() {
                edges.prompt = edges.prompt.or(step.prompt.filter(|prompt| !prompt.trim().is_empty()));
                edges.first = edges.first.or(step.at);
                edges.last = step.at.or(edges.last);
                edges.model = step.node.model.filter(|model| model != "default").or(edges.model);
            }
        }
        Ok(edges)
    }
}
