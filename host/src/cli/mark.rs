//! `sepia pin`, `sepia archive`, and back.

use super::args::SessionArgs;
use super::exit::Failure;
use super::{output, setup};
use crate::plane::MetaPatch;
use crate::text::clean_line;

/// What is said of a session.
#[derive(Debug, Clone, Copy)]
pub(super) enum Mark {
    Pinned(bool),
    Archived(bool),
}

pub(super) async fn run(args: SessionArgs, mark: Mark) -> Result<(), Failure> {
    let plane = setup::plane()?;
    let session = plane.resolve(&args.id, args.agent.as_deref()).await?;
    let (patch, said) = match mark {
        Mark::Pinned(pinned) => {
            let said = if pinned { "is pinned" } else { "is not pinned any more" };
            (MetaPatch { pinned: Some(pinned), ..MetaPatch::default() }, said)
        }
        Mark::Archived(archived) => {
            let said =
                if archived { "is archived; `sepia list --archived` shows it" } else { "is not archived any more" };
            (MetaPatch { archived: Some(archived), ..MetaPatch::default() }, said)
        }
    };
    let agent = plane.patch_meta(&session.id, session.agent.as_deref(), patch).await?;
    output::line(&format!("{} ({agent}) {said}", clean_line(&session.id, 512)))
}
