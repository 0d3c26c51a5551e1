//! `sepia convert`

use super::args::ConvertArgs;
use super::exit::Failure;
use super::{output, saved, setup};
use crate::plane::{ErrorKind, Plane, PlaneError, Saved};
use crate::wire::serve::Converted;

pub(super) async fn run(args: ConvertArgs) -> Result<(), Failure> {
    let plane = setup::plane()?;
    let done = convert(&plane, &args).await?;
    if args.to.json { output::json(&Converted::from(done)) } else { saved::tell(&done) }
}

/// Copies the session that is meant. Looking which ids begin with a whole one would take a scan of a store, and is
/// done where no session has that id.
async fn convert(plane: &Plane, args: &ConvertArgs) -> Result<Saved, PlaneError> {
    let (given, agent, to) = (args.session.id.as_str(), args.session.agent.as_deref(), args.to.destination());
    if Plane::may_be_whole(given) {
        match plane.convert(given, agent, &to).await {
            Err(error) if error.kind == ErrorKind::NotFound => {}
            done => return done,
        }
    }
    let session = plane.resolve(given, agent).await?;
    plane.convert(&session.id, session.agent.as_deref(), &to).await
}
