//! What looks like a secret and is none.

use crate::planted::*;
use sepia_redaction::Redactor;

pub(crate) fn decoys() -> Vec<String> {
    let picture = base64_like(4000);
    let mut decoys: Vec<String> = [
        "3f786850e387550fdab836ed7e6dc881de23001b",
        "commit 89e6c98d92887913cadf06b2adb97f26cde4849b (HEAD -> main)",
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "index 83db48f..bf269f4 100644",
        "550e8400-e29b-41d4-a716-446655440000",
        "\"sessionId\":\"6ba7b810-9dad-11d1-80b4-00c04fd430c8\"",
        "toolu_01A09q90qw90lq917835lq9q",
        "\"tool_use_id\": \"toolu_vrtx_01XFDUDYJgAACzvnptvVoYEL\"",
        "call_7f3CkQ2mZrT9xYbN1aPdLw",
        "msg_01XFDUDYJgAACzvnptvVoYEL",
        "req_011CSHoEeqs5C35K2UUqR7Fy",
        "chatcmpl-9f8Kd72nQpLr5TzXwYb1",
        "\"integrity\": \"sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==\"",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl me@host",
        "etag: W/\"5e9f-17a8b2c3d4e\"",
        "npm_config_registry npm_lifecycle_event npm_package_json",
        "use sk-learn-compatible-estimators and task-runner-2-with-a-long-name",
        "pk_live is public; sk_live is not; ghp_ starts a token",
        "hf_hub_download(repo_id) and SG.Views and xai-grok-1",
        "at 12:30:45.123456 in 00:01:02",
        "AKIA and ASIA start ids, AIza starts keys",
        "<your-key> $TOKEN ${API_KEY} xxxx sk-... sk-ant-... ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "sk-ant-api03-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx and sk-your-api-key-goes-right-here",
        "[redacted] ***** [REDACTED] ••••••••",
        "password: ",
        "user@example.com, git@github.com:owner/name.git",
        "fn token(&self) -> Token { self.token }",
    ]
    .map(str::to_owned)
    .to_vec();
    decoys.push(format!("data:image/png;base64,{picture}"));
    decoys.push(format!("{{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"{picture}\"}}"));
    decoys.push(format!("\"signature\":\"EqQB{}\"", base64_like(300)));
    decoys
}

fn base64_like(length: usize) -> String {
    drawn(70, length, b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") + "=="
}

#[test]
fn decoys_stay_alone_and_beside_secrets() {
    let decoys = decoys();
    assert!(decoys.len() >= 20);
    for decoy in &decoys {
        stays(decoy);
        becomes(&format!("{decoy}\nTOKEN={}\n{decoy}", github()), &format!("{decoy}\nTOKEN=[github-token]\n{decoy}"));
    }
    stays(&decoys.join("\n"));
}

#[test]
fn decoys_stay_in_json() {
    for decoy in decoys() {
        let json = serde_json::json!({ "a": [{ "b": decoy }], "command": [decoy, decoy] }).to_string();
        assert_eq!(Redactor::new().json(&json), json);
        let json = serde_json::json!({ "nested": json }).to_string();
        assert_eq!(Redactor::new().json(&json), json);
    }
}

/// Eight megabytes of base64 and as much of its URL-safe form hold every prefix by chance.
#[test]
fn large_pictures_stay() {
    let picture = base64_like(8 << 20);
    stays(&picture);
    stays(&picture.replace('+', "-").replace('/', "_"));
}
