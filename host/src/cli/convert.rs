//! `sepia convert`

use super::args::ConvertArgs;
use super::exit::Failure;
use super::{output, saved, setup};
use crate::wire::serve::Converted;

pub(super) async fn run(args: ConvertArgs) -> Result<(), Failure> {
    let plane = setup::plane()?;
    let session = plane.resolve(&args.session.id, args.session.agent.as_deref()).await?;
    let done = plane.convert(&session.id, session.agent.as_deref(), &args.to.destination()).await?;
    if args.to.json { output::json(&Converted::from(done)) } else { saved::tell(&done) }
}
