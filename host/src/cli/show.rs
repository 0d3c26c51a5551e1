//! `sepia show`

use super::args::ShowArgs;
use super::exit::Failure;
use super::pager::Pager;
use super::transcript::{self, Style};
use super::{output, setup};
use crate::plane::{HistoryRequest, Plane, Resolved};
use sepia_ir::Branch;

/// Messages that are in memory at once while a long session is shown.
const PAGE: u32 = 200;

pub(super) async fn run(args: ShowArgs) -> Result<(), Failure> {
    let plane = setup::plane()?;
    let session = plane.resolve(&args.session.id, args.session.agent.as_deref()).await?;
    if args.json {
        let page = plane.history(&request(&args, &session, args.limit.unwrap_or(u32::MAX), None)).await?;
        return output::json(&page);
    }
    let summary = plane.summary(&session.id, session.agent.as_deref()).await?;
    // The newest page comes first: it tells how many there are.
    let newest = plane.history(&request(&args, &session, args.limit.unwrap_or(PAGE).clamp(1, PAGE), None)).await?;
    let first = args.limit.map_or(0, |limit| newest.total.saturating_sub(limit.into()));
    let style = Style { colours: output::colours(), full: args.full };

    let mut pager = Pager::start(!args.no_pager && output::is_terminal());
    let written = async {
        transcript::header(&mut pager, &summary, newest.total, style)?;
        let mut at = first;
        while at < newest.start {
            let end = (at + u64::from(PAGE)).min(newest.start);
            let limit = u32::try_from(end - at).unwrap_or(PAGE);
            let page = history(&plane, &args, &session, limit, end).await?;
            transcript::messages(&mut pager, &page.messages, style)?;
            at = end;
        }
        transcript::messages(&mut pager, &newest.messages, style)?;
        Ok(())
    };
    let written = written.await;
    pager.finish()?;
    written
}

async fn history(
    plane: &Plane,
    args: &ShowArgs,
    session: &Resolved,
    limit: u32,
    before: u64,
) -> Result<crate::plane::HistoryPage, Failure> {
    Ok(plane.history(&request(args, session, limit, Some(before))).await?)
}

fn request(args: &ShowArgs, session: &Resolved, limit: u32, before: Option<u64>) -> HistoryRequest {
    HistoryRequest {
        id: session.id.clone(),
        agent: session.agent.clone(),
        limit: Some(limit),
        before,
        branch: if args.all { Branch::All } else { Branch::Live },
    }
}
