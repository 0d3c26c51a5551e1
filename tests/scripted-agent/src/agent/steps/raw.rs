//! Bytes that need be no frame.

use super::super::run::Run;
use super::super::stdout::write_all;
use crate::script::{Bytes, Raw, Repeated, Stderr};

/// Bytes that are written at once.
const WRITTEN_AT_ONCE: usize = 64 << 10;

pub(super) fn raw(run: &Run<'_>, step: &Raw) {
    match &step.raw {
        Bytes::Text(text) if step.fill => run.agent.send(run.known().fill_text(text).as_bytes()),
        Bytes::Text(text) => run.agent.send(text.as_bytes()),
        Bytes::List(bytes) => run.agent.send(bytes),
    }
}

pub(super) fn raw_repeat(run: &Run<'_>, step: &Repeated) {
    many_times(&step.text, step.times, |part| {
        run.agent.send(part);
        !run.call.bell.is_interrupted()
    });
}

pub(super) fn stderr(run: &Run<'_>, step: &Stderr) {
    many_times(&step.stderr, step.times.unwrap_or(1), |part| {
        // Where nobody reads stderr there is nobody to be told.
        write_all(rustix::stdio::stderr(), part).is_ok() && !run.call.bell.is_interrupted()
    });
}

/// Hands over the text so many times, several times at once, for as long as it is wanted.
fn many_times(text: &str, times: u64, mut take: impl FnMut(&[u8]) -> bool) {
    let at_once = (WRITTEN_AT_ONCE / text.len().max(1)).max(1);
    let at_once = usize::try_from(times).unwrap_or(usize::MAX).min(at_once);
    let block = text.repeat(at_once);
    let mut left = times;
    while left > 0 {
        let now = left.min(at_once as u64);
        let bytes = usize::try_from(now).unwrap_or(usize::MAX).saturating_mul(text.len());
        if !take(block.as_bytes().get(..bytes).unwrap_or_default()) {
            return;
        }
        left -= now;
    }
}

#[cfg(test)]
mod tests {
    use super::{WRITTEN_AT_ONCE, many_times};

    #[test]
    fn as_often_as_wanted_and_never_more_at_once_than_needed() {
        for (text, times) in [("xy", 0), ("", 5), ("xy", 1), ("abc", 100_000)] {
            let mut all = Vec::new();
            let mut most = 0;
            many_times(text, times, |part| {
                all.extend_from_slice(part);
                most = most.max(part.len());
                true
            });
            assert_eq!(all, text.repeat(usize::try_from(times).unwrap_or_default()).as_bytes());
            assert!(most <= WRITTEN_AT_ONCE, "{most}");
        }
    }

    #[test]
    fn no_more_than_is_taken() {
        let mut taken = 0;
        many_times("x", u64::MAX, |part| {
            taken += part.len();
            false
        });
        assert_eq!(taken, WRITTEN_AT_ONCE);
    }
}
