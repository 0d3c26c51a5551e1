//! Help, version, wrong use.

use sepia_tests::Machine;

#[test]
fn every_command_describes_its_options() {
    let machine = Machine::empty();
    let commands: [(&[&str], &[&str]); 17] = [
        (
            &[],
            &[
                "list",
                "search",
                "show",
                "export",
                "pin",
                "unpin",
                "archive",
                "unarchive",
                "project",
                "serve",
                "driver",
                "doctor",
                "schema",
                "SEPIA_HOME",
                "SEPIA_DRIVER_DIR",
                "SEPIA_LOG",
            ],
        ),
        (
            &["list"],
            &[
                "--agent",
                "--cwd",
                "--since",
                "--limit",
                "--json",
                "--stats",
                "--locks",
                "--subagents",
                "--archived",
                "--project",
                "★",
            ],
        ),
        (
            &["search"],
            &[
                "<QUERY>",
                "--regex",
                "--ignore-case",
                "--in",
                "--agent",
                "--cwd",
                "--since",
                "--limit",
                "--hits",
                "--json",
            ],
        ),
        (&["show"], &["<ID>", "--agent", "--limit", "--all", "--full", "--json", "--no-pager"]),
        (&["export"], &["<ID>", "--agent", "--output", "-o", "--native"]),
        (&["pin"], &["<ID>", "--agent"]),
        (&["archive"], &["<ID>", "--agent"]),
        (&["project"], &["list", "create", "rename", "delete", "add", "remove"]),
        (&["project", "add"], &["<PROJECT>", "<SESSION>", "--agent"]),
        (&["project", "list"], &["--json"]),
        (&["serve"], &["JSON-RPC"]),
        (&["driver"], &["list", "allow", "revoke"]),
        (&["driver", "list"], &["--json"]),
        (&["driver", "allow"], &["<ID>"]),
        (&["driver", "revoke"], &["<ID>"]),
        (&["doctor"], &["missing"]),
        (&["schema"], &["JSON Schema"]),
    ];
    for (command, named) in commands {
        let said = machine.run(&[command, &["--help"]].concat()).ok();
        for name in named {
            assert!(said.contains(name), "{name} in the help of {command:?}:\n{said}");
        }
        assert!(said.lines().all(|line| line.chars().count() <= 120), "{said}");
        assert_eq!(machine.run(&[command, &["-h"]].concat()).code(), 0);
    }
}

#[test]
fn the_version_is_one_line() {
    let said = Machine::empty().run(&["--version"]).ok();
    assert!(said.starts_with(&format!("sepia {}", env!("CARGO_PKG_VERSION"))), "{said}");
    assert_eq!(said.lines().count(), 1);
    assert_eq!(Machine::empty().run(&["-V"]).ok(), said);
}

#[test]
fn wrong_use_is_told_on_stderr() {
    let machine = Machine::empty();
    let wrong: [&[&str]; 9] = [
        &[],
        &["frobnicate"],
        &["list", "--limit", "x"],
        &["list", "--limit", "-1"],
        &["list", "--nope"],
        &["show"],
        &["export"],
        &["driver"],
        &["serve", "now"],
    ];
    for arguments in wrong {
        let ran = machine.run(arguments);
        assert_eq!((ran.code(), ran.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(ran.stderr.contains("--help"), "{arguments:?}: {}", ran.stderr);
    }
}
