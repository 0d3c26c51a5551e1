//! The trash.

use crate::ground::Ground;
use sepia_services::TrashEntry;
use std::fs;
use std::os::unix::fs::symlink;

#[test]
fn what_is_taken_away_comes_back_as_it_was() {
    let ground = Ground::new();
    fs::create_dir_all(ground.path("store/s/sub")).unwrap();
    fs::write(ground.path("store/s/sub/a"), "aa").unwrap();
    fs::write(ground.path("store/s/b"), "b").unwrap();
    symlink("b", ground.path("store/s/link")).unwrap();
    let before = ground.tree("store/s");
    // A link counts with the bytes of its target's name.
    assert_eq!(ground.writing().discard("s").unwrap(), 4);
    assert!(!ground.path("store/s").exists());
    let entry = TrashEntry::read(ground.path("trash/1")).unwrap();
    let items = entry.items();
    assert_eq!((items.len(), items[0].place.as_path(), items[0].taken), (1, ground.path("store/s").as_path(), true));
    entry.put_back(&items[0]).unwrap();
    assert_eq!(ground.tree("store/s"), before);
}

#[test]
fn what_is_there_again_is_not_written_over() {
    let ground = Ground::new();
    fs::write(ground.path("store/a"), "old").unwrap();
    ground.writing().discard("a").unwrap();
    fs::write(ground.path("store/a"), "new").unwrap();
    let item = &ground.trash.items()[0];
    assert_eq!(ground.trash.put_back(item).unwrap_err().kind(), std::io::ErrorKind::AlreadyExists);
    assert_eq!(ground.read("store/a"), "new");
    assert_eq!(ground.read("trash/1/0"), "old");
}

#[test]
fn what_is_not_there_is_not_found() {
    let ground = Ground::new();
    let code = sepia_ir::DriverError::from(ground.writing().discard("absent").unwrap_err()).code;
    assert_eq!(code, sepia_ir::ErrorCode::NotFound);
    assert!(!ground.path("trash").exists());
}
