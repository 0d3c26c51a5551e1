//! Files of checkpoints.

use crate::demo::{Demo, S1, base};
use crate::written::by_id;
use sepia_driver_claude::Claude;
use sepia_ir::{ErrorCode, FileVersion};
use sepia_sdk::SessionWrite;
use serde_json::json;

#[test]
fn the_files_of_the_samples_come_as_the_agent_kept_them() {
    let demo = Demo::samples();
    let session = by_id("11111111-1111-4111-8111-000000000008");
    let host = demo.host();
    let listed = Claude::checkpoints(&host, &session).unwrap();
    assert!(!listed.is_empty());
    let files = Claude::checkpoint_files(&host, &session, "69ea7604-e2fa-454b-9099-efcd363096d4").unwrap();
    let content = b"price = 10\ntax = 2\n".to_vec();
    assert_eq!(files, [FileVersion { path: "price.py".into(), content: Some(content) }]);
    let files = Claude::checkpoint_files(&host, &session, "ddcfcea1-cad4-4841-8aec-e2fe1975ff0c").unwrap();
    assert_eq!(files[0], FileVersion { path: "notes.txt".into(), content: None });
    assert_eq!(files[1].content.as_deref(), Some(&b"price = 10\ntax = 4\n"[..]));
    assert_eq!(Claude::checkpoint_files(&host, &session, "gone").unwrap_err().code, ErrorCode::NotFound);
}

#[test]
fn a_backup_elsewhere_is_none() {
    let demo = Demo::new();
    let mut records = base(1);
    for (n, name) in ["../../secret", "/etc/passwd", "..", "x/../../../secret"].iter().enumerate() {
        records.push(json!({
            "type": "file-history-snapshot", "messageId": format!("c{n}"), "isSnapshotUpdate": false,
            "snapshot": {"messageId": format!("c{n}"), "timestamp": "2026-01-01T00:00:00.000Z",
                "trackedFileBackups": {"a": {"backupFileName": name, "version": 1}}},
        }));
    }
    demo.session(S1, &records);
    demo.write("secret", "s");
    demo.write(&format!("file-history/{S1}/x"), "x");
    for n in 0..4 {
        let error = Claude::checkpoint_files(&demo.host(), &by_id(S1), &format!("c{n}")).unwrap_err();
        assert_eq!(error.code, ErrorCode::NotFound);
    }
}
