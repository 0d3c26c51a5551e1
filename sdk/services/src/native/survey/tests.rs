//! The survey against a plain line splitter, with blocks of any size.
#![allow(clippy::unwrap_used, reason = "a test stops where a value is missing")]

use super::{Deadline, OpenFile, ServiceError, survey_in_blocks};
use proptest::prelude::*;
use sepia_ir::{FoundLine, SurveyQuery, SurveyReport};
use std::time::Instant;

fn query(needles: &[&[u8]]) -> SurveyQuery {
    let needles = needles.iter().map(|needle| needle.to_vec()).collect();
    SurveyQuery { needles, head: 0, tail: 0, max_line: 1 << 20, max_lines: 1000 }
}

fn survey(bytes: &[u8], query: &SurveyQuery, block: usize) -> Result<SurveyReport, ServiceError> {
    let file = OpenFile::holding(bytes).unwrap();
    survey_in_blocks(&file, query, Deadline::default(), block, &mut Vec::new())
}

/// What the contract says, the slow way.
fn plainly(bytes: &[u8], query: &SurveyQuery) -> (Vec<FoundLine>, bool) {
    let mut lines = Vec::new();
    let mut offset = 0;
    for line in bytes.split(|byte| *byte == b'\n') {
        let at = |needle: &Vec<u8>| line.windows(needle.len()).position(|part| part == needle.as_slice());
        let first = (0..).zip(&query.needles).filter_map(|(number, needle)| Some((at(needle)?, number))).min();
        if let Some((_, needle)) = first {
            let text = line[..line.len().min(query.max_line as usize)].to_vec();
            lines.push(FoundLine { offset, bytes: line.len() as u64, needle, text });
        }
        offset += line.len() as u64 + 1;
    }
    let max = query.max_lines as usize;
    let truncated = lines.len() > max;
    lines.truncate(max);
    (lines, truncated)
}

fn ends(bytes: &[u8], query: &SurveyQuery) -> (Vec<u8>, Vec<u8>) {
    let head = bytes.len().min(query.head as usize);
    let tail = bytes.len().saturating_sub(query.tail as usize);
    (bytes[..head].to_vec(), bytes[tail..].to_vec())
}

/// Few letters, so that needles occur, overlap and repeat.
fn letters(range: std::ops::Range<usize>) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop::sample::select(b"aab\n".to_vec()), range)
}

proptest! {
    #[test]
    fn it_says_what_a_plain_line_splitter_says(
        bytes in letters(0..400),
        needles in prop::collection::vec(letters(1..6), 0..5),
        block in 1usize..64,
        (head, tail) in (0u32..80, 0u32..80),
        (max_line, max_lines) in (0u32..12, 0u32..40),
    ) {
        let query = SurveyQuery { needles, head, tail, max_line, max_lines };
        let report = survey(&bytes, &query, block).unwrap();
        let (lines, truncated) = plainly(&bytes, &query);
        prop_assert_eq!(report.lines, lines);
        prop_assert_eq!(report.truncated, truncated);
        prop_assert_eq!((report.head, report.tail), ends(&bytes, &query));
        prop_assert_eq!(report.file.bytes, bytes.len() as u64);
    }

    #[test]
    fn any_bytes_are_surveyed(bytes in prop::collection::vec(any::<u8>(), 0..300), needle in prop::collection::vec(any::<u8>(), 1..3)) {
        let query = query(&[&needle]);
        prop_assert_eq!(survey(&bytes, &query, 7).unwrap().lines, plainly(&bytes, &query).0);
    }
}

#[test]
fn a_line_is_returned_once_with_the_needle_that_stands_first_in_it() {
    let bytes = b"no\n{\"type\":\"title\",\"x\":\"summary\"}\nsummary title\nlast title";
    let report = survey(bytes, &query(&[b"title", b"summary"]), 1 << 17).unwrap();
    let found: Vec<_> = report.lines.iter().map(|line| (line.offset, line.bytes, line.needle)).collect();
    assert_eq!(found, [(3, 30, 0), (34, 13, 1), (48, 10, 0)]);
    assert_eq!(report.lines[2].text, b"last title");
    assert!(!report.truncated);
}

#[test]
fn a_needle_over_the_border_of_blocks_is_found_for_every_border() {
    let bytes = b"aaaa\nxxNEEDLExx\nbbbb\n";
    for block in 1..bytes.len() {
        let report = survey(bytes, &query(&[b"NEEDLE"]), block).unwrap();
        let found: Vec<_> = report.lines.iter().map(|line| (line.offset, line.text.as_slice())).collect();
        assert_eq!(found, [(5, &b"xxNEEDLExx"[..])], "blocks of {block}");
    }
}

#[test]
fn a_line_longer_than_many_blocks_is_cut_and_measured() {
    let mut bytes = vec![b'x'; 3_000_000];
    bytes[2_900_000..2_900_006].copy_from_slice(b"needle");
    bytes.extend_from_slice(b"\nshort\n");
    let report = survey(&bytes, &SurveyQuery { max_line: 100, ..query(&[b"needle"]) }, 1 << 16).unwrap();
    assert_eq!(report.lines, [FoundLine { offset: 0, bytes: 3_000_000, needle: 0, text: vec![b'x'; 100] }]);
}

#[test]
fn bounds_are_errors_that_name_them() {
    let failure = |query: SurveyQuery| survey(b"x", &query, 64).unwrap_err();
    assert!(matches!(failure(query(&[b""])), ServiceError::Query(_)));
    assert!(matches!(failure(query(&[&b"x"[..]; 17])), ServiceError::Query(why) if why.contains("16")));
    assert!(matches!(failure(SurveyQuery { head: (8 << 20) + 1, ..query(&[]) }), ServiceError::Query(_)));
    assert!(matches!(failure(SurveyQuery { tail: u32::MAX, ..query(&[]) }), ServiceError::Query(_)));
}

#[test]
fn an_empty_file_and_no_needles_are_no_error() {
    let report = survey(b"", &SurveyQuery { head: 10, tail: 10, ..query(&[b"x"]) }, 64).unwrap();
    assert_eq!((report.head.len(), report.tail.len(), report.lines.len()), (0, 0, 0));
    let report = survey(b"a\nb\n", &query(&[]), 64).unwrap();
    assert_eq!((report.lines.len(), report.truncated), (0, false));
}

#[test]
fn it_stops_when_the_time_is_over() {
    let file = OpenFile::holding(b"a\n").unwrap();
    let over = Deadline::at(Instant::now());
    let result = survey_in_blocks(&file, &query(&[]), over, 64, &mut Vec::new());
    assert!(matches!(result, Err(ServiceError::Time(path)) if path == "test"));
}
