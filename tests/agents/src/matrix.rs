//! The proof: every sample session of every agent, converted to an agent whose program is
//! there, resumed by it, and compared with what the source holds.

use crate::Failed;
use crate::conversation::{Verdict, compare, of_session};
use crate::machine::Machine;
use crate::options::Options;
use crate::programs::Program;
use crate::report::Report;
use crate::resume::Resumer;
use crate::samples::{SAMPLES, Sample};
use crate::say;
use crate::sepia::{Converted, Sepia};
use sepia_ir::{LossKind, Session};
use std::collections::HashSet;

/// An agent, and the programs that resume its sessions.
const TARGETS: &[(&str, &[Program])] =
    &[("claude", &[Program::ClaudeCode, Program::ClaudeAgentAcp]), ("cline", &[Program::Cline])];

/// Converts and resumes what the options ask for.
pub(crate) fn prove(options: &Options, sepia: &Sepia, resumer: &Resumer) -> Result<Report, Failed> {
    let folder = options.folder.join("machines");
    sepia.can_convert(&Machine::empty(&folder)?)?;
    let mut report = Report::default();
    for sample in SAMPLES.iter().filter(|sample| options.has_source(sample.agent)) {
        for (target, programs) in TARGETS.iter().filter(|(target, _)| options.has_target(target)) {
            let machine = Machine::empty(&folder)?;
            sample.put(&options.data, &machine)?;
            let pair = Pair { sample, target, programs, machine: &machine, sepia, resumer };
            pair.prove(&mut report);
            if options.keep {
                say(&format!("    kept: {}", machine.keep()));
            }
        }
    }
    Ok(report)
}

/// A store, and the agent that its sessions are carried to.
struct Pair<'a> {
    sample: &'a Sample,
    target: &'a str,
    programs: &'a [Program],
    machine: &'a Machine,
    sepia: &'a Sepia,
    resumer: &'a Resumer,
}

impl Pair<'_> {
    fn prove(&self, report: &mut Report) {
        let store = format!("{} {}", self.sample.agent, self.sample.name);
        match self.sepia.sessions(self.machine, self.sample.agent) {
            Err(e) => report.add(&store, self.target, Err(e)),
            Ok(ids) => ids.iter().for_each(|id| self.carry(&format!("{store} {id}"), id, report)),
        }
    }

    /// Converts one session, and resumes it with each program of the target.
    fn carry(&self, label: &str, id: &str, report: &mut Report) {
        let agent = self.sample.agent;
        let session = match self.sepia.session(self.machine, agent, id) {
            Ok(session) => session,
            Err(e) => return report.add(label, self.target, Err(e)),
        };
        if of_session(&session).0.is_empty() {
            return say(&format!("{label} -> {}: nothing was said in it", self.target));
        }
        let converted = self.sepia.convert(self.machine, agent, &session, self.target);
        match converted.and_then(|converted| self.is_resumable(&converted).map(|()| converted)) {
            Err(e) => report.add(label, self.target, Err(e)),
            Ok(converted) => self.programs.iter().for_each(|program| {
                report.add(label, program.label(), self.resume(&session, &converted, *program));
            }),
        }
    }

    /// The command that is printed for people names the session, and is run where it was held.
    fn is_resumable(&self, converted: &Converted) -> Result<(), Failed> {
        let resume = &converted.resume;
        if !resume.command.iter().any(|argument| argument.contains(&converted.session_id)) {
            return Err(format!("the command {:?} does not name {}", resume.command, converted.session_id).into());
        }
        let cwd = self.machine.cwd().to_string_lossy();
        if resume.working_directory != cwd {
            return Err(format!("it is to be resumed in `{}`, not in `{cwd}`", resume.working_directory).into());
        }
        Ok(())
    }

    fn resume(&self, source: &Session, converted: &Converted, program: Program) -> Result<Verdict, Failed> {
        let shown = self.resumer.resume(program, &converted.session_id, self.machine)?;
        let (wanted, left) = of_session(source);
        let lost: HashSet<i64> = converted
            .losses
            .iter()
            .filter(|loss| loss.kind != LossKind::Mapped)
            .filter_map(|loss| loss.node_id)
            .collect();
        Ok(compare(&wanted, &left, &shown, &lost))
    }
}
