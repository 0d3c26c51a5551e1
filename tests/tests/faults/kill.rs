//! A process that is killed at some moment of a write.

use crate::Trial;
use crate::outcome::{self, Outcome};
use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
use rustix::process::{Pid, Signal, kill_process};
use sepia_tests::random::Random;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// When it is killed.
enum Moment {
    After(Duration),
    /// So many changes of files.
    Changes(u64),
}

/// Watches every folder that is there.
fn watch(inotify: &OwnedFd, folder: &Path) {
    let wanted =
        WatchFlags::CREATE | WatchFlags::MODIFY | WatchFlags::MOVE | WatchFlags::DELETE | WatchFlags::CLOSE_WRITE;
    inotify::add_watch(inotify, folder, wanted).unwrap();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            watch(inotify, &entry.path());
        }
    }
}

/// Kills a process when the moment has come, unless it is told that it is over before.
fn killer(pid: Pid, moment: Moment, machine: &Path, over: Arc<AtomicBool>) -> JoinHandle<()> {
    let inotify = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).unwrap();
    if matches!(moment, Moment::Changes(_)) {
        watch(&inotify, machine);
    }
    let start = Instant::now();
    thread::spawn(move || {
        let mut seen = 0;
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut events = Reader::new(&inotify, &mut buffer);
        while !over.load(Ordering::Relaxed) {
            let is_time = match moment {
                Moment::After(delay) => start.elapsed() >= delay,
                Moment::Changes(count) => {
                    while events.next().is_ok() {
                        seen += 1;
                    }
                    seen >= count
                }
            };
            if is_time {
                break;
            }
            thread::yield_now();
        }
        // It may have ended by itself, which nothing here makes it do.
        let _ = kill_process(pid, Signal::KILL);
    })
}

fn moment(random: &mut Random) -> Moment {
    match random.below(3) {
        0 => Moment::After(Duration::from_micros(100 * random.of_any_size(10))),
        _ => Moment::Changes(random.of_any_size(6)),
    }
}

pub(crate) fn run(trial: Trial) -> Outcome {
    let Trial { machine, mut client, before, attempt, mut random } = trial;
    let over = Arc::new(AtomicBool::new(false));
    let pid = Pid::from_raw(client.pid().cast_signed()).unwrap();
    let killer = killer(pid, moment(&mut random), &machine.place(""), Arc::clone(&over));
    let asked = client.ask_before_end(attempt.method, &attempt.params);
    let answer = client.answer_before_end(asked);
    over.store(true, Ordering::Relaxed);
    killer.join().unwrap();
    drop(client);
    outcome::look(&machine, &before, &attempt, answer.as_ref())
}
