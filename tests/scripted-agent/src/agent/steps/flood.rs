//! Many chunks: made by hand, since making each as a value would cost more than writing it.

use super::super::run::Run;
use crate::script::{FloodKind, FloodOf, flood_text};
use serde_json::Value;
use std::time::{Duration, Instant};

/// Bytes that are written at once.
const WRITTEN_AT_ONCE: usize = 64 << 10;
/// Time between two writes of a flood whose rate is limited.
const TICK: Duration = Duration::from_millis(1);

pub(super) fn flood(run: &Run<'_>, flood: &FloodOf) {
    let kind = match flood.kind {
        FloodKind::Text => "agent_message_chunk",
        FloodKind::Thought => "agent_thought_chunk",
    };
    let session_id = Value::from(run.call.session_id.clone());
    let message_id = flood.message_id.as_ref().map_or_else(String::new, |id| {
        let id = Value::from(id.as_str());
        format!(r#""messageId":{id},"#)
    });
    let before = format!(
        r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":{session_id},"update":{{"sessionUpdate":"{kind}",{message_id}"content":{{"type":"text","text":""#
    );
    let start = Instant::now();
    let mut frames = Vec::with_capacity(WRITTEN_AT_ONCE * 2);
    let mut texts = Vec::new();
    let mut sent = 0;
    while sent < flood.count {
        let due = flood.per_second.map_or(flood.count, |rate| due(start.elapsed(), rate).min(flood.count));
        while sent < due && frames.len() < WRITTEN_AT_ONCE {
            sent += 1;
            frames.extend_from_slice(before.as_bytes());
            let text_at = frames.len();
            flood_text(sent, flood.bytes, &mut frames);
            texts.extend_from_slice(frames.get(text_at..).unwrap_or_default());
            frames.extend_from_slice(b"\"}}}}\n");
        }
        if let Some(session) = &run.call.session
            && !texts.is_empty()
        {
            let text = String::from_utf8_lossy(&texts);
            session.add(|turn| turn.add_text(kind, flood.message_id.as_deref(), &text));
        }
        run.agent.send(&frames);
        frames.clear();
        texts.clear();
        if sent == due && sent < flood.count {
            run.call.bell.pause(TICK);
        }
        if run.call.bell.is_interrupted() {
            return;
        }
    }
}

/// How many chunks are to be out after this time.
fn due(elapsed: Duration, rate: u32) -> u64 {
    let due = elapsed.as_nanos() * u128::from(rate) / Duration::from_secs(1).as_nanos();
    u64::try_from(due).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::due;
    use std::time::Duration;

    #[test]
    fn a_rate_is_a_number_of_chunks_in_a_second() {
        assert_eq!(due(Duration::ZERO, 10_000), 0);
        assert_eq!(due(Duration::from_millis(250), 10_000), 2500);
        assert_eq!(due(Duration::from_secs(u64::MAX), u32::MAX), u64::MAX);
    }
}
