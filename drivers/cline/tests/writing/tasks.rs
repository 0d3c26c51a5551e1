//! Tasks of the older layout: renamed and taken away, and never written.

use crate::stand::{REPLACE, Stand, by_id, foreign};
use sepia_driver_cline::Cline;
use sepia_ir::{ErrorCode, RewindPlan, Session};
use sepia_sdk::SessionWrite;
use std::fs;

const LIST: &str = "[\n  {\"id\": \"1700000000001\", \"ts\": 1700000000001, \"task\": \"One\", \"odd\": [1,  2]},\n  {\"id\":\"1700000000002\",\"ts\":1700000000002,\"task\":\"Two\"},\n  {\"id\": \"1700000000003\", \"ts\": 1700000000003, \"task\": \"Three\"}\n]\n";

fn stand() -> Stand {
    let stand = Stand::new();
    for id in ["1700000000001", "1700000000002", "1700000000003"] {
        let folder = stand.extension().join("tasks").join(id);
        fs::create_dir_all(&folder).unwrap();
        fs::write(
            folder.join("api_conversation_history.json"),
            r#"[{"role":"user","content":"<task>\nDo it\n</task>"}]"#,
        )
        .unwrap();
        fs::write(folder.join("task_metadata.json"), "{}").unwrap();
    }
    fs::create_dir_all(stand.extension().join("state")).unwrap();
    fs::write(stand.list(), LIST).unwrap();
    stand
}

impl Stand {
    fn list(&self) -> std::path::PathBuf {
        self.extension().join("state/taskHistory.json")
    }
}

#[test]
fn a_task_gets_its_title_in_the_list() {
    let stand = stand();
    Cline::rename(&stand.host(), &by_id("1700000000002"), "New \"title\"").unwrap();
    assert_eq!(stand.read("1700000000002").title, "New \"title\"");
    let wanted = LIST.replace("\"Two\"", "\"New \\\"title\\\"\"");
    assert_eq!(fs::read_to_string(stand.list()).unwrap(), wanted);
}

#[test]
fn a_task_goes_with_its_entry_and_comes_back_to_the_byte() {
    for id in ["1700000000001", "1700000000002", "1700000000003"] {
        let stand = stand();
        let folder = format!("tasks/{id}");
        let plan = Cline::plan_delete(&stand.host(), &by_id(id)).unwrap();
        let places: Vec<String> = plan.iter().map(|artifact| artifact.place.clone()).collect();
        assert_eq!(
            places,
            [
                format!("{folder}/api_conversation_history.json"),
                format!("{folder}/task_metadata.json"),
                format!("state/taskHistory.json:{id}"),
            ]
        );
        let trash = stand.trash();
        let outcome = Cline::delete(&stand.host_with(trash.clone()), &by_id(id)).unwrap();
        assert_eq!((outcome.removed.len(), outcome.failed.len()), (3, 0));
        assert_eq!(Cline::delete(&stand.host(), &by_id(id)).unwrap_err().code, ErrorCode::NotFound);
        assert_eq!(stand.ids().len(), 2);
        let left: serde_json::Value = serde_json::from_slice(&fs::read(stand.list()).unwrap()).unwrap();
        assert_eq!(left.as_array().unwrap().len(), 2);
        for item in trash.items().iter().filter(|item| item.taken) {
            trash.put_back(item).unwrap();
        }
        Cline::undelete(&stand.host(), &outcome.undo).unwrap();
        assert_eq!(fs::read_to_string(stand.list()).unwrap(), LIST);
        assert_eq!(stand.ids().len(), 3);
    }
}

#[test]
fn an_entry_comes_back_into_a_list_that_changed() {
    let stand = stand();
    let trash = stand.trash();
    let outcome = Cline::delete(&stand.host_with(trash.clone()), &by_id("1700000000002")).unwrap();
    fs::write(stand.list(), "[]").unwrap();
    for _ in 0..2 {
        Cline::undelete(&stand.host(), &outcome.undo).unwrap();
        let list: serde_json::Value = serde_json::from_slice(&fs::read(stand.list()).unwrap()).unwrap();
        assert_eq!(list, serde_json::json!([{"id": "1700000000002", "ts": 1_700_000_000_002u64, "task": "Two"}]));
    }
}

#[test]
fn a_task_is_neither_replaced_nor_cut_back() {
    let stand = stand();
    let id = "1700000000001";
    let session = Session { id: id.into(), ..foreign() };
    assert_eq!(stand.save(&session, &REPLACE).unwrap_err().code, ErrorCode::Unsupported);
    let plan = RewindPlan { kept: vec![], removed: vec![1], removed_tool_call_ids: Vec::new() };
    assert_eq!(Cline::rewind(&stand.host(), &by_id(id), &plan, session).unwrap_err().code, ErrorCode::Unsupported);
}
