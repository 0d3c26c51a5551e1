//! `sepia convert`

use super::args::ConvertArgs;
use super::exit::Failure;
use super::{output, saved, setup};
use crate::plane::{ErrorKind, Plane};
use crate::wire::serve::Converted;

pub(super) async fn run(args: ConvertArgs) -> Result<(), Failure> {
    let plane = setup::plane()?;
    let (given, agent, to) = (args.session.id.as_str(), args.session.agent.as_deref(), args.to.destination());
    // Looking which ids begin with a whole one would take a scan of a store.
    let taken_whole = if Plane::may_be_whole(given) { Some(plane.convert(given, agent, &to).await) } else { None };
    let done = match taken_whole {
        Some(Err(error)) if error.kind == ErrorKind::NotFound => None,
        tried => tried.transpose()?,
    };
    let done = if let Some(done) = done {
        done
    } else {
        let session = plane.resolve(given, agent).await?;
        plane.convert(&session.id, session.agent.as_deref(), &to).await?
    };
    if args.to.json { output::json(&Converted::from(done)) } else { saved::tell(&done) }
}
