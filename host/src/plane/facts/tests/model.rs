//! Any order of calls, on several instances, against what they mean.

use super::super::{Fact, Page, SessionKey};
use super::{fact, open, session};
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, prop_oneof};
use proptest::test_runner::{Config, TestRunner};
use std::collections::BTreeMap;

#[derive(Debug, Clone)]
enum Call {
    Append { count: u64 },
    Read { after: u64, limit: usize },
    ReadStore { after: u64, limit: usize },
    Raise,
    Forget,
    Reopen,
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        6 => (0..6_u64).prop_map(|count| Call::Append { count }),
        4 => (0..20_u64, 0..8_usize).prop_map(|(after, limit)| Call::Read { after, limit }),
        2 => (0..40_u64, 0..12_usize).prop_map(|(after, limit)| Call::ReadStore { after, limit }),
        1 => Just(Call::Raise),
        1 => Just(Call::Forget),
        1 => Just(Call::Reopen),
    ]
}

#[derive(Default)]
struct Session {
    facts: Vec<Fact>,
    last: u64,
    generation: u32,
}

/// What the log means, in memory.
#[derive(Default)]
struct Model {
    sessions: BTreeMap<SessionKey, Session>,
    position: u64,
}

impl Model {
    fn page(&self, key: &SessionKey, after: u64, limit: usize) -> Page {
        let Some(session) = self.sessions.get(key) else { return Page::default() };
        Page {
            facts: session.facts.iter().filter(|fact| fact.sequence > after).take(limit).cloned().collect(),
            last: session.last,
            first: session.facts.first().map_or(0, |fact| fact.sequence),
            generation: session.generation,
        }
    }

    fn store(&self, after: u64, limit: usize) -> Vec<(SessionKey, Fact)> {
        let mut all: Vec<_> = self
            .sessions
            .iter()
            .flat_map(|(key, session)| session.facts.iter().map(|fact| (key.clone(), fact.clone())))
            .filter(|(_, fact)| fact.position > after)
            .collect();
        all.sort_by_key(|(_, fact)| fact.position);
        all.truncate(limit);
        all
    }
}

#[test]
fn any_order_of_calls_does_what_they_mean() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let calls = vec((0..2_usize, 0..3_u8, call()), 1..40);
    let mut runner = TestRunner::new(Config { cases: 48, failure_persistence: None, ..Config::default() });
    runner
        .run(&calls, |calls| {
            runtime.block_on(run(calls));
            Ok(())
        })
        .unwrap();
}

async fn run(calls: Vec<(usize, u8, Call)>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.db");
    let mut logs = [open(&path), open(&path)];
    let mut model = Model::default();
    for (instance, name, call) in calls {
        let key = session(&name.to_string());
        let log = &mut logs[instance];
        match call {
            Call::Append { count } => {
                let new: Vec<_> = (0..count).map(|number| fact(number).in_turn("t").caused_by("c")).collect();
                let stored = log.append(&key, new.clone()).await.unwrap();
                if count == 0 {
                    assert!(stored.is_empty());
                    continue;
                }
                let session = model.sessions.entry(key).or_default();
                let mut expected = Vec::new();
                for new in new {
                    model.position += 1;
                    session.last += 1;
                    expected.push(Fact {
                        position: model.position,
                        sequence: session.last,
                        generation: session.generation,
                        id: new.id,
                        at: new.at,
                        kind: "kind".to_owned(),
                        turn: Some("t".to_owned()),
                        command: Some("c".to_owned()),
                        data: new.data,
                    });
                }
                assert_eq!(stored, expected);
                session.facts.extend(expected);
            }
            Call::Read { after, limit } => {
                assert_eq!(log.read(&key, after, limit).await.unwrap(), model.page(&key, after, limit));
            }
            Call::ReadStore { after, limit } => {
                assert_eq!(log.read_store(after, limit).await.unwrap(), model.store(after, limit));
            }
            Call::Raise => {
                let session = model.sessions.entry(key.clone()).or_default();
                session.generation += 1;
                assert_eq!(log.raise_generation(&key).await.unwrap(), session.generation);
            }
            Call::Forget => {
                log.forget(&key).await.unwrap();
                if let Some(session) = model.sessions.get_mut(&key) {
                    session.facts.clear();
                    session.generation += 1;
                }
            }
            Call::Reopen => {
                log.close().await.unwrap();
                *log = open(&path);
            }
        }
    }
    for log in &logs {
        assert_eq!(log.read_store(0, 1_000).await.unwrap(), model.store(0, 1_000));
    }
}
