//! A scan that would answer the same is not made again; anything else is.

use crate::guests::{Place, driver, host, limits, read};
use rusqlite::Connection;
use sepia::loader::{Driver, Rescan, ScanBasis};
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Has it look as if it had been written long ago.
fn settle(path: &Path) {
    let long_ago = SystemTime::now() - Duration::from_secs(60);
    File::options().write(true).open(path).unwrap().set_modified(long_ago).unwrap();
}

fn settled_place() -> Place {
    let place = Place::new();
    settle(&place.path("home/a.txt"));
    settle(&place.path("home/b.txt"));
    place
}

async fn rescan(driver: &Arc<dyn Driver>, known: Option<&ScanBasis>) -> Option<(usize, Option<ScanBasis>)> {
    match read(driver).rescan(known.cloned()).await.unwrap() {
        Rescan::Unchanged => None,
        Rescan::Report(report, basis) => Some((report.entries.len(), basis)),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_that_come_change_or_go_are_seen() {
    let (host, place) = (host(limits()), settled_place());
    let good = driver(&host, &place, "well_behaved").await;
    let (entries, basis) = rescan(&good, None).await.unwrap();
    assert_eq!(entries, 2);
    let basis = basis.expect("everything was asked of the host, and nothing was changing");
    assert_eq!(rescan(&good, Some(&basis)).await, None);
    // A file of a kind that was not asked for changes nothing.
    fs::write(place.path("home/c.md"), "x").unwrap();
    assert_eq!(rescan(&good, Some(&basis)).await, None);
    // The same bytes at another time.
    let content = fs::read(place.path("home/a.txt")).unwrap();
    fs::write(place.path("home/a.txt"), &content).unwrap();
    let (entries, fresh) = rescan(&good, Some(&basis)).await.unwrap();
    assert_eq!(entries, 2);
    assert_eq!(fresh, None, "what changed just now may change again");
    fs::write(place.path("home/d.txt"), "new").unwrap();
    assert_eq!(rescan(&good, Some(&basis)).await.unwrap().0, 3);
    fs::remove_file(place.path("home/d.txt")).unwrap();
    fs::remove_file(place.path("home/b.txt")).unwrap();
    assert_eq!(rescan(&good, Some(&basis)).await.unwrap().0, 1);
    fs::remove_dir_all(place.path("home")).unwrap();
    assert_eq!(rescan(&good, Some(&basis)).await.unwrap().0, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_grows_in_its_log_is_seen() {
    let (host, place) = (host(limits()), Place::new());
    let file = place.path("home/a.db");
    let owner = Connection::open(&file).unwrap();
    owner.execute_batch("PRAGMA journal_mode=wal; CREATE TABLE t(id TEXT); INSERT INTO t VALUES ('one')").unwrap();
    settle(&file);
    settle(&place.path("home/a.db-wal"));
    let guest = driver(&host, &place, "pries_into_databases").await;
    let (entries, basis) = rescan(&guest, None).await.unwrap();
    assert_eq!(entries, 1);
    let basis = basis.unwrap();
    assert_eq!(rescan(&guest, Some(&basis)).await, None);
    owner.execute("INSERT INTO t VALUES ('two')", []).unwrap();
    assert_eq!(rescan(&guest, Some(&basis)).await.unwrap().0, 2);
}

/// Looking by its own means is right, and is done anew each time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scan_by_other_means_has_no_basis() {
    let (host, place) = (host(limits()), settled_place());
    let guest = driver(&host, &place, "looks_by_itself").await;
    let (entries, basis) = rescan(&guest, None).await.unwrap();
    assert_eq!((entries, basis), (2, None));
}
