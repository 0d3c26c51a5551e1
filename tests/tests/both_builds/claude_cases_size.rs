//! SC-18: stores of any size, in bounded time and memory, through both builds.

use crate::both::{Both, built};
use crate::program::Serve;
use crate::store::{S1, S2, Store, lines, talk, tool, user};
use serde_json::json;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// 300 MB of records of 4 KiB.
fn many_records(store: &Store) -> usize {
    const RECORDS: usize = 75_000;
    let file = store.session(S1, "");
    let mut out = BufWriter::with_capacity(1 << 20, File::create(file).unwrap());
    let filler = "x".repeat(3_700);
    for n in 0..RECORDS {
        let parent = (n > 0).then(|| format!("m{}", n - 1));
        let text = format!("prompt {n} {filler}");
        out.write_all(lines(&[user(&format!("m{n}"), parent.as_deref(), &text, 1)]).as_bytes()).unwrap();
    }
    out.flush().unwrap();
    RECORDS
}

/// Five records, then a result of 200 MiB on one line.
fn one_line(store: &Store) {
    let file = store.session(S2, "");
    let mut out = BufWriter::with_capacity(1 << 20, File::create(file).unwrap());
    let mut records = talk(2);
    let [ask, told] = tool("m4", "t1", "RESULT", 5);
    records.push(ask);
    out.write_all(lines(&records).as_bytes()).unwrap();
    let line = lines(&[told]);
    let (before, after) = line.split_once("RESULT").unwrap();
    out.write_all(before.as_bytes()).unwrap();
    let filler = vec![b'x'; 1 << 20];
    for _ in 0..200 {
        out.write_all(&filler).unwrap();
    }
    out.write_all(after.as_bytes()).unwrap();
    out.flush().unwrap();
}

fn bounded(form: &str, program: Option<&Path>) {
    /// What it may take on a machine that does nothing else, and on one that is busy.
    const BUSY: u32 = 5;
    let (store, home) = (Store::new(), tempfile::tempdir().unwrap());
    let records = many_records(&store);
    one_line(&store);
    // Compiling the component, once for each build of it, is not what is measured: its code is at hand once it was
    // called.
    let samples = Store::samples();
    drop(Serve::start(home.path(), samples.root(), program).call("sessions.list", &json!({})));
    let mut serve = Serve::start(home.path(), store.root(), program);
    serve.call("agents.list", &json!({}));

    let timed = |serve: &mut Serve, method: &str, params, most: Duration| {
        let (since, computed) = (Instant::now(), serve.computed());
        let answer = serve.call(method, &params);
        let (took, computed) = (since.elapsed(), serve.computed() - computed);
        eprintln!("{form}: {method} {params}: {took:?}, computing {computed:.2} s, peak {} MiB", serve.peak() >> 20);
        assert!(took < most * BUSY, "{form}: {method} took {took:?}");
        assert!(computed < most.as_secs_f64(), "{form}: {method} computed for {computed} s");
        answer
    };
    let rows = timed(&mut serve, "sessions.list", json!({}), Duration::from_secs(2));
    let mut ids: Vec<&str> = rows.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, [S1, S2]);

    let page = timed(&mut serve, "sessions.history", json!({"id": S1, "limit": 20}), Duration::from_secs(3));
    let nodes = page["messages"].as_array().unwrap();
    assert_eq!((nodes.len(), &page["total"]), (20, &json!(records)));
    let last = nodes[19]["content"].as_str().unwrap();
    assert!(last.starts_with(&format!("prompt {} xxx", records - 1)));

    let page = timed(&mut serve, "sessions.history", json!({"id": S2, "limit": 20}), Duration::from_secs(3));
    let nodes = page["messages"].as_array().unwrap();
    let texts: Vec<_> = nodes.iter().map(|node| node["content"].as_str().unwrap()).take(4).collect();
    assert_eq!(texts, ["prompt m1", "answer m2", "prompt m3", "answer m4"]);
    // The long line is told by a stand-in.
    let last = nodes.last().unwrap();
    assert_eq!((&last["role"], &last["toolName"]), (&json!("tool"), &json!("Bash")));
    assert!(last["content"].as_str().unwrap().len() < 1 << 20);

    assert!(serve.peak() < 512 << 20, "{form}: {} MiB", serve.peak() >> 20);
}

#[test]
fn huge_files_and_lines_through_the_component() {
    bounded("component", None);
}

#[test]
fn huge_files_and_lines_through_the_program() {
    bounded("program", Some(&built("sepia-driver-claude")));
}

#[test]
fn ten_thousand_small_sessions() {
    let store = Store::new();
    let content = lines(&talk(2));
    for n in 0..10_000 {
        store.write(format!("projects/-p-{}/{n:08}-0000-4000-8000-000000000000.jsonl", n % 100), &content);
    }
    let since = Instant::now();
    let ids = Both::over(store.root()).ids();
    eprintln!("both builds, rows and stats: {:?}", since.elapsed());
    assert_eq!((ids.len(), ids[9_999].as_str()), (10_000, "00009999-0000-4000-8000-000000000000"));
    assert!(since.elapsed() < Duration::from_secs(60), "{:?}", since.elapsed());

    let home = tempfile::tempdir().unwrap();
    let mut serve = Serve::start(home.path(), store.root(), None);
    serve.call("manifest", &json!({}));
    for (round, most) in [("cold", 20), ("warm", 4)] {
        let since = Instant::now();
        let rows = serve.call("sessions.list", &json!({}));
        eprintln!("{round}: {:?}, peak {} MiB", since.elapsed(), serve.peak() >> 20);
        assert_eq!(rows.as_array().unwrap().len(), 10_000);
        assert!(since.elapsed() < Duration::from_secs(most), "{round}: {:?}", since.elapsed());
    }
}
