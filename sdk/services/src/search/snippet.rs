//! What is shown of a match: the text around it, cut between characters.

use sepia_ir::{MOST_CONTEXT, MOST_SNIPPET, TextSpan};

/// The first of the matches with so many bytes of text on each side, and all that match within.
/// None when there is no match.
pub(super) fn cut(text: &str, matches: &[TextSpan], context: usize) -> Option<(String, Vec<TextSpan>)> {
    let first = bytes_of(*matches.first()?, text)?;
    let context = context.min(MOST_CONTEXT as usize);
    let start = text.ceil_char_boundary(first.start.saturating_sub(context));
    let most = text.floor_char_boundary(start.saturating_add(MOST_SNIPPET).min(text.len()));
    let end = text.floor_char_boundary(first.end.saturating_add(context).min(text.len())).clamp(start, most);
    let inside = |span: &TextSpan| {
        let span = bytes_of(*span, text)?;
        (span.start < end).then(|| TextSpan {
            start: u32::try_from(span.start - start).unwrap_or(u32::MAX),
            end: u32::try_from(span.end.min(end) - start).unwrap_or(u32::MAX),
        })
    };
    let matches: Vec<TextSpan> = matches.iter().filter_map(inside).collect();
    (!matches.is_empty()).then(|| (text[start..end].to_owned(), matches))
}

/// A span as positions, if it is one of the text.
fn bytes_of(span: TextSpan, text: &str) -> Option<std::ops::Range<usize>> {
    let range = span.start as usize..span.end as usize;
    (!range.is_empty() && text.get(range.clone()).is_some()).then_some(range)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::cut;
    use sepia_ir::{MOST_SNIPPET, TextSpan};

    fn spans(text: &str, word: &str) -> Vec<TextSpan> {
        let number = |at: usize| u32::try_from(at).unwrap();
        let span = |(at, _): (usize, &str)| TextSpan { start: number(at), end: number(at + word.len()) };
        text.match_indices(word).map(span).collect()
    }

    fn shown(text: &str, word: &str, context: usize) -> (String, Vec<String>) {
        let (snippet, matches) = cut(text, &spans(text, word), context).unwrap();
        let matches = matches.iter().map(|span| snippet[span.start as usize..span.end as usize].to_owned()).collect();
        (snippet, matches)
    }

    #[test]
    fn the_text_around_the_first_match_with_all_that_match_in_it() {
        assert_eq!(shown("one two three two four", "two", 4), ("one two thr".into(), vec!["two".into()]));
        assert_eq!(shown("one two three two four", "two", 99).1, ["two", "two"]);
        assert_eq!(shown("two", "two", 0), ("two".into(), vec!["two".into()]));
        assert_eq!(cut("one", &[], 9), None);
    }

    #[test]
    fn it_is_cut_between_characters() {
        let (snippet, matches) = shown("ääääwordßßßß", "word", 3);
        assert_eq!((snippet.as_str(), matches), ("äwordß", vec!["word".to_owned()]));
        assert_eq!(shown("😀word😀", "word", 3).0, "word");
    }

    #[test]
    fn what_is_long_is_cut_and_its_match_with_it() {
        let text = "é".repeat(10_000);
        let (snippet, matches) = shown(&text, &text, 80);
        assert!(snippet.len() <= MOST_SNIPPET && snippet.len() >= MOST_SNIPPET - 1);
        assert_eq!(matches, [snippet]);
    }

    #[test]
    fn spans_of_another_text_are_none() {
        for (start, end) in [(0, 1), (0, 99), (2, 2), (4, 2), (u32::MAX, u32::MAX)] {
            assert_eq!(cut("éé", &[TextSpan { start, end }], 9), None, "{start} {end}");
        }
    }
}
