//! What the plane has for wires that are built on it, and `sepia serve` does not use: prompts that
//! wait for the turn before them, ids of commands, and a clock that somebody holds.

use sepia::environment::Environment;
use sepia::home::Home;
use sepia::limits::Limits;
use sepia::plane::{Clock, CreateRequest, ErrorKind, FactPage, Plane, PlaneConfig, PromptPart, PromptRequest};
use sepia::registry::{Setup, Sources};
use sepia_scripted_agent::Script;
use sepia_scripted_agent::steps::{echo, text, wait_for_cancel, wait_for_file};
use sepia_tests::Stage;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// A clock that moves by a second whenever somebody looks.
#[derive(Debug)]
struct Held(AtomicI64);

const BEGIN: i64 = 1_900_000_000_000;

impl Clock for Held {
    fn now_ms(&self) -> i64 {
        self.0.fetch_add(1_000, Ordering::Relaxed)
    }
}

fn plane(stage: &Stage) -> Arc<Plane> {
    let command = stage.machine.command(&[]);
    let variables = command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
    let environment: Environment = variables.collect();
    let text = |name: &str| environment.text(name);
    let home = Home::from_env(&text).unwrap();
    let (limits, config) = (Limits::from_env(&text), PlaneConfig::from_env(&text));
    let sources = Sources::from_env(&home, &|name: &str| environment.get(name));
    let setup = Setup {
        limits: limits.clone(),
        sources,
        embedded: sepia::embedded::COMPONENTS,
        env: environment.clone(),
        home: home.clone(),
    };
    let clock = Arc::new(Held(AtomicI64::new(BEGIN)));
    Arc::new(Plane::new(setup, home, config, limits).with_clock(clock).with_environment(environment))
}

async fn create(plane: &Arc<Plane>, stage: &Stage) -> String {
    let request = CreateRequest {
        cwd: stage.cwd(),
        agent: Some("claude".to_owned()),
        title: None,
        model: None,
        fallbacks: Vec::new(),
    };
    plane.create(request).await.unwrap().id
}

fn prompt(id: &str, text: &str, queue: bool) -> PromptRequest {
    let parts = vec![PromptPart::Text { text: text.to_owned() }];
    PromptRequest { id: id.to_owned(), agent: None, parts, queue, command: Some(format!("command {text}")) }
}

async fn facts(plane: &Plane, id: &str) -> FactPage {
    plane.facts(id, None, 0, 1_000).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn prompts_wait_for_the_turn_before_them_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let go_on = folder.path().join("go-on");
    let script = Script::new().on_prompt_with("first", [wait_for_file(&go_on), text("1")]).on_prompt([echo()]);
    let stage = Stage::new(script);
    let plane = plane(&stage);
    let id = create(&plane, &stage).await;
    let mut turns = vec![plane.begin_prompt(prompt(&id, "first", true)).await.unwrap()];
    for text in ["second", "third"] {
        turns.push(plane.begin_prompt(prompt(&id, text, true)).await.unwrap());
    }
    let refused = plane.prompt(prompt(&id, "fourth", false)).await.unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Busy);
    std::fs::write(&go_on, "").unwrap();
    for turn in turns {
        assert_eq!(turn.end().await.unwrap().stop_reason, "end_turn");
    }
    let facts = facts(&plane, &id).await.facts;
    let kinds: Vec<&str> = facts.iter().map(|fact| fact.kind.as_str()).collect();
    assert_eq!(kinds, ["inputMessage", "runStarted", "messageComplete", "runFinished"].repeat(3));
    let commands: Vec<&str> = facts.iter().step_by(4).filter_map(|fact| fact.command.as_deref()).collect();
    assert_eq!(commands, ["command first", "command second", "command third"]);
    // A turn is one command's from its first fact to its last.
    for turn in facts.chunks(4) {
        assert!(turn.iter().all(|fact| fact.turn == turn[0].turn && fact.command == turn[0].command), "{turn:?}");
    }
    assert!(facts.iter().all(|fact| fact.at >= BEGIN && fact.at % 1_000 == 0));
    assert!(facts.is_sorted_by(|a, b| a.at <= b.at && a.id < b.id));
    plane.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_goes_on_after_a_cancelled_turn_and_ends_with_the_session() {
    let script = Script::new().on_prompt_with("long", [text("1"), wait_for_cancel()]).on_prompt([echo()]);
    let stage = Stage::new(script);
    let plane = plane(&stage);
    let id = create(&plane, &stage).await;
    let long = plane.begin_prompt(prompt(&id, "long", false)).await.unwrap();
    let next = plane.begin_prompt(prompt(&id, "next", true)).await.unwrap();
    plane.cancel(&id, None).await.unwrap();
    assert_eq!(long.end().await.unwrap().stop_reason, "cancelled");
    assert_eq!(next.end().await.unwrap().stop_reason, "end_turn");

    let long = plane.begin_prompt(prompt(&id, "a long one", false)).await.unwrap();
    // Who is let go before a prompt reached it refuses it, without a turn.
    stage.record_with(|event| event.frame().is_some_and(|frame| frame["params"]["prompt"][0]["text"] == "a long one"));
    let never = plane.begin_prompt(prompt(&id, "never", true)).await.unwrap();
    plane.detach(&id, None).await.unwrap();
    assert!(long.end().await.is_err());
    assert!(never.end().await.is_err());
    let facts = facts(&plane, &id).await.facts;
    assert!(!facts.iter().any(|fact| fact.data.contains("never")), "{facts:?}");
    let count = |kind| facts.iter().filter(|fact| fact.kind == kind).count();
    assert_eq!((count("runStarted"), count("runFinished")), (3, 3));
    plane.shutdown().await;
}
