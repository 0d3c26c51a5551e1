//! The handshake: who answers, with which settings, and what it can do.

use sepia_tests::Machine;
use serde_json::{Value, json};
use std::fs;

/// The methods that the wire document has and this build has not.
const LATER: [&str; 3] = ["config.list", "config.get", "config.import"];

const AVAILABLE: [&str; 32] = [
    "manifest",
    "agents.list",
    "sessions.list",
    "sessions.get",
    "sessions.summary",
    "sessions.export",
    "sessions.history",
    "sessions.attach",
    "sessions.detach",
    "sessions.create",
    "sessions.prompt",
    "sessions.cancel",
    "sessions.permission",
    "sessions.search",
    "sessions.import",
    "sessions.convert",
    "sessions.delete",
    "sessions.rename",
    "sessions.rewind",
    "sessions.restore",
    "trash.list",
    "trash.restore",
    "trash.empty",
    "sessions.patch_meta",
    "projects.list",
    "projects.create",
    "projects.rename",
    "projects.delete",
    "sessions.subscribe",
    "sessions.events",
    "events.subscribe",
    "shutdown",
];

fn manifest(machine: &Machine) -> Value {
    let mut client = machine.serve();
    let manifest = client.get("manifest", &json!({}));
    assert!(client.finish().status.success());
    manifest
}

#[test]
fn it_names_itself_its_wire_its_machine_its_settings_and_its_methods() {
    let manifest = manifest(&Machine::empty().with("SEPIA_NAME", "böx"));
    let keys: Vec<_> = manifest.as_object().unwrap().keys().cloned().collect();
    let mut expected = ["name", "version", "protocol", "node", "config", "methods"].map(String::from);
    expected.sort();
    assert_eq!(keys, expected);
    assert_eq!((&manifest["name"], &manifest["protocol"]), (&json!("sepia"), &json!(1)));
    assert_eq!(manifest["methods"], json!(AVAILABLE));
    assert_eq!(manifest["node"]["name"], "böx");
    let id = manifest["node"]["id"].as_str().unwrap();
    let digits = id.strip_prefix("node_").unwrap();
    assert!(digits.len() == 16 && digits.bytes().all(|b| b.is_ascii_hexdigit()), "{id}");
    let defaults = json!({"idleTtlMs": 600_000, "sweepMs": 30_000, "historyLimit": 500, "probeIdleMs": 60_000});
    assert_eq!(manifest["config"], defaults);
}

#[test]
fn its_settings_are_what_the_environment_made_of_them() {
    let config = |variables: &[(&str, &str)]| {
        let mut machine = Machine::empty();
        for (name, value) in variables {
            machine.set(name, value);
        }
        manifest(&machine)["config"].clone()
    };
    let set = config(&[
        ("SEPIA_IDLE_TTL_MS", "1234"),
        ("SEPIA_SWEEP_MS", "77"),
        ("SEPIA_HISTORY_LIMIT", "9"),
        ("SEPIA_PROBE_IDLE_MS", "4321"),
    ]);
    assert_eq!(set, json!({"idleTtlMs": 1234, "sweepMs": 77, "historyLimit": 9, "probeIdleMs": 4321}));
    // A time of zero is no sweep at all; ten lock times, and a minute at least.
    assert_eq!(config(&[("SEPIA_IDLE_TTL_MS", "0")])["idleTtlMs"], Value::Null);
    assert_eq!(config(&[("SEPIA_LOCK_TTL_MS", "9000")])["probeIdleMs"], 90_000);
    assert_eq!(config(&[("SEPIA_LOCK_TTL_MS", "1")])["probeIdleMs"], 60_000);
    let nonsense = config(&[("SEPIA_SWEEP_MS", "soon"), ("SEPIA_HISTORY_LIMIT", "-1"), ("SEPIA_IDLE_TTL_MS", "")]);
    assert_eq!(nonsense, config(&[]));
}

