//! Guests that reach for what they were not given.

use crate::guests::{Place, driver, host, limits, ordered, prepare, still_serves};
use sepia::loader::FaultKind;
use sepia::loader::component::GrantedStore;
use sepia_ir::ErrorCode;
use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::sync::Arc;

#[tokio::test]
async fn no_path_leads_out_of_the_store() {
    let (host, place) = (host(limits()), Place::new());
    let secret = place.path("secret.txt");
    symlink("../secret.txt", place.path("home/relative")).unwrap();
    symlink(&secret, place.path("home/absolute")).unwrap();
    symlink("relative", place.path("home/chained")).unwrap();
    symlink("..", place.path("home/up")).unwrap();
    symlink(place.path("other"), place.path("home/folder")).unwrap();
    let bad = driver(&host, &place, "pries_into_files").await;
    assert_eq!(ordered(&bad, "std:/home/a.txt").await.unwrap(), "read: one\ntwo\nthree\n");
    let absolute = secret.display().to_string();
    let ways = [
        "/home/../secret.txt",
        "/home/sub/../../secret.txt",
        "../secret.txt",
        "secret.txt",
        absolute.as_str(),
        "/etc/passwd",
        "/proc/self/environ",
        "/proc/self/root/etc/passwd",
        "/home/relative",
        "/home/absolute",
        "/home/chained",
        "/home/up/secret.txt",
        "/home/folder/theirs.txt",
        "/home/relative/",
        "/home/up/",
        "/other/theirs.txt",
        "//etc/passwd",
    ];
    for way in ways {
        let answer = ordered(&bad, &format!("std:{way}")).await.unwrap();
        assert!(answer.starts_with("refused: "), "{way}: {answer}");
    }
    for way in ["/", "/home/..", "/home/up", "/home/up/", "/home/folder", "/home/folder/", "/proc"] {
        let answer = ordered(&bad, &format!("list:{way}")).await.unwrap();
        assert!(answer.starts_with("refused: "), "{way}: {answer}");
    }
    still_serves(&host).await;
}

#[tokio::test]
async fn nor_does_one_that_the_host_is_asked_to_read() {
    let (host, place) = (host(limits()), Place::new());
    symlink("../secret.txt", place.path("home/relative")).unwrap();
    symlink(place.path("secret.txt"), place.path("home/absolute")).unwrap();
    symlink("relative", place.path("home/chained")).unwrap();
    symlink(place.path("other"), place.path("home/folder")).unwrap();
    let bad = driver(&host, &place, "pries_into_files").await;
    assert_eq!(ordered(&bad, "lent:home:b.txt").await.unwrap(), "four\n");
    let absolute = place.path("secret.txt").display().to_string();
    let ways = [
        "../secret.txt",
        "sub/../../secret.txt",
        "/etc/passwd",
        absolute.as_str(),
        "relative",
        "absolute",
        "chained",
        "folder/theirs.txt",
        "relative/",
        "",
        ".",
        "a.txt\0",
    ];
    for way in ways {
        let fault = ordered(&bad, &format!("lent:home:{way}")).await.unwrap_err();
        assert!(matches!(fault.kind, FaultKind::Said(_)), "{way}: {fault}");
    }
}

#[tokio::test]
async fn a_store_that_was_not_granted_is_named_in_the_refusal() {
    let (host, place) = (host(limits()), Place::new());
    let bad = driver(&host, &place, "pries_into_files").await;
    let fault = ordered(&bad, "lent:other:theirs.txt").await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Said(ErrorCode::Invalid));
    assert!(fault.message.contains("`other` was not granted"), "{fault}");
}

#[tokio::test]
async fn nothing_of_the_process_is_inherited() {
    let (host, place) = (host(limits()), Place::new());
    let bad = driver(&host, &place, "pries_into_files").await;
    assert!(std::env::vars().count() > 0);
    assert_eq!(ordered(&bad, "env").await.unwrap(), "read: []");
    assert_eq!(ordered(&bad, "arguments").await.unwrap(), "read: []");
}

/// A link at a place where the driver may have links is followed by the host, once.
#[tokio::test]
async fn a_link_that_the_host_followed_is_a_directory_of_the_guest() {
    let (host, place) = (host(limits()), Place::new());
    symlink(place.path("other"), place.path("home/linked")).unwrap();
    fs::create_dir(place.path("forbidden")).unwrap();
    fs::write(place.path("forbidden/f.txt"), "f").unwrap();
    symlink(place.path("forbidden"), place.path("home/never")).unwrap();
    let prepared = prepare(&host, "pries_into_files").await.unwrap();
    let mut request = prepared.about().manifest.stores[0].clone();
    request.follow_links_in = vec![String::new()];
    let forbidden = place.path("forbidden").canonicalize().unwrap();
    let refuse = Arc::new(move |path: &Path| path == forbidden);
    let store = GrantedStore { request, place: place.path("home"), write: false, refuse };
    let bad = prepared.into_driver(vec![store]);
    assert_eq!(ordered(&bad, "std:/home/linked/theirs.txt").await.unwrap(), "read: theirs\n");
    assert_eq!(ordered(&bad, "lent:home:linked/theirs.txt").await.unwrap(), "theirs\n");
    let refused = ordered(&bad, "std:/home/never/f.txt").await.unwrap();
    assert!(refused.starts_with("refused: "), "{refused}");
    assert!(ordered(&bad, "lent:home:never/f.txt").await.is_err());
}

/// Every file and folder with its content and all of its times but that of the last access.
fn state_of(root: &Path) -> BTreeMap<String, (Vec<u8>, i64, i64, u32, u64)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let meta = fs::symlink_metadata(&path).unwrap();
            let content = if meta.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
            if meta.is_dir() {
                folders.push(path.clone());
            }
            let state = (content, meta.mtime(), meta.ctime(), meta.mode(), meta.nlink());
            found.insert(path.display().to_string(), state);
        }
    }
    found
}

#[tokio::test]
async fn a_store_that_is_only_read_can_not_be_changed() {
    let (host, place) = (host(limits()), Place::new());
    let before = state_of(&place.path("home"));
    let bad = driver(&host, &place, "mutates_the_store").await;
    assert_eq!(ordered(&bad, "").await.unwrap(), "", "ways that were open");
    assert_eq!(state_of(&place.path("home")), before);
    still_serves(&host).await;
}

#[tokio::test]
async fn sockets_are_refused_when_they_are_used() {
    let (host, place) = (host(limits()), Place::new());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let prepared = prepare(&host, "connects_out").await.unwrap();
    assert!(prepared.imports().iter().any(|name| name.starts_with("wasi:sockets/tcp@0.2.")));
    let stores = place.grant(&prepared);
    let bad = prepared.into_driver(stores);
    let answer = ordered(&bad, &listener.local_addr().unwrap().to_string()).await.unwrap();
    assert!(!answer.contains("Ok"), "{answer}");
    assert!(answer.starts_with("Err(PermissionDenied) Err(PermissionDenied)"), "{answer}");
    assert!(listener.accept().is_err(), "somebody connected");
    still_serves(&host).await;
}
