//! Whether a model is shown what was said before, in its order.

use super::script::{ALLOWED, CANCELLED, FIRST, LAST, NEXT, REFUSED, Turn, Writing};
use crate::Failed;
use crate::conversation::Part;
use crate::machine::Machine;
use crate::programs::Program;

/// Fails with the first part that is not there after the one before it.
pub(super) fn all(shown: &[Part], program: Program, machine: &Machine) -> Result<usize, Failed> {
    let wanted = wanted(program, machine);
    let mut rest = shown.iter();
    for part in &wanted {
        if !rest.any(|shown| holds(shown, part)) {
            return Err(format!("the model was not shown {part:?} in its place; it was shown {shown:?}").into());
        }
    }
    Ok(wanted.len())
}

fn wanted(program: Program, machine: &Machine) -> Vec<Part> {
    let turn = |turn: &Turn| [Part::User(turn.prompt.to_owned()), Part::Assistant(turn.said.to_owned())];
    let writing = |writing: &Writing| {
        let (name, arguments) = writing.tool(program, machine);
        let id = writing.call.to_owned();
        let [asked, said] = turn(&writing.turn);
        let call = Part::Call { id: id.clone(), name: name.to_owned(), arguments };
        [asked, call, Part::Result { id, text: String::new() }, said]
    };
    let mut wanted: Vec<Part> = turn(&FIRST).into();
    wanted.extend(writing(&ALLOWED));
    wanted.extend(writing(&REFUSED));
    wanted.push(Part::User(CANCELLED.prompt.to_owned()));
    wanted.extend(turn(&NEXT));
    wanted.push(Part::User(LAST.prompt.to_owned()));
    wanted
}

/// Texts may have more around them; what a tool gave is its own affair.
fn holds(shown: &Part, wanted: &Part) -> bool {
    match (shown, wanted) {
        (Part::User(shown), Part::User(wanted)) | (Part::Assistant(shown), Part::Assistant(wanted)) => {
            shown.contains(wanted.as_str())
        }
        (Part::Result { id: shown, .. }, Part::Result { id: wanted, .. }) => shown == wanted,
        (shown, wanted) => shown == wanted,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

    use super::*;

    #[test]
    fn what_is_missing_or_out_of_order_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let machine = Machine::empty(folder.path()).unwrap();
        let whole = wanted(Program::Cline, &machine);
        assert_eq!(all(&whole, Program::Cline, &machine).unwrap(), whole.len());
        for at in 0..whole.len() {
            let mut cut = whole.clone();
            cut.remove(at);
            assert!(all(&cut, Program::Cline, &machine).is_err(), "{at} was taken away");
        }
        let mut turned = whole.clone();
        turned.swap(0, 1);
        let error = all(&turned, Program::Cline, &machine).unwrap_err().to_string();
        assert!(error.contains("The first colour is red."), "{error}");
    }
}
