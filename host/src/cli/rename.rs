//! `sepia rename`

use super::args::RenameArgs;
use super::exit::Failure;
use super::setup;

pub(super) async fn run(args: RenameArgs) -> Result<(), Failure> {
    let plane = setup::plane()?;
    let session = plane.resolve(&args.session.id, args.session.agent.as_deref()).await?;
    plane.rename(&session.id, session.agent.as_deref(), &args.title).await?;
    Ok(())
}
