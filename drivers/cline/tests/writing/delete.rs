//! All that belongs to a session goes, and nothing else, and comes back as it was.

use crate::stand::{Stand, WRITE, by_id, foreign};
use sepia_driver_cline::Cline;
use sepia_ir::{Artifact, ErrorCode, SessionRef};
use sepia_sdk::SessionWrite;
use std::collections::BTreeSet;

fn places(artifacts: &[Artifact]) -> BTreeSet<String> {
    artifacts.iter().map(|artifact| artifact.place.clone()).collect()
}

/// Deletes a session, looks at what is left, and brings it back.
fn there_and_back(stand: &Stand, session: &SessionRef, wanted: &[&str]) {
    let (files, rows) = (stand.listing(), stand.rows());
    let plan = Cline::plan_delete(&stand.host(), session).unwrap();
    assert_eq!(places(&plan), wanted.iter().map(|place| (*place).to_owned()).collect());
    assert_eq!((stand.listing(), stand.rows()), (files.clone(), rows.clone()), "a plan changes nothing");
    let trash = stand.trash();
    let outcome = Cline::delete(&stand.host_with(trash.clone()), session).unwrap();
    assert_eq!((places(&outcome.removed), outcome.failed.len()), (places(&plan), 0));
    assert_eq!(Cline::delete(&stand.host(), session).unwrap_err().code, ErrorCode::NotFound);
    assert!(stand.try_read(&session.id).is_err());
    let gone: BTreeSet<String> = stand.listing().into_keys().collect();
    assert!(wanted.iter().all(|place| !gone.contains(*place)));
    assert_eq!(
        files.keys().filter(|file| !gone.contains(*file)).count(),
        wanted.iter().filter(|place| !place.contains(':')).count()
    );
    stand.holds_the_laws();
    for item in trash.items().iter().rev() {
        trash.put_back(item).unwrap();
    }
    Cline::undelete(&stand.host(), &outcome.undo).unwrap();
    assert_eq!(stand.listing(), files);
    assert_eq!(stand.rows(), rows);
    stand.holds_the_laws();
}

#[test]
fn a_session_goes_with_its_row() {
    let id = "1796033899098_ixt7m";
    there_and_back(
        &Stand::sample("store"),
        &by_id(id),
        &[&format!("sessions/{id}/{id}.json"), &format!("sessions/{id}/{id}.messages.json"), &format!("sessions:{id}")],
    );
}

#[test]
fn a_session_goes_with_its_sub_agents() {
    let (id, agent) = ("1796033877642_gjr43", "agent_1796033878295_t9nnmi");
    there_and_back(
        &Stand::sample("store"),
        &by_id(id),
        &[
            &format!("sessions/{id}/{id}.json"),
            &format!("sessions/{id}/{id}.messages.json"),
            &format!("sessions/{id}/{agent}.messages.json"),
            &format!("sessions:{id}"),
            &format!("sessions:{id}__{agent}"),
        ],
    );
}

#[test]
fn a_sub_agent_goes_alone() {
    let (id, agent) = ("1796033881650_kvapw", "scout__aIFHpe");
    let session = by_id(&format!("{id}__teamtask__{agent}"));
    there_and_back(
        &Stand::sample("store"),
        &session,
        &[&format!("sessions/{id}/{agent}.messages.json"), &format!("sessions:{id}__teamtask__{agent}")],
    );
}

#[test]
fn what_waits_to_become_a_sub_agent_goes_and_runs_of_schedules_forget_it() {
    let stand = Stand::sample("store");
    let id = "1796033899098_ixt7m";
    stand
        .database()
        .execute_batch(&format!(
            "INSERT INTO subagent_spawn_queue (root_session_id, parent_agent_id, task, created_at) VALUES ('{id}', 'lead', 'x', 't'), ('other', 'lead', 'y', 't');
             INSERT INTO schedules (schedule_id, name, cron_pattern, prompt, provider, model, created_at, updated_at) VALUES ('s', 'n', 'c', 'p', 'p', 'm', 't', 't');
             INSERT INTO schedule_executions (execution_id, schedule_id, session_id, triggered_at, status) VALUES ('e', 's', '{id}', 't', 'x');"
        ))
        .unwrap();
    let state = |stand: &Stand| {
        let count = |sql: &str| stand.database().query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
        (
            count("SELECT count(*) FROM subagent_spawn_queue"),
            count("SELECT count(*) FROM schedule_executions WHERE session_id IS NOT NULL"),
        )
    };
    assert_eq!(state(&stand), (2, 1));
    let trash = stand.trash();
    let outcome = Cline::delete(&stand.host_with(trash.clone()), &by_id(id)).unwrap();
    assert_eq!(state(&stand), (1, 0));
    trash.items().iter().for_each(|item| trash.put_back(item).unwrap());
    Cline::undelete(&stand.host(), &outcome.undo).unwrap();
    assert_eq!(state(&stand), (2, 1));
}

#[test]
fn a_saved_session_goes_without_a_trace() {
    let stand = Stand::new();
    let id = stand.save(&foreign(), &WRITE).unwrap().id;
    let outcome = Cline::delete(&stand.host(), &by_id(&id)).unwrap();
    assert_eq!((outcome.removed.len(), outcome.failed.len()), (2, 0));
    assert_eq!((stand.ids(), stand.files(&id)), (vec![], vec![]));
}

#[test]
fn an_undo_that_is_none_is_refused() {
    let stand = Stand::sample("store");
    let rows = stand.rows();
    for undo in [
        "x",
        "{}",
        r#"{"version":1,"rows":{"rows":[{"table":"schedules","columns":[["name",{"text":"x"}]]}],"runs":[]},"entries":[]}"#,
        r#"{"version":1,"rows":{"rows":[{"table":"sessions","columns":[["session_id) VALUES (1); --",{"text":"x"}]]}],"runs":[]},"entries":[]}"#,
        r#"{"version":1,"rows":{"rows":[],"runs":[]},"entries":[{"store":"cline","list":"../x","id":"1","json":"{\"id\":\"1\"}","offset":0,"cut":null,"without":0}]}"#,
    ] {
        assert!(Cline::undelete(&stand.host(), undo.as_bytes()).is_err(), "{undo}");
    }
    assert_eq!(stand.rows(), rows);
}

impl Stand {
    /// Files of the sessions, with their bytes.
    pub fn listing(&self) -> std::collections::BTreeMap<String, Vec<u8>> {
        let mut found = std::collections::BTreeMap::new();
        for folder in std::fs::read_dir(self.data().join("sessions")).into_iter().flatten() {
            let folder = folder.unwrap().path();
            for file in std::fs::read_dir(&folder).into_iter().flatten() {
                let file = file.unwrap().path();
                let name = file.strip_prefix(self.data()).unwrap().to_str().unwrap().to_owned();
                found.insert(name, std::fs::read(&file).unwrap());
            }
        }
        found
    }
}
