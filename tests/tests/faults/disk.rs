//! A disk that is really full.

use crate::Trial;
use crate::outcome::{self, Outcome};
use crate::stand::Stand;
use sepia_tests::Client;
use std::process::{Command, Stdio};

/// What puts the machine on a disk of its own with so much room left, runs the program there, and brings out what is left.
/// The disk is gone with the process, however that ends.
const ON_A_DISK: &str = r#"
set -e
machine=${1%/} disk=$2 room=$3; shift 3
mount -t tmpfs -o size=1g,mode=700 tmpfs "$disk"
cp -a "$machine/." "$disk"
mount --bind "$disk" "$machine"
used=$(df -k --output=used "$disk" | tail -n 1)
mount -o remount,size=$((used + room))k "$disk"
cd "$machine/home"
"$@" || true
cd /
umount "$machine"
find "$machine" -mindepth 1 -delete
cp -a "$disk/." "$machine"
"#;

/// The ways to a disk of one's own: as root, and in a name space of one's own.
const UNSHARE: [&[&str]; 2] = [&["--mount"], &["--user", "--map-root-user", "--mount"]];

fn unshare() -> Option<&'static [&'static str]> {
    let try_it = |way: &&&'static [&'static str]| {
        let script = "mount -t tmpfs tmpfs /mnt && umount /mnt";
        let mut unshare = Command::new("unshare");
        unshare.args(**way).args(["--propagation", "private", "sh", "-c", script]);
        unshare.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        unshare.status().is_ok_and(|status| status.success())
    };
    UNSHARE.iter().find(try_it).copied()
}

/// Whether this machine lets a test have a disk.
pub(crate) fn can_be_full() -> bool {
    unshare().is_some()
}

/// Tries it in a process on a disk with some room, or hardly any, which goes on reading, and looks at what is left.
pub(crate) fn full(trial: Trial) -> Outcome {
    let Trial { machine, client, before, attempt, mut random } = trial;
    drop(client.finish());
    let disk = tempfile::tempdir().unwrap();
    let serve = machine.command(&["serve"]);
    let mut command = Command::new("unshare");
    command.env_clear().envs(serve.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.args(unshare().unwrap()).args(["--propagation", "private", "sh", "-c", ON_A_DISK, "sh"]);
    command.args([machine.place("").as_path(), disk.path()]).arg((4 * (random.of_any_size(8) - 1)).to_string());
    command.arg(serve.get_program()).args(serve.get_args());
    let mut client = Client::start(command);
    let answer = client.call(attempt.method, &attempt.params);
    before.compare_sessions(&Stand::read(&mut client), &attempt, Some(&answer));
    drop(client.finish());
    outcome::look(&machine, &before, &attempt, Some(&answer))
}
