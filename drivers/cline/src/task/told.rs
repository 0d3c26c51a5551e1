//! What the messages shown to the person tell of those that went to the model: when, and for
//! how many tokens.
//!
//! Each entry names the position of the latest message to or from the model. Requests and answers
//! take turns, so of a request the answer is the next odd position. Older entries name none:
//! then the requests are counted.

use super::shown::Shown;
use crate::elements::{Elements, End};
use crate::index::Tokens;
use crate::pieces::Place;
use crate::text::Text;
use crate::time;
use sepia_ir::{CheckpointRef, DriverError, Warning};
use sepia_sdk::Host;
use sepia_sdk::json::{Number, members};
use std::collections::BTreeMap;

members! {
    /// The text of `api_req_started`.
    Request {
        tokens_in: Number = "tokensIn",
        tokens_out: Number = "tokensOut",
        cache_writes: Number = "cacheWrites",
        cache_reads: Number = "cacheReads",
        cost: Number = "cost",
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// Epoch seconds by the position of the message.
    pub(crate) times: BTreeMap<u32, f64>,
    pub(crate) tokens: BTreeMap<u32, Tokens>,
    pub(crate) checkpoints: Vec<CheckpointRef>,
    pub(crate) warnings: Vec<Warning>,
}

/// A position that no task reaches.
const MOST: f64 = 1e6;

/// Reads what was shown.
pub(crate) fn read(host: &Host, place: Place) -> Result<Told, DriverError> {
    let path = place.path.clone();
    let mut told = Told::default();
    let mut elements = Elements::new(host, place);
    let (mut requests, mut last) = (0u32, None);
    let mut repaired = false;
    while let Some(element) = elements.next()? {
        let text = Text::of(element.bytes.unwrap_or_default());
        repaired |= text.repairs.any();
        let Ok(shown) = text.parse::<Shown<'_>>() else { continue };
        let Some(at) = time::of(shown.ts) else { continue };
        last = Some(at);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
        let index = shown.api_index.0.filter(|index| (-1.0..MOST).contains(index)).map(|index| (index + 1.0) as u32);
        let request = shown.say.is("api_req_started");
        // The position of a message, from 0, that this is shown after.
        let position = match index {
            Some(next) => next.saturating_sub(1),
            None if request => requests * 2,
            None => (requests * 2).saturating_sub(1),
        };
        told.times.entry(position).or_insert(at);
        if request {
            let answer = index.map_or(requests * 2 + 1, |next| next | 1);
            requests = requests.saturating_add(1);
            told.request(answer, shown.text.get().unwrap_or_default());
        }
        if let Some(hash) = shown.checkpoint.filled() {
            told.checkpoints.push(CheckpointRef {
                ref_: hash.to_owned(),
                created_at: time::milliseconds(at),
                run_count: None,
                kind: Some("shadow-git".to_owned()),
            });
        }
    }
    let (code, what, place) = match elements.end()? {
        End::Whole if repaired => ("not-utf-8", "holds bytes that are no text", None),
        End::Whole => return Ok(told.filled(last)),
        End::Torn { offset, bytes } => ("torn-record", "ends before its last entry does", Some((offset, bytes))),
        End::Trailing { offset, bytes } => ("trailing-bytes", "goes on behind its end", Some((offset, bytes))),
        End::NoList => ("no-messages", "holds no list of entries", None),
    };
    let mut warning = Warning::new(code, format!("`{path}` {what}; what can be read of it was used")).in_file(path);
    warning.offset = place.map(|(offset, _)| offset);
    warning.bytes = place.map(|(_, bytes)| bytes);
    told.warnings.push(warning);
    Ok(told.filled(last))
}

impl Told {
    fn request(&mut self, answer: u32, text: &str) {
        let Ok(request) = sepia_sdk::json::parse::<Request<'_>>(text) else { return };
        let count = |number: Number| number.0.filter(|number| number.is_finite() && *number >= 0.0);
        let (input, output) = (count(request.tokens_in), count(request.tokens_out));
        if input.or(output).is_none() {
            return;
        }
        // A request that was made again counts with the answer that came at last.
        let sum = |known: Option<f64>, more: Option<f64>| match (known, more) {
            (Some(known), Some(more)) => Some(known + more),
            (known, more) => known.or(more),
        };
        let (known_input, known_output, read, written, cost) = self.tokens.get(&answer).copied().unwrap_or_default();
        let tokens = (
            known_input + input.unwrap_or_default(),
            known_output + output.unwrap_or_default(),
            sum(read, count(request.cache_reads)),
            sum(written, count(request.cache_writes)),
            sum(cost, count(request.cost)),
        );
        self.tokens.insert(answer, tokens);
    }

    /// Gives each position up to the last a time: that of the next one that has one.
    fn filled(mut self, last: Option<f64>) -> Self {
        let Some(last) = last else { return self };
        let mut next = last;
        let highest = self.times.last_key_value().map_or(0, |(position, _)| *position);
        for position in (0..=highest.saturating_add(1)).rev() {
            next = *self.times.entry(position).or_insert(next);
        }
        self
    }
}
