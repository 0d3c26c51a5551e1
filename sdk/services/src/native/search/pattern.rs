//! A query made ready: where it matches, and what a file must hold for it to match in there.

use super::super::error::ServiceError;
use super::atoms::{self, Group};
use super::forms::Finder;
use memchr::memmem;
use regex::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use sepia_ir::{MOST_QUERY, SearchQuery, TextSpan};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes that a compiled expression may take: much more than anybody types, little enough
/// that `\w{1000}{1000}` is refused at once.
const MOST_COMPILED: usize = 4 << 20;
/// Levels of groups in an expression.
const MOST_NESTED: u32 = 64;
/// Prepared queries that are kept: each is asked again and again while it runs.
const KEPT: usize = 8;

/// A query made ready.
#[derive(Debug)]
pub struct Pattern {
    matcher: Matcher,
    /// What a match has in it: of each group one of its atoms. The first is the most telling.
    groups: Vec<Group<Finder>>,
}

#[derive(Debug)]
enum Matcher {
    Literal(Box<memmem::Finder<'static>>),
    Expression(Regex),
}

/// What of a query makes a pattern.
type Key = (String, bool, bool);

static PREPARED: Mutex<Vec<(Key, Arc<Pattern>)>> = Mutex::new(Vec::new());

impl Pattern {
    /// Makes a query ready, or finds it ready. Fails when it is empty, too long, or no
    /// expression that can be searched for in bounded memory.
    pub fn of(query: &SearchQuery) -> Result<Arc<Self>, ServiceError> {
        let key = (query.text.clone(), query.regex, query.ignore_case);
        let known =
            |kept: &[(Key, Arc<Self>)]| kept.iter().find(|(known, _)| *known == key).map(|(_, p)| Arc::clone(p));
        if let Some(known) = known(&PREPARED.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(known);
        }
        let made = Arc::new(Self::new(query)?);
        let mut kept = PREPARED.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT {
            kept.remove(0);
        }
        kept.push((key, Arc::clone(&made)));
        Ok(made)
    }

    fn new(query: &SearchQuery) -> Result<Self, ServiceError> {
        let text = query.text.as_str();
        if text.is_empty() {
            return Err(ServiceError::Query("the query is empty; say what to look for".into()));
        }
        if text.len() > MOST_QUERY {
            let length = text.len();
            return Err(ServiceError::Query(format!(
                "the query has {length} bytes and may have {MOST_QUERY}; shorten it"
            )));
        }
        let escaped;
        let expression = if query.regex {
            text
        } else {
            escaped = regex_syntax::escape(text);
            &escaped
        };
        let mut parser = ParserBuilder::new();
        parser.case_insensitive(query.ignore_case).multi_line(true).nest_limit(MOST_NESTED);
        let parsed = parser.build().parse(expression).map_err(|e| wrong(&e.to_string()))?;
        let matcher = if query.regex || query.ignore_case {
            let mut builder = RegexBuilder::new(expression);
            builder.case_insensitive(query.ignore_case).multi_line(true).nest_limit(MOST_NESTED);
            builder.size_limit(MOST_COMPILED).dfa_size_limit(MOST_COMPILED);
            Matcher::Expression(builder.build().map_err(|e| wrong(&e.to_string()))?)
        } else {
            Matcher::Literal(Box::new(memmem::Finder::new(text.as_bytes()).into_owned()))
        };
        let finders = |group: &Group<atoms::Atom>| group.iter().map(Finder::new).collect::<Option<Group<_>>>();
        let groups = atoms::of(&parsed).iter().filter_map(finders).collect();
        Ok(Self { matcher, groups })
    }

    /// The first so many matches in a text; empty ones don't count.
    pub fn find(&self, text: &str, max: u32) -> Vec<TextSpan> {
        let span = |start: usize, end: usize| {
            Some(TextSpan { start: u32::try_from(start).ok()?, end: u32::try_from(end).ok()? })
        };
        let max = max as usize;
        match &self.matcher {
            Matcher::Literal(finder) => {
                let length = finder.needle().len();
                finder.find_iter(text.as_bytes()).map_while(|at| span(at, at + length)).take(max).collect()
            }
            Matcher::Expression(regex) => {
                let matches = regex.find_iter(text).filter(|found| !found.is_empty());
                matches.map_while(|found| span(found.start(), found.end())).take(max).collect()
            }
        }
    }

    /// What a file, or the parts of it that make a text up together, must hold.
    pub(super) fn groups(&self) -> &[Group<Finder>] {
        &self.groups
    }
}

/// The parser draws its errors over several lines; the last one says what is wrong.
fn wrong(said: &str) -> ServiceError {
    let said = said.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("it can't be parsed");
    let said = said.strip_prefix("error: ").unwrap_or(said);
    ServiceError::Query(format!("the query is no regular expression that can be searched for: {said}"))
}
