//! How many tests passed and failed, read from the summaries that the runners print.

/// Tests by outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Count {
    pub(super) passed: u64,
    /// Failed, timed out, or could not be started.
    pub(super) failed: u64,
    pub(super) ignored: u64,
}

impl Count {
    /// Adds the summaries in the output of a runner: nextest prints one, libtest one a binary.
    pub(super) fn add(&mut self, output: &str) {
        for line in output.lines().map(without_colour) {
            let line = line.trim_start();
            if let Some(summary) = line.strip_prefix("test result:") {
                // ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s
                self.add_parts(summary.split_once(". ").map_or(summary, |(_, parts)| parts).split("; "));
            } else if let (true, Some((_, parts))) = (line.starts_with("Summary ["), line.split_once("run: ")) {
                // Summary [   1.2s] 7 tests run: 5 passed (1 slow), 1 failed, 1 timed out, 2 skipped
                self.add_parts(parts.split(", "));
            }
        }
    }

    fn add_parts<'a>(&mut self, parts: impl Iterator<Item = &'a str>) {
        for part in parts {
            let Some((number, what)) = part.trim().split_once(' ') else { continue };
            let Ok(number) = number.parse::<u64>() else { continue };
            if what.starts_with("passed") {
                self.passed += number;
            } else if ["failed", "timed out", "exec failed"].iter().any(|kind| what.starts_with(kind)) {
                self.failed += number;
            } else if what.starts_with("ignored") || what.starts_with("skipped") {
                self.ignored += number;
            }
        }
    }
}

/// A line without the sequences that colour it.
fn without_colour(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, sequence)) = rest.split_once("\x1b[") {
        plain.push_str(before);
        rest = sequence.split_once(|c: char| c.is_ascii_alphabetic()).map_or("", |(_, after)| after);
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(output: &str) -> (u64, u64, u64) {
        let mut count = Count::default();
        count.add(output);
        (count.passed, count.failed, count.ignored)
    }

    #[test]
    fn libtest_prints_one_summary_a_binary() {
        let output = "test a ... ok\n\
             test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
             test result: FAILED. 2 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s\n";
        assert_eq!(counted(output), (7, 3, 1));
    }

    #[test]
    fn nextest_prints_one_summary_with_what_went_wrong() {
        let plain =
            "     Summary [   0.012s] 9 tests run: 6 passed (1 slow, 2 leaky), 1 failed, 2 timed out, 4 skipped\n";
        assert_eq!(counted(plain), (6, 3, 4));
        let coloured = "\x1b[32;1m     Summary\x1b[0m [   0.012s] \x1b[1m9\x1b[0m tests run: \x1b[1m8\x1b[0m \x1b[32;1mpassed\x1b[0m, \x1b[1m1\x1b[0m \x1b[31;1mexec failed\x1b[0m, \x1b[1m0\x1b[0m \x1b[33;1mskipped\x1b[0m\n";
        assert_eq!(counted(coloured), (8, 1, 0));
        assert_eq!(counted("     Summary [   0.0s] 3/9 tests run: 2 passed, 1 failed, 0 skipped\n"), (2, 1, 0));
    }

    #[test]
    fn a_runner_that_never_came_to_its_summary_counts_nothing() {
        assert_eq!(counted("error: could not compile `x`\n"), (0, 0, 0));
    }
}
