//! The proof of the proof, without anything converted: sessions written by hand are resumed
//! whole, one with a part taken away is found out, and sample stores are resumed by the programs
//! that made them, compared with what `sepia` reads in them.

use crate::Failed;
use crate::by_hand;
use crate::conversation::{Part, Verdict, compare, of_session};
use crate::machine::Machine;
use crate::options::Options;
use crate::programs::Program;
use crate::report::Report;
use crate::resume::Resumer;
use crate::samples::SAMPLES;
use crate::say;
use crate::sepia::Sepia;
use std::collections::HashSet;
use std::fs;

/// What a program resumes, and the tool that a session by hand calls.
const CHECKS: &[(Program, &str, &str)] = &[
    (Program::ClaudeCode, "claude", "Bash"),
    (Program::ClaudeAgentAcp, "claude", "Bash"),
    (Program::Cline, "cline", "run_commands"),
];

/// Checks the programs that the options ask for.
pub(crate) fn prove(options: &Options, sepia: &Sepia, resumer: &Resumer) -> Result<Report, Failed> {
    let mut report = Report::default();
    for (program, agent, tool) in CHECKS.iter().filter(|(_, agent, _)| options.has_target(agent)) {
        let check = Check { program: *program, agent, options, resumer };
        let whole = by_hand::conversation(tool);
        report.add("by hand, whole", program.label(), check.by_hand(&whole, &whole));
        let mut cut = whole.clone();
        let taken = cut.remove(6);
        report.add("by hand, one answer taken away", program.label(), check.finds_out(&whole, &cut, &taken));
        check.samples(sepia, &mut report)?;
    }
    Ok(report)
}

struct Check<'a> {
    program: Program,
    agent: &'a str,
    options: &'a Options,
    resumer: &'a Resumer,
}

impl Check<'_> {
    fn machine(&self) -> Result<Machine, Failed> {
        Machine::empty(&self.options.folder.join("machines"))
    }

    fn done(&self, machine: Machine) {
        if self.options.keep {
            say(&format!("    kept: {}", machine.keep()));
        }
    }

    /// Resumes what is written, and compares with what is wanted.
    fn by_hand(&self, wanted: &[Part], written: &[Part]) -> Result<Verdict, Failed> {
        let machine = self.machine()?;
        let session = match self.program {
            Program::ClaudeCode | Program::ClaudeAgentAcp => {
                by_hand::claude(&machine, written)?;
                by_hand::CLAUDE_ID
            }
            Program::Cline => {
                by_hand::cline(&machine, written)?;
                by_hand::CLINE_ID
            }
        };
        let shown = self.resumer.resume(self.program, session, &machine)?;
        self.done(machine);
        Ok(compare(&by_hand::wanted(wanted), &[], &shown, &HashSet::new()))
    }

    /// The part that was taken away, and nothing else, has to be missing.
    fn finds_out(&self, whole: &[Part], cut: &[Part], taken: &Part) -> Result<Verdict, Failed> {
        let mut verdict = self.by_hand(whole, cut)?;
        let Part::Assistant(text) = taken else { return Err("the part that is taken away is no answer".into()) };
        match verdict.faults.as_slice() {
            [one] if one.contains("missing: assistant text") && one.contains(text.as_str()) => {
                verdict.faults.clear();
                Ok(verdict)
            }
            faults => Err(format!("`{text}` was taken away, and this was found: {faults:?}").into()),
        }
    }

    /// Every session of the agent's own samples.
    fn samples(&self, sepia: &Sepia, report: &mut Report) -> Result<(), Failed> {
        for sample in SAMPLES.iter().filter(|sample| sample.agent == self.agent) {
            let machine = self.machine()?;
            sample.put(&self.options.data, &machine)?;
            // The index of this agent holds paths of another home; from the manifests, which are
            // moved with the copy, it is made anew.
            let index = machine.home().join(".cline/data/db");
            if index.exists() {
                fs::remove_dir_all(index)?;
            }
            for id in sepia.sessions(&machine, self.agent)? {
                let session = sepia.session(&machine, self.agent, &id)?;
                let (wanted, left) = of_session(&session);
                // What another session spawned is resumed by no program.
                if wanted.is_empty() || session.parent_session_id.is_some() {
                    continue;
                }
                let shown = self.resumer.resume(self.program, &id, &machine);
                let verdict = shown.map(|shown| compare(&wanted, &left, &shown, &HashSet::new()));
                report.add(&format!("{} {} {id}, as it is", self.agent, sample.name), self.program.label(), verdict);
            }
            self.done(machine);
        }
        Ok(())
    }
}
