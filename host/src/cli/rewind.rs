//! `sepia rewind`

use super::args::RewindArgs;
use super::exit::Failure;
use super::{output, setup};
use crate::plane::{Cut, RewindOptions};
use std::io::Write;

pub(super) async fn run(args: RewindArgs) -> Result<(), Failure> {
    let cut = match (args.turns, args.node, args.checkpoint) {
        (Some(turns), ..) => Cut::Turns(turns),
        (_, Some(node), _) => Cut::Node(node),
        (_, _, Some(checkpoint)) => Cut::Checkpoint(checkpoint),
        (None, None, None) => return Err(Failure::said("say where to cut: --turns, --node or --checkpoint")),
    };
    let plane = setup::plane()?;
    let session = plane.resolve(&args.session.id, args.session.agent.as_deref()).await?;
    let options = RewindOptions { dry_run: args.dry_run, force: args.force };
    let rewound = plane.rewind(&session.id, session.agent.as_deref(), &cut, options).await?;
    if args.json {
        return output::json(&rewound);
    }
    let verb = if rewound.dry_run { "would go" } else { "went" };
    let mut out = output::stdout();
    let told = writeln!(out, "{} messages {verb}, {} stay", rewound.removed, rewound.kept);
    let told = told.and_then(|()| match &rewound.trash {
        Some(entry) => writeln!(out, "what it was is in the trash as {entry}"),
        None => Ok(()),
    });
    told.and_then(|()| out.flush()).map_err(|e| Failure::output(&e))
}
