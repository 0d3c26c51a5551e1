//! The overlay on disk: what is read of each form, what survives, and what several writers do
//! to each other.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use super::document::Document;
use super::entry::SessionMeta;
use super::{MetaPatch, Overlay, Pending, TextChange, View};
use crate::plane::ErrorKind;
use crate::plane::row::{SessionRow, Span};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

struct Ground {
    folder: tempfile::TempDir,
}

impl Ground {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn with(content: impl AsRef<[u8]>) -> Self {
        let ground = Self::new();
        fs::write(ground.file(), content).unwrap();
        ground
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("meta.json")
    }

    fn overlay(&self) -> Overlay {
        Overlay::new(self.file(), Duration::from_secs(20))
    }

    fn content(&self) -> Value {
        serde_json::from_slice(&fs::read(self.file()).unwrap()).unwrap()
    }

    /// Names in the folder that begin so.
    fn names(&self, begins: &str) -> Vec<String> {
        let names = fs::read_dir(self.folder.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with(begins)).collect()
    }
}

fn now<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
}

fn patch(overlay: &Overlay, agent: &str, id: &str, patch: MetaPatch) {
    let patch = patch.checked().unwrap();
    now(overlay.change_session(agent, id, move |entry| entry.apply(&patch))).unwrap();
}

fn pinned(pinned: bool) -> MetaPatch {
    MetaPatch { pinned: Some(pinned), ..MetaPatch::default() }
}

fn titled(title: &str) -> MetaPatch {
    MetaPatch { title: TextChange::Set(title.into()), ..MetaPatch::default() }
}

fn of(text: &Value, agent: &str, id: &str) -> SessionMeta {
    let document = Document::parse(text.to_string().as_bytes()).unwrap();
    View::of(&document).session(agent, id).cloned().unwrap_or_default()
}

