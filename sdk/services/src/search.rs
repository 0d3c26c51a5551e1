//! Searching the nodes of a session: which of their texts count, what is shown of a match.
//! Written once, for drivers and for the host, so that all sessions are searched alike.
//!
//! Where a query matches is not decided here: who calls brings that along, natively or through the host.

mod snippet;
mod texts;

use sepia_ir::{MessageNode, SearchHit, SearchPart, SearchQuery, Session, TextSpan};
use texts::Passage;

/// Matches of one text that are asked for: what fits into a snippet, and hardly more.
const MATCHES: u32 = 32;

/// Tells for each text where the query matches, the first so many matches of each.
pub type Find<'a, E> = &'a dyn Fn(&[&str], u32) -> Result<Vec<Vec<TextSpan>>, E>;

/// One session being searched, text by text in the order of the store.
#[derive(Debug)]
pub struct SessionSearch<'a> {
    query: &'a SearchQuery,
    hits: Vec<SearchHit>,
    more: bool,
}

impl<'a> SessionSearch<'a> {
    /// Begins with the title of the session.
    pub fn begin<E>(session: &Session, query: &'a SearchQuery, find: Find<'_, E>) -> Result<Self, E> {
        let mut search = Self { query, hits: Vec::new(), more: false };
        if query.looks_at(SearchPart::Title) {
            search.look_at(vec![Passage::new(SearchPart::Title, session.title.as_str())], None, find)?;
        }
        Ok(search)
    }

    /// Looks at the texts of a node.
    pub fn node<E>(&mut self, node: &MessageNode, find: Find<'_, E>) -> Result<(), E> {
        let texts = texts::of(node, self.query);
        if self.more || texts.is_empty() { Ok(()) } else { self.look_at(texts, Some(node), find) }
    }

    /// Whether there is anything to be found in nodes still: not when there are as many hits as are
    /// wanted and one more, nor when only titles are looked at.
    pub fn wants_nodes(&self) -> bool {
        !self.more && self.query.parts != [SearchPart::Title]
    }

    /// The hits in the order of the store, and whether there are more.
    pub fn finish(mut self) -> (Vec<SearchHit>, bool) {
        self.hits.sort_by_key(|hit| hit.node_id);
        (self.hits, self.more)
    }

    fn look_at<E>(&mut self, texts: Vec<Passage<'_>>, node: Option<&MessageNode>, find: Find<'_, E>) -> Result<(), E> {
        let plain: Vec<&str> = texts.iter().map(|text| text.text.as_ref()).collect();
        let found = find(&plain, MATCHES)?;
        for (text, matches) in texts.iter().zip(&found) {
            let Some((snippet, matches)) = snippet::cut(&text.text, matches, self.query.context as usize) else {
                continue;
            };
            if self.hits.len() >= self.query.hits.max(1) as usize {
                self.more = true;
                return Ok(());
            }
            self.hits.push(SearchHit {
                part: text.part,
                node_id: node.map(|node| node.node_id),
                created_at: node.map_or(0.0, |node| node.created_at),
                tool_name: text.tool.map(str::to_owned),
                snippet,
                matches,
            });
        }
        Ok(())
    }
}
