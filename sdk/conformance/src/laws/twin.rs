//! Laws of two forms of one driver: whatever is asked, both answer the same.

use super::{Facts, Listed, Verdict, Verdicts, laws, must, same};
use crate::failure::Failure;
use crate::subject::Subject;
use sepia_ir::{Branch, HistoryPage, HistoryQuery, MessageNode, Session, SummaryDetail};

pub(crate) fn listing(twin: &dyn Subject, listed: &Listed, subject: &dyn Subject) -> Verdicts {
    laws![twins_list_the_same(twin, listed), twins_see_the_same_locks(subject, twin)]
}

pub(crate) fn session(
    subject: &dyn Subject,
    twin: &dyn Subject,
    facts: &Facts<'_>,
    header: &Session,
    nodes: &[MessageNode],
) -> Verdicts {
    laws![
        twins_read_the_same(twin, facts, header, nodes),
        twins_summarise_the_same(subject, twin, facts),
        twins_page_the_same(subject, twin, facts),
        twins_copy_the_same(subject, twin, facts),
    ]
}

fn told<T>(outcome: Result<T, Failure>) -> Result<T, String> {
    outcome.map_err(|e| e.to_string())
}

fn twins_list_the_same(twin: &dyn Subject, listed: &Listed) -> Verdict {
    same("the scans of the two forms", &listed.scan, &told(twin.scan())?)?;
    for (detail, expected) in [(SummaryDetail::Row, &listed.rows), (SummaryDetail::Stats, &listed.stats)] {
        same("the rows of the two forms", expected, &told(twin.summaries(&listed.keys, detail))?)?;
    }
    Ok(())
}

fn twins_see_the_same_locks(subject: &dyn Subject, twin: &dyn Subject) -> Verdict {
    same("the locks of the two forms", &told(subject.locks())?, &told(twin.locks())?)
}

fn twins_read_the_same(twin: &dyn Subject, facts: &Facts<'_>, header: &Session, nodes: &[MessageNode]) -> Verdict {
    let (other_header, other_nodes) = told(twin.open(&facts.session, 256))?.into_nodes();
    same("the headers of the two forms", header, &other_header)?;
    same("the nodes of the two forms", &nodes, &other_nodes)
}

fn twins_summarise_the_same(subject: &dyn Subject, twin: &dyn Subject, facts: &Facts<'_>) -> Verdict {
    let (one, other) = (told(subject.summary_of(&facts.session))?, told(twin.summary_of(&facts.session))?);
    same("the summaries of the two forms", &one, &other)
}

fn twins_page_the_same(subject: &dyn Subject, twin: &dyn Subject, facts: &Facts<'_>) -> Verdict {
    // The index is the driver's own matter, and a form without one is as good.
    let bare = |page: HistoryPage| HistoryPage { index: None, ..page };
    for branch in [Branch::Live, Branch::All] {
        for (limit, before) in [(1, None), (50, None), (50, Some(7)), (50, Some(0)), (u32::MAX, None)] {
            let query = HistoryQuery { limit, before, branch, index: None };
            let one = bare(told(subject.history(&facts.session, &query))?);
            let other = bare(told(twin.history(&facts.session, &query))?);
            same("the pages of the two forms", &one, &other)?;
        }
    }
    Ok(())
}

fn twins_copy_the_same(subject: &dyn Subject, twin: &dyn Subject, facts: &Facts<'_>) -> Verdict {
    match (subject.native(&facts.session), twin.native(&facts.session)) {
        (Ok(one), Ok(other)) => must(one == other, || "the native copies of the two forms differ".to_owned()),
        (Err(one), Err(other)) => must(one.code == other.code, || format!("one form says {one}, the other {other}")),
        (Ok(_), Err(e)) | (Err(e), Ok(_)) => Err(format!("one form copies, the other says {e}")),
    }
}