#[test]
fn an_entry_is_found_where_the_shared_form_of_the_file_has_it() {
    let ground = Ground::new();
    patch(&ground.overlay(), "claude", "s1", MetaPatch { archived: Some(true), ..titled("  T  ") });
    let entry = json!({"agent": "claude", "title": "T", "archived": true});
    assert_eq!(ground.content(), json!({"sessions": {"s1": entry}, "projects": {}}));
    assert_eq!(fs::metadata(ground.file()).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(ground.folder.path().join("meta.json.lock")).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(ground.names("").len(), 2, "nothing else is left");
}

#[test]
fn equal_ids_of_two_agents_share_nothing() {
    let ground = Ground::new();
    let overlay = ground.overlay();
    patch(&overlay, "claude", "s1", titled("of claude"));
    patch(&overlay, "devin", "s1", titled("of devin"));
    let content = ground.content();
    assert_eq!(content["sessions"]["s1"]["title"], "of claude");
    assert_eq!(content["sessions"]["devin:s1"], json!({"agent": "devin", "title": "of devin"}));
    let title = |agent| of(&content, agent, "s1").title;
    assert_eq!(title("claude").as_deref(), Some("of claude"));
    assert_eq!(title("devin").as_deref(), Some("of devin"));
    assert_eq!(title("cline"), None);
    assert!(now(overlay.forget("claude", "s1")).unwrap());
    assert!(!now(overlay.forget("claude", "s1")).unwrap());
    assert_eq!(of(&ground.content(), "devin", "s1").title.as_deref(), Some("of devin"));
}

#[test]
fn ids_with_a_colon_are_not_taken_for_another_agents() {
    let ground = Ground::new();
    let overlay = ground.overlay();
    patch(&overlay, "cline", "claude:s1", titled("odd"));
    patch(&overlay, "devin", "s1", titled("bare"));
    patch(&overlay, "claude", "s1", titled("scoped"));
    let content = ground.content();
    assert_eq!(of(&content, "cline", "claude:s1").title.as_deref(), Some("odd"));
    assert_eq!(of(&content, "claude", "s1").title.as_deref(), Some("scoped"));
    assert_eq!(of(&content, "devin", "s1").title.as_deref(), Some("bare"));
    assert_eq!(of(&content, "claude", "claude:s1").title, None);
}

#[test]
fn an_entry_without_agent_holds_for_all_and_is_changed_for_none_alone() {
    let ground = Ground::with(r#"{"sessions": {"s1": {"title": "old", "pinned": true, "mine": 7}}}"#);
    let overlay = ground.overlay();
    assert_eq!(of(&ground.content(), "cursor", "s1").title.as_deref(), Some("old"));
    patch(&overlay, "claude", "s1", pinned(false));
    let content = ground.content();
    assert_eq!(content["sessions"]["s1"], json!({"title": "old", "pinned": true, "mine": 7}));
    assert_eq!(content["sessions"]["claude:s1"], json!({"agent": "claude", "title": "old", "mine": 7}));
    assert_eq!((of(&content, "claude", "s1").pinned, of(&content, "cursor", "s1").pinned), (false, true));
    // Also when nothing is left to say of it.
    let bare = MetaPatch { title: TextChange::Clear, ..MetaPatch::default() };
    let ground = Ground::with(r#"{"sessions": {"s1": {"title": "old"}}}"#);
    patch(&ground.overlay(), "claude", "s1", bare);
    assert_eq!(of(&ground.content(), "claude", "s1").title, None);
    assert!(
        now(ground.overlay().forget("cline", "s1")).unwrap(),
        "who has no entry of its own forgets the one for all"
    );
    assert!(ground.content()["sessions"].get("s1").is_none());
}

#[test]
fn older_forms_are_read() {
    let flat = json!({
        "s1": {"title": "old", "projectId": "p9", "pinned": true, "archived": false},
        "s2": {"title": 7, "pinned": "yes", "projectIds": ["a", 3, "b"], "spans": [
            {"at": 5.0, "agent": "devin", "node": "n"}, {"at": "x"}, 9, {"at": 6, "agent": "cline"}
        ]}
    });
    let one = of(&flat, "claude", "s1");
    assert_eq!((one.title.as_deref(), one.pinned, one.archived), (Some("old"), true, false));
    assert_eq!(one.project_ids, ["p9"]);
    let two = of(&flat, "claude", "s2");
    assert_eq!((two.title, two.pinned), (None, false));
    assert_eq!(two.project_ids, ["a", "b"]);
    assert_eq!(two.spans, [Span { at: 5, agent: "devin".into(), node: "n".into() }]);

    let ground = Ground::with(flat.to_string());
    now(ground.overlay().forget("claude", "s2")).unwrap();
    assert_eq!(ground.content(), json!({"sessions": {"s1": flat["s1"]}, "projects": {}}));
}

#[test]
fn what_is_not_understood_survives_a_change_as_it_was_written() {
    let text = r#"{"version": 3, "config": {"sidebar": {"width": 12.50, "big": 123456789012345678901234567890}},
        "sessions": {"s1": {"colour": "\ud800", "title": "t"}, "s2": 7, "s3": {"pinned": false}},
        "projects": {"p1": "alpha", "p2": {"name": "beta", "icon": [1e400]}}}"#;
    let ground = Ground::with(text);
    patch(&ground.overlay(), "claude", "s1", pinned(true));
    let after = fs::read_to_string(ground.file()).unwrap();
    for kept in [
        r#""version":3"#,
        r#""config":{"sidebar": {"width": 12.50, "big": 123456789012345678901234567890}}"#,
        r#""colour":"\ud800""#,
        r#""s1":{"colour": "\ud800", "title": "t"}"#,
        r#""s2":7"#,
        r#""s3":{"pinned": false}"#,
        r#""p1":"alpha""#,
        r#""p2":{"name": "beta", "icon": [1e400]}"#,
    ] {
        assert!(after.contains(kept), "{kept} in {after}");
    }
}

#[test]
fn a_change_that_changes_nothing_writes_nothing() {
    let ground = Ground::new();
    let overlay = ground.overlay();
    assert!(!now(overlay.forget("claude", "s1")).unwrap());
    assert!(!ground.file().exists());
    patch(&overlay, "claude", "s1", pinned(true));
    let before = fs::metadata(ground.file()).unwrap();
    patch(&overlay, "claude", "s1", pinned(true));
    assert!(!now(overlay.forget("claude", "other")).unwrap());
    let after = fs::metadata(ground.file()).unwrap();
    assert_eq!(std::os::unix::fs::MetadataExt::ino(&before), std::os::unix::fs::MetadataExt::ino(&after));
    patch(&overlay, "claude", "s1", pinned(false));
    assert_eq!(ground.content(), json!({"sessions": {}, "projects": {}}), "an entry that says nothing goes");
}

#[test]
fn a_damaged_file_is_kept_aside_and_told() {
    for damaged in ["{", "", "[]", "{\"sessions\": [1]}", "{\"sessions\": {}, \"projects\": 7}", "\u{0}\u{0}\u{0}"] {
        let ground = Ground::with(damaged);
        let (view, warning) = now(ground.overlay().view());
        assert!(view.session("claude", "s1").is_none());
        let warning = warning.unwrap();
        let [aside] = ground.names("meta.json.corrupt-").try_into().unwrap();
        assert!(warning.message.contains(&aside), "{}", warning.message);
        assert_eq!(fs::read(ground.folder.path().join(&aside)).unwrap(), damaged.as_bytes());
        assert_eq!(now(ground.overlay().view()).1, None, "it is told once");

        let ground = Ground::with(damaged);
        patch(&ground.overlay(), "claude", "s1", pinned(true));
        assert_eq!(ground.content()["sessions"]["s1"]["pinned"], true);
        let [aside] = ground.names("meta.json.corrupt-").try_into().unwrap();
        assert_eq!(fs::read(ground.folder.path().join(aside)).unwrap(), damaged.as_bytes());
    }
}

#[test]
fn what_can_not_be_read_is_told_and_stays() {
    let ground = Ground::new();
    fs::create_dir(ground.file()).unwrap();
    let (_, warning) = now(ground.overlay().view());
    assert!(warning.unwrap().message.contains("meta.json could not be read"));
    let error = now(ground.overlay().forget("claude", "s1")).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Internal);
    assert!(error.cause.is_some() && ground.file().is_dir());
}

#[test]
fn a_link_in_its_place_stays_one() {
    let ground = Ground::new();
    let real = ground.folder.path().join("synced.json");
    fs::write(&real, "{}").unwrap();
    std::os::unix::fs::symlink(&real, ground.file()).unwrap();
    patch(&ground.overlay(), "claude", "s1", pinned(true));
    assert!(ground.file().is_symlink());
    assert_eq!(ground.content()["sessions"]["s1"]["pinned"], true);
}

#[test]
fn writers_at_once_lose_nothing() {
    let ground = Ground::new();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let overlay = ground.overlay();
            scope.spawn(move || {
                for n in 0..10 {
                    patch(&overlay, "claude", &format!("s{writer}-{n}"), pinned(true));
                    patch(
                        &overlay,
                        "claude",
                        "all",
                        MetaPatch { model: TextChange::Set(format!("m{n}")), ..pinned(true) },
                    );
                }
            });
        }
    });
    let content = ground.content();
    let sessions = content["sessions"].as_object().unwrap();
    assert_eq!(sessions.len(), 81);
    assert!(sessions.values().all(|entry| entry["pinned"] == true));
}