#[test]
fn a_machine_has_one_identity_for_all_processes() {
    let mut machine = Machine::empty();
    let first = manifest(&machine)["node"].clone();
    let file: Value = serde_json::from_slice(&fs::read(machine.sepia_home().join("node.json")).unwrap()).unwrap();
    assert_eq!(file["id"], first["id"]);
    // Its name is part of it, and stays.
    machine.set("SEPIA_NAME", "another");
    assert_eq!(manifest(&machine)["node"], first);
}

#[test]
fn a_damaged_identity_is_kept_aside_and_minted_anew() {
    let machine = Machine::empty();
    for damage in ["{\"id\":\"node_12", "", "[]", "{\"name\":\"x\"}", "{\"id\":\"\"}"] {
        fs::write(machine.sepia_home().join("node.json"), damage).unwrap();
        let node = manifest(&machine)["node"].clone();
        assert!(node["id"].as_str().unwrap().starts_with("node_"));
        assert_eq!(manifest(&machine)["node"], node);
        let kept = fs::read_dir(machine.sepia_home()).unwrap().map(|entry| entry.unwrap().path());
        let kept: Vec<_> = kept.filter(|path| path.to_string_lossy().contains("node.json.")).collect();
        assert_eq!(kept.len(), 1, "{kept:?}");
        assert_eq!(fs::read_to_string(&kept[0]).unwrap(), damage);
        fs::remove_file(&kept[0]).unwrap();
    }
}

#[test]
fn where_nothing_can_be_written_all_is_served_under_one_identity() {
    let mut machine = Machine::with_samples();
    let file = machine.write("a-file", "in the way");
    machine.set("SEPIA_HOME", &file);
    let mut client = machine.serve();
    let first = client.get("manifest", &json!({}));
    assert_eq!(client.get("manifest", &json!({}))["node"], first["node"]);
    assert_eq!(client.get("sessions.list", &json!({})).as_array().unwrap().len(), 13);
    let ended = client.finish();
    assert!(ended.status.success());
    assert!(ended.stderr.contains("node.json"), "{}", ended.stderr);
    assert_eq!(fs::read_to_string(file).unwrap(), "in the way");
}

#[test]
fn methods_of_later_are_told_from_methods_of_nobody() {
    let machine = Machine::empty();
    let mut client = machine.serve();
    for method in LATER {
        let (number, code, message) = client.refusal(method, &json!({}));
        assert_eq!((number, code.as_str()), (-32601, "unsupported"), "{method}");
        assert!(message.contains(method), "{message}");
    }
    for method in ["", "Manifest", "sessions", "sessions.list ", "session.list", "rpc.discover", "session.event"] {
        let (number, code, _) = client.refusal(method, &json!({}));
        assert_eq!((number, code.as_str()), (-32601, "method_not_found"), "{method:?}");
    }
    let long = format!("x\u{1b}[2J\u{2028}{}", "y".repeat(100_000));
    let (_, code, message) = client.refusal(&long, &json!({}));
    assert_eq!(code, "method_not_found");
    assert!(message.len() < 300 && !message.contains('\u{1b}'), "{message}");
    assert!(client.finish().status.success());
}

#[test]
fn agents_are_listed_with_what_they_can() {
    let machine = Machine::with_samples();
    let mut client = machine.serve();
    let agents = client.get("agents.list", &json!({}));
    let agents = agents.as_array().unwrap();
    let ids: Vec<_> = agents.iter().map(|agent| agent["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["claude", "cline", "cursor", "devin"]);
    for agent in agents {
        assert_eq!(agent["capabilities"], json!(["sessionRead", "sessionWrite"]), "{agent}");
        assert_eq!(agent["driverForm"], "component", "{agent}");
    }
    let claude = &agents[0];
    assert_eq!(claude["stores"][0]["path"], json!(machine.claude()));
    assert_eq!(claude["stores"][0]["exists"], true);
}
