//! Which sessions a running agent holds.

use crate::demo::{Demo, S1, S2, S3};
use sepia_driver_claude::Claude;
use sepia_ir::LockState;
use sepia_sdk::SessionRead;
use serde_json::json;

#[test]
fn only_a_process_that_still_is_the_one_holds_its_session() {
    let demo = Demo::new();
    let host = demo.host();
    assert_eq!(Claude::locks(&host).unwrap(), []);
    let pid = std::process::id();
    let started = host.start_ticks(pid).unwrap();
    let note = |session: &str, pid: u32, start: serde_json::Value| {
        json!({"pid": pid, "sessionId": session, "cwd": "/p", "procStart": start}).to_string()
    };
    demo.write(&format!("sessions/{pid}.json"), note(S1, pid, json!(started.to_string())));
    demo.write("sessions/2.json", note(S2, pid, json!((started + 1).to_string())));
    demo.write("sessions/3.json", note(S3, 4_000_000_000, json!("1")));
    demo.write("sessions/4.json", "{\"pid\":");
    demo.write("sessions/5.json", json!({"pid": -1, "sessionId": S2}).to_string());
    let held = LockState { id: S1.into(), holder_pid: Some(pid) };
    assert_eq!(Claude::locks(&host).unwrap(), std::slice::from_ref(&held));
    demo.write(&format!("sessions/{pid}.json"), note(S1, pid, json!(started)));
    assert_eq!(Claude::locks(&host).unwrap(), [held]);
}