#[test]
fn waiting_for_another_process_has_an_end() {
    let ground = Ground::new();
    let held = fs::File::create(ground.folder.path().join("meta.json.lock")).unwrap();
    held.lock().unwrap();
    let impatient = Overlay::new(ground.file(), Duration::from_millis(20));
    let error = now(impatient.forget("claude", "s1")).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Busy);
    assert!(error.message.contains("SEPIA_META_TIMEOUT_MS"), "{}", error.message);
    assert_eq!(now(impatient.view()).1, None, "reading waits for nobody");
    drop(held);
    assert!(!now(impatient.forget("claude", "s1")).unwrap());
}

#[test]
fn a_span_that_goes_on_is_not_noted_again() {
    let ground = Ground::new();
    let overlay = ground.overlay();
    let span = |at, agent: &str| Span { at, agent: agent.into(), node: "n1".into() };
    for (at, agent) in [(1, "devin"), (2, "devin"), (3, "cline"), (4, "devin")] {
        now(overlay.add_span("devin", "s1", span(at, agent))).unwrap();
    }
    let spans = of(&ground.content(), "devin", "s1").spans;
    assert_eq!(spans, [span(1, "devin"), span(3, "cline"), span(4, "devin")]);
    assert_eq!(ground.content()["sessions"]["s1"]["spans"][0], json!({"at": 1, "agent": "devin", "node": "n1"}));
}

