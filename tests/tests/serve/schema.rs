//! The machine-readable contract: it is the one checked in, and answers keep it.

use sepia_tests::Machine;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

fn schema() -> Value {
    Machine::empty().run(&["schema"]).json()
}

#[test]
fn the_one_checked_in_is_not_stale() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/schema/serve.json");
    let printed = Machine::empty().run(&["schema"]).ok();
    let kept = fs::read_to_string(file).unwrap();
    assert!(kept == printed, "host/schema/serve.json is stale: run `cargo xtask schema` and look at the difference");
}

#[test]
fn it_describes_every_method_and_every_notification() {
    let schema = schema();
    let methods = Machine::empty().serve().get("manifest", &json!({}))["methods"].clone();
    for method in methods.as_array().unwrap() {
        let described = &schema["methods"][method.as_str().unwrap()];
        assert!(described["params"].is_object() && described["result"].is_object(), "{method}");
    }
    assert_eq!(schema["methods"].as_object().unwrap().len(), methods.as_array().unwrap().len());
    for notification in ["session.event", "node.event"] {
        assert!(schema["notifications"][notification]["params"].is_object());
    }
}

#[test]
fn answers_keep_it() {
    let schema = schema();
    let keeps = |method: &str, answer: &Value| {
        let mut of_method = schema["methods"][method]["result"].clone();
        if let Value::Object(members) = &mut of_method {
            members.insert("$defs".into(), schema["$defs"].clone());
        }
        let validator = jsonschema::draft202012::new(&of_method).unwrap();
        let wrong: Vec<_> = validator.iter_errors(answer).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(wrong.is_empty(), "{method}: {wrong:#?}");
    };
    let machine = Machine::with_samples();
    let mut client = machine.serve();
    for method in ["manifest", "agents.list"] {
        keeps(method, &client.get(method, &json!({})));
    }
    let rows = client.get("sessions.list", &json!({"withLocks": true, "withStats": true}));
    keeps("sessions.list", &rows);
    for row in rows.as_array().unwrap() {
        let params = json!({"id": row["id"]});
        for method in ["sessions.get", "sessions.summary", "sessions.export", "sessions.history"] {
            keeps(method, &client.get(method, &params));
        }
    }
    keeps("sessions.search", &client.get("sessions.search", &json!({"query": "e"})));
    keeps(
        "sessions.patch_meta",
        &client.get("sessions.patch_meta", &json!({"id": rows[0]["id"], "patch": {"pinned": true}})),
    );
    let project = client.get("projects.create", &json!({"name": "One"}));
    keeps("projects.create", &project);
    keeps("projects.rename", &client.get("projects.rename", &json!({"id": project["id"], "name": "Two"})));
    keeps("projects.list", &client.get("projects.list", &json!({})));
    keeps("projects.delete", &client.get("projects.delete", &json!({"id": project["id"]})));
    keeps("shutdown", &client.get("shutdown", &json!({})));
}
