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

/// A folder on another file system than the temporary one, where the machine has one.
fn elsewhere(ground: &Ground) -> Option<tempfile::TempDir> {
    use std::os::unix::fs::MetadataExt;
    let folder = tempfile::tempdir_in("/dev/shm").ok()?;
    let device = |path: &std::path::Path| fs::metadata(path).unwrap().dev();
    (device(folder.path()) != device(&ground.path(""))).then_some(folder)
}

/// What can't be taken away whole, file system by file system, is there whole.
#[test]
fn what_is_half_moved_to_another_file_system_is_put_together_again() {
    let ground = Ground::new();
    let Some(folder) = elsewhere(&ground) else { return };
    let entry = std::sync::Arc::new(TrashEntry::new(folder.path().join("1")));
    let store = ground.reading().for_writing(Some(std::sync::Arc::clone(&entry)));
    fs::create_dir_all(ground.path("store/s/a/b")).unwrap();
    fs::create_dir_all(ground.path("store/s/z")).unwrap();
    for file in ["a/1", "a/b/2", "m", "z/3"] {
        fs::write(ground.path("store/s").join(file), file).unwrap();
    }
    symlink("m", ground.path("store/s/link")).unwrap();
    let before = ground.tree("store/s");
    // Somebody holds on to one file of it.
    let held = fs::File::open(ground.path("store/s/a/b/2")).unwrap();
    let flags = |change: fn(rustix::fs::IFlags) -> rustix::fs::IFlags| {
        let now = rustix::fs::ioctl_getflags(&held)?;
        rustix::fs::ioctl_setflags(&held, change(now))
    };
    if flags(|now| now | rustix::fs::IFlags::IMMUTABLE).is_err() {
        return;
    }
    let taken = store.discard("s");
    flags(|now| now - rustix::fs::IFlags::IMMUTABLE).unwrap();
    taken.unwrap_err();
    let named = |tree: Vec<(String, String)>| tree.into_iter().map(|(path, _)| path).collect::<Vec<_>>();
    assert_eq!(named(ground.tree("store/s")), named(before));
    assert_eq!(ground.read("store/s/a/b/2"), "a/b/2");
    assert!(!folder.path().join("1/0").exists(), "and the copy is gone");
    assert!(store.discard("s").unwrap() > 0);
    assert!(!ground.path("store/s").exists());
    let items = entry.items();
    entry.put_back(items.last().unwrap()).unwrap();
    assert_eq!(ground.read("store/s/a/b/2"), "a/b/2");
}