#[test]
fn what_is_noted_later_is_there_for_whoever_looks() {
    let ground = Ground::new();
    let overlay = ground.overlay();
    let span = |at| Span { at, agent: "devin".into(), node: "n1".into() };
    now(async {
        for at in 0..50 {
            overlay.add_span_later("devin", &format!("s{at}"), span(at));
        }
        let (view, warning) = overlay.view().await;
        assert_eq!(warning, None);
        let mut row = SessionRow::new("s49", "devin");
        view.put_into(&mut row);
        assert_eq!(row.spans, [span(49)]);
        overlay.add_span_later("devin", "s50", span(50));
        assert!(overlay.forget("devin", "s50").await.unwrap(), "it was noted before it was forgotten");
        overlay.add_span_later("devin", "s51", span(51));
        overlay.noted().await;
    });
    let content = ground.content();
    let noted = content["sessions"].as_object().unwrap();
    assert_eq!(noted.len(), 51);
    assert!(noted.contains_key("s0") && noted.contains_key("s51") && !noted.contains_key("s50"));
}

#[test]
fn a_session_made_here_waits_for_its_store() {
    let ground = Ground::new();
    let pending = Pending {
        cwd: "/p".into(),
        created_at: "2026-01-01T00:00:00.000Z".into(),
        title: Some("Mine".into()),
        model: Some("m".into()),
    };
    now(ground.overlay().set_pending("cline", "n2", pending.clone())).unwrap();
    now(ground.overlay().set_pending("cline", "n1", Pending { title: None, model: None, ..pending })).unwrap();
    let (view, _) = now(ground.overlay().view());
    assert!(view.is_pending("cline", "n1") && !view.is_pending("claude", "n1"));
    let rows = view.pending_rows(0.0, |agent, facts| agent == "cline" && facts.cwd == "/p");
    let shown: Vec<_> = rows.iter().map(|row| (row.id.as_str(), row.title.as_str(), row.updated_at.as_str())).collect();
    let made = "2026-01-01T00:00:00.000Z";
    assert_eq!(shown, [("n1", "New session", made), ("n2", "Mine", made)]);
    assert_eq!((rows[1].model.as_deref(), &rows[0].model), (Some("m"), &None));
    let entry = json!({"agent": "cline", "cwd": "/p", "createdAt": made});
    assert_eq!(ground.content()["sessions"]["n1"], entry);
}

#[test]
fn what_a_patch_takes() {
    let refused = |patch: MetaPatch| patch.checked().unwrap_err().kind == ErrorKind::Invalid;
    assert!(refused(MetaPatch::default()));
    for title in ["", "  ", &"x".repeat(201), "two\nlines", "\u{1b}[2J", "a\u{2028}b"] {
        assert!(refused(titled(title)), "{title:?}");
    }
    assert_eq!(titled(&format!(" {} ", "é".repeat(200))).checked().unwrap(), titled(&"é".repeat(200)));
    for model in ["", &"m".repeat(101)] {
        assert!(refused(MetaPatch { model: TextChange::Set(model.into()), ..MetaPatch::default() }), "{model:?}");
    }
    let projects = |ids: &[&str]| MetaPatch {
        project_ids: Some(ids.iter().map(|id| (*id).to_owned()).collect()),
        ..MetaPatch::default()
    };
    assert_eq!(projects(&["b", " a", "b"]).checked().unwrap(), projects(&["b", "a"]));
    assert!(refused(projects(&["a", ""])));
    assert!(refused(MetaPatch { project_ids: Some(vec!["p".into(); 1_001]), ..MetaPatch::default() }));
}
