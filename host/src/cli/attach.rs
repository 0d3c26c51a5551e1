//! `sepia attach`

use super::args::AttachArgs;
use super::exit::Failure;
use super::prompt::{answering, attach, end, ended};
use super::setup;
use super::signals::Stop;
use super::talk::{Conversation, TurnOutcome};
use crate::plane::{Plane, PromptPart};
use std::sync::Arc;

pub(super) async fn run(args: AttachArgs, mut stop: Stop) -> Result<(), Failure> {
    let plane = Arc::new(setup::plane()?);
    let done = talk(&plane, &args, &mut stop).await;
    end(&plane, &mut stop).await;
    done
}

async fn talk(plane: &Arc<Plane>, args: &AttachArgs, stop: &mut Stop) -> Result<(), Failure> {
    let opened = async {
        let session = plane.resolve(&args.session.id, args.session.agent.as_deref()).await?;
        attach(plane, session.id, session.agent, &args.live).await
    };
    let (id, agent) = tokio::select! {
        opened = opened => opened?,
        signal = stop.told() => return Err(Failure::Signal(signal.as_raw_value())),
    };
    let shown = crate::text::clean_line(&id, 80);
    let mut conversation = Conversation::new(Arc::clone(plane), id, agent, answering(args.permission), false).await?;
    conversation.line(&format!("session {shown} is live; type a prompt and Enter, Ctrl-D lets it go"))?;
    loop {
        let typed = tokio::select! {
            typed = conversation.typed() => typed?,
            signal = stop.told() => return Err(Failure::Signal(signal.as_raw_value())),
        };
        let Some(text) = typed else { return Ok(()) };
        if text.trim().is_empty() {
            continue;
        }
        match conversation.turn(vec![PromptPart::Text { text }], stop).await {
            Ok(TurnOutcome::Ended(end)) => {
                if let Err(Failure::Said(message)) = ended(&end) {
                    conversation.line(&message)?;
                }
            }
            Ok(TurnOutcome::Interrupted(number)) => return Err(Failure::Signal(number)),
            // The next prompt starts the agent again.
            Err(Failure::Plane(error)) => {
                let message = crate::text::clean_text(&error.message, 2 << 10);
                conversation.line(&format!("the turn failed: {message}"))?;
            }
            Err(failure) => return Err(failure),
        }
    }
}
