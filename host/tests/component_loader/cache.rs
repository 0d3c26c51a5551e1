//! The cache of compiled components: what somebody touched is never run.

use crate::guests::{limits, wasm};
use sepia::loader::Origin;
use sepia::loader::component::Components;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Another host, as after a restart, that brings in these guests and calls them by their name.
async fn bring_in(folder: &Path, guests: &[&str]) {
    let host = Components::new(limits(), Some(folder.to_owned()));
    for guest in guests {
        let prepared = host.bring_in(wasm(guest), Origin::Embedded).await.unwrap();
        assert_eq!(prepared.about().manifest.id, "guest");
        prepared.load().await.unwrap();
    }
}

fn folder() -> (TempDir, PathBuf) {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("state/compiled");
    (temp, folder)
}

/// The images in a folder, by name.
fn images(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut images: Vec<_> = files.filter(|path| path.extension().is_some_and(|e| e == "image")).collect();
    images.sort();
    images
}

/// An image is written by compiling and by nothing else: a new inode means that.
fn inode(path: &Path) -> u64 {
    fs::symlink_metadata(path).unwrap().ino()
}

async fn one_image() -> (TempDir, PathBuf, PathBuf) {
    let (temp, folder) = folder();
    bring_in(&folder, &["well_behaved"]).await;
    let image = images(&folder).remove(0);
    (temp, folder, image)
}

/// After something was done to the image, it is compiled again and as it was.
async fn is_made_anew(change: impl FnOnce(&Path)) {
    let (_temp, folder, image) = one_image().await;
    let good = fs::read(&image).unwrap();
    // Held open, so that its number isn't given to its successor.
    let _before = fs::File::open(&image).unwrap();
    let before = inode(&image);
    change(&image);
    bring_in(&folder, &["well_behaved"]).await;
    assert_ne!(inode(&image), before, "the image was not replaced");
    assert!(fs::symlink_metadata(&image).unwrap().is_file());
    assert_eq!(fs::read(&image).unwrap().len(), good.len());
    let again = inode(&image);
    bring_in(&folder, &["well_behaved"]).await;
    assert_eq!(inode(&image), again, "the new image is used");
}

#[tokio::test]
async fn an_image_is_made_once_and_private() {
    let (_temp, folder, image) = one_image().await;
    let before = inode(&image);
    bring_in(&folder, &["well_behaved"]).await;
    assert_eq!(images(&folder), std::slice::from_ref(&image));
    assert_eq!(inode(&image), before);
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    assert_eq!(mode(&image), 0o600);
    assert_eq!(mode(&folder.join("key")), 0o600);
    let temporary =
        fs::read_dir(&folder).unwrap().filter(|e| e.as_ref().unwrap().file_name().to_string_lossy().ends_with(".new"));
    assert_eq!(temporary.count(), 0);
}

/// In the header, in the code of authentication, and all over the machine code.
#[tokio::test]
async fn a_flipped_byte_is_never_run() {
    let (_temp, folder, image) = one_image().await;
    let good = fs::read(&image).unwrap();
    let places = [0, 7, 8, 39, 40, good.len() / 3, good.len() / 2, good.len() - 1];
    for at in places {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        fs::write(&image, &bytes).unwrap();
        bring_in(&folder, &["well_behaved"]).await;
        let after = fs::read(&image).unwrap();
        assert_ne!(after, bytes, "byte {at}");
        assert_eq!(after.len(), good.len());
    }
}

#[tokio::test]
async fn a_truncated_or_empty_or_longer_image_is_never_run() {
    is_made_anew(|image| fs::write(image, &fs::read(image).unwrap()[..1000]).unwrap()).await;
    is_made_anew(|image| fs::write(image, b"").unwrap()).await;
    is_made_anew(|image| fs::write(image, [fs::read(image).unwrap(), vec![0]].concat()).unwrap()).await;
}

#[tokio::test]
async fn the_images_of_two_drivers_can_not_be_swapped() {
    let (_temp, folder) = folder();
    bring_in(&folder, &["well_behaved", "exits"]).await;
    let both = images(&folder);
    let contents: Vec<_> = both.iter().map(|path| fs::read(path).unwrap()).collect();
    fs::write(&both[0], &contents[1]).unwrap();
    fs::write(&both[1], &contents[0]).unwrap();
    bring_in(&folder, &["well_behaved", "exits"]).await;
    for (path, content) in both.iter().zip(&contents) {
        assert_eq!(fs::read(path).unwrap().len(), content.len());
    }
}

#[tokio::test]
async fn a_link_in_place_of_an_image_is_not_followed() {
    is_made_anew(|image| {
        let elsewhere = image.with_extension("elsewhere");
        fs::rename(image, &elsewhere).unwrap();
        symlink(&elsewhere, image).unwrap();
    })
    .await;
}

#[tokio::test]
async fn an_image_that_others_may_write_is_not_used() {
    is_made_anew(|image| fs::set_permissions(image, Permissions::from_mode(0o666)).unwrap()).await;
}

#[tokio::test]
async fn a_key_that_others_may_read_or_that_is_not_whole_is_replaced() {
    is_made_anew(|image| {
        fs::set_permissions(image.with_file_name("key"), Permissions::from_mode(0o644)).unwrap();
    })
    .await;
    is_made_anew(|image| fs::write(image.with_file_name("key"), b"short").unwrap()).await;
    is_made_anew(|image| fs::remove_file(image.with_file_name("key")).unwrap()).await;
}

#[tokio::test]
async fn a_folder_that_others_may_write_is_not_used() {
    let (_temp, folder, image) = one_image().await;
    fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
    let before = fs::read(&image).unwrap();
    bring_in(&folder, &["well_behaved", "exits"]).await;
    assert_eq!(images(&folder), std::slice::from_ref(&image), "nothing is written");
    assert_eq!(fs::read(&image).unwrap(), before, "nothing is removed");
}

#[tokio::test]
async fn a_folder_that_is_a_link_or_a_file_is_not_used() {
    let (temp, folder, image) = one_image().await;
    let link = temp.path().join("link");
    symlink(&folder, &link).unwrap();
    bring_in(&link, &["exits"]).await;
    assert_eq!(images(&folder), [image]);
    let file = temp.path().join("file");
    fs::write(&file, b"x").unwrap();
    bring_in(&file, &["well_behaved"]).await;
    assert_eq!(fs::read(&file).unwrap(), b"x");
}

/// The name of an entry depends on the engine, the host and the layout: an image of another
/// version under its own name is not looked at, under our name it is refused.
#[tokio::test]
async fn an_image_of_another_version_is_not_used() {
    is_made_anew(|image| {
        let mut bytes = fs::read(image).unwrap();
        bytes[7] = 99;
        fs::remove_file(image).unwrap();
        fs::write(image, bytes).unwrap();
    })
    .await;
    let (_temp, folder, image) = one_image().await;
    let foreign = image.with_file_name(format!("{}.image", "0".repeat(64)));
    fs::rename(&image, &foreign).unwrap();
    bring_in(&folder, &["well_behaved"]).await;
    assert!(image.is_file());
}

#[tokio::test]
async fn the_folder_does_not_grow_for_ever() {
    let (_temp, folder, image) = one_image().await;
    for n in 0..100 {
        fs::write(image.with_file_name(format!("{n:064}.image")), b"old").unwrap();
    }
    bring_in(&folder, &["exits"]).await;
    assert!(images(&folder).len() <= 64);
}
