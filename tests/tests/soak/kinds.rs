//! What an agent does in a turn, by a word in its prompt, and what has to come of it.

use sepia_scripted_agent::script::flood_text;
use sepia_scripted_agent::steps::{
    echo, exit, failed_tool, flood, kill_self, open_tool, permission, stderr, text, text_in_chunks, thought, tool,
    wait_for_cancel,
};
use sepia_scripted_agent::{Script, Step};
use sepia_tests::random::Random;

/// Pieces of a large flood, and of a small one; bytes of each.
const LARGE: u64 = 200;
const SMALL: u64 = 20;
const BYTES: usize = 30;
/// What a session says whose client does not read: more than pipe and buffers hold.
pub(crate) const UNREAD: (u64, usize) = (20_000, 200);
/// The word for that.
pub(crate) const UNREAD_WORD: &str = "kind-unread";

/// What happens in a turn that nothing comes between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    Thoughtful,
    Flood,
    Tools,
    Ask,
    Exit,
    Die,
    Wait,
}

use Kind::{Ask, Die, Exit, Flood, Plain, Thoughtful, Tools, Wait};

/// Each with how often it is chosen.
const KINDS: [(Kind, u64); 8] =
    [(Plain, 30), (Thoughtful, 10), (Flood, 15), (Tools, 15), (Ask, 15), (Exit, 4), (Die, 4), (Wait, 7)];

/// How a turn ends that nothing comes between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// With `end_turn`, and everything was said.
    Whole,
    /// With an error, and everything was said.
    Gone,
    /// Not at all, until it is cancelled.
    Endless,
}

impl Kind {
    pub(crate) fn any(random: &mut Random) -> Self {
        let mut at = random.below(KINDS.iter().map(|(_, weight)| weight).sum());
        for (kind, weight) in KINDS {
            if at < weight {
                return kind;
            }
            at -= weight;
        }
        Plain
    }

    /// The word in the prompt.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Plain => "kind-plain",
            Thoughtful => "kind-thoughtful",
            Flood => "kind-flood",
            Tools => "kind-tools",
            Ask => "kind-ask",
            Exit => "kind-exit",
            Die => "kind-die",
            Wait => "kind-wait",
        }
    }

    fn steps(self) -> Vec<Step> {
        match self {
            Plain => vec![echo(), text(" Done.")],
            Thoughtful => vec![thought("Hm."), echo(), text_in_chunks(" I thought about it.", 4)],
            Flood => vec![echo(), flood(LARGE, BYTES)],
            Tools => vec![
                echo(),
                tool("a", "Read", "content"),
                failed_tool("b", "Write", "no such file"),
                open_tool("c", "Wait"),
                text("Tools ran."),
            ],
            Ask => {
                let ask = permission("p", "Write a file")
                    .options([("ok", "allow_once"), ("no", "reject_once")])
                    .when_selected("ok", [text("allowed")])
                    .when_selected("no", [text("refused")])
                    .when_cancelled([text("given up")]);
                vec![echo(), ask.step()]
            }
            Exit => vec![echo(), flood(SMALL, BYTES), stderr("bye\n"), exit(3)],
            Die => vec![echo(), flood(SMALL, BYTES), kill_self()],
            Wait => vec![echo(), flood(SMALL, BYTES), wait_for_cancel()],
        }
    }

    /// How it ends by itself.
    pub(crate) fn outcome(self) -> Outcome {
        match self {
            Exit | Die => Outcome::Gone,
            Wait => Outcome::Endless,
            _ => Outcome::Whole,
        }
    }

    /// Batches that are told in any case before it ends: the turn's beginning and the pieces.
    pub(crate) fn batches(self) -> u64 {
        match self {
            Plain | Tools => 2,
            Ask => 3,
            Thoughtful => 6,
            Flood => LARGE + 2,
            Exit | Die | Wait => SMALL + 2,
        }
    }

    /// The messages of the agent, when everything is said.
    pub(crate) fn messages(self, prompt: &str, choice: Choice) -> Vec<String> {
        let one = |rest: &str| vec![format!("{prompt}{rest}")];
        match self {
            Plain => one(" Done."),
            Thoughtful => one(" I thought about it."),
            Flood => one(&flooded(LARGE, BYTES)),
            Exit | Die | Wait => one(&flooded(SMALL, BYTES)),
            Tools => vec![prompt.to_owned(), "Tools ran.".to_owned()],
            Ask => vec![prompt.to_owned(), choice.said().to_owned()],
        }
    }

    /// What becomes of the calls of tools, when everything is done: id and status.
    pub(crate) fn calls(self) -> Vec<(&'static str, Option<&'static str>)> {
        match self {
            Tools => vec![("a", Some("completed")), ("b", Some("failed")), ("c", None)],
            Ask => vec![("p", None)],
            _ => Vec::new(),
        }
    }
}

/// What is answered to a request for permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    Allow,
    Reject,
    None,
}

impl Choice {
    pub(crate) fn any(random: &mut Random) -> Self {
        match random.below(3) {
            0 => Self::Allow,
            1 => Self::Reject,
            _ => Self::None,
        }
    }

    pub(crate) fn option(self) -> Option<&'static str> {
        match self {
            Self::Allow => Some("ok"),
            Self::Reject => Some("no"),
            Self::None => None,
        }
    }

    fn said(self) -> &'static str {
        match self {
            Self::Allow => "allowed",
            Self::Reject => "refused",
            Self::None => "given up",
        }
    }
}

/// All pieces of a flood.
pub(crate) fn flooded(pieces: u64, bytes: usize) -> String {
    let mut text = Vec::new();
    (1..=pieces).for_each(|number| flood_text(number, bytes, &mut text));
    String::from_utf8(text).unwrap()
}

/// The agent of all sessions.
pub(crate) fn script() -> Script {
    let (pieces, bytes) = UNREAD;
    let script = Script::new().on("session/load", []).on_prompt_with(UNREAD_WORD, [flood(pieces, bytes)]);
    KINDS.iter().fold(script, |script, (kind, _)| script.on_prompt_with(kind.word(), kind.steps()))
}
