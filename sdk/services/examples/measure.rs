//! Times the services on a store of one's own:
//!
//!     measure walk DIR
//!     measure survey DIR NEEDLE…
//!     measure project DIR FILE MEMBER…
//!
//! Each 25 times, the best and the median in milliseconds. `survey` takes every `.jsonl`
//! file, on as many threads as there are processors.

use sepia_ir::{Projection, StoreAccess, StoreKind, StoreRequest, SurveyQuery};
use sepia_services::Store;
use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [task, dir, rest @ ..] = arguments.as_slice() else {
        return Err("usage: measure walk|survey|project DIR …".into());
    };
    let request = StoreRequest {
        name: "store".into(),
        env: Vec::new(),
        default_path: String::new(),
        kind: StoreKind::Directory,
        access: StoreAccess::Read,
        follow_links_in: vec![String::new()],
    };
    let open = || Store::open(&request, Path::new(dir), &|_| false);
    let mut times = Vec::new();
    let mut result = String::new();
    for _ in 0..25 {
        let begin = Instant::now();
        result = match (task.as_str(), rest) {
            ("walk", _) => {
                let report = open()?.walk("", 8, &[])?;
                format!(
                    "{} files, {} failures {:?}",
                    report.files.len(),
                    report.failures.len(),
                    report.failures.first()
                )
            }
            ("survey", needles) => survey(&open()?, needles)?,
            ("project", [file, members @ ..]) => {
                let query = Projection { members: members.to_vec(), offset: 0, max_value: 4096 };
                format!("{} bytes packed", open()?.project(file, &query)?.len())
            }
            _ => return Err("usage: measure walk|survey|project DIR …".into()),
        };
        times.push(begin.elapsed());
    }
    times.sort_unstable();
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    writeln!(std::io::stdout(), "best {:.1} ms, median {:.1} ms: {result}", ms(times[0]), ms(times[12]))?;
    Ok(())
}

fn survey(store: &Store, needles: &[String]) -> Outcome<String> {
    let mut files = store.walk("", 1, &[".jsonl".into()])?.files;
    files.sort_unstable_by_key(|file| std::cmp::Reverse(file.bytes));
    let needles = needles.iter().map(|needle| needle.clone().into_bytes()).collect();
    let query = SurveyQuery { needles, head: 65536, tail: 65536, max_line: 4096, max_lines: 1000 };
    let next = AtomicUsize::new(0);
    let work = || -> Outcome<(u64, usize)> {
        let mut sum = (0, 0);
        while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let report = store.survey(&file.path, &query)?;
            sum = (sum.0 + report.file.bytes, sum.1 + report.lines.len());
        }
        Ok(sum)
    };
    let threads = std::thread::available_parallelism()?.get();
    let sums: Vec<Outcome<(u64, usize)>> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        running.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err("a thread died".into()))).collect()
    });
    let mut total = (0, 0);
    for sum in sums {
        let sum = sum?;
        total = (total.0 + sum.0, total.1 + sum.1);
    }
    Ok(format!("{} files, {} bytes, {} lines", files.len(), total.0, total.1))
}
