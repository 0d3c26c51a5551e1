//! Tools of the agent and the common vocabulary, both ways.
//!
//! What is known of the agent's tools: `exec{command,workdir?}`, `read{file_path}`,
//! `edit{file_path,old_string,new_string}`, `write{file_path,content}`, `grep{pattern}`, `webfetch{url}`,
//! `run_subagent{title,task,profile}`. Which part of a file is read and where is searched has no
//! known name there and keeps the common one: the model is told of it in either case.

use sepia_ir::ToolUse;
use sepia_sdk::json::{Flag, List, Object, Str, members, parse};
use sepia_sdk::metadata::Members;

/// Arguments of a call. A call is translated only when each of them is taken.
struct Arguments<'a> {
    members: Object<'a>,
    taken: usize,
}

impl<'a> Arguments<'a> {
    /// None when they are no object, or one with a name twice.
    fn of(json: &'a str) -> Option<Self> {
        let members: Object<'a> = if json.trim_start().starts_with('{') { parse(json).ok()? } else { return None };
        let again = |(at, (name, _)): (usize, &(std::borrow::Cow<'_, str>, _))| {
            members.0[..at].iter().any(|(earlier, _)| earlier == name)
        };
        if members.0.iter().enumerate().any(again) {
            return None;
        }
        Some(Self { members, taken: 0 })
    }

    /// A text that has to be there.
    fn text(&mut self, name: &str) -> Option<String> {
        let text = parse::<Str<'_>>(self.members.get(name)?.get()).ok()?.take_owned()?;
        self.taken += 1;
        Some(text)
    }

    /// Hands on a text that may be there, under another name; none when there is something else.
    fn maybe(&mut self, name: &str, to: &mut Members, as_name: &str) -> Option<()> {
        if self.members.get(name).is_some() {
            to.text(as_name, &self.text(name)?);
        }
        Some(())
    }

    /// A value that may be there, as it is.
    fn raw(&mut self, name: &str, to: &mut Members, as_name: &str) {
        if let Some(value) = self.members.get(name) {
            to.raw(as_name, value.get());
            self.taken += 1;
        }
    }

    /// Passes over a member that changes nothing of what a call does.
    fn aside(&mut self, name: &str) {
        self.taken += usize::from(self.members.get(name).is_some());
    }

    /// Whether all was taken.
    fn whole(&self) -> bool {
        self.taken == self.members.0.len()
    }
}

fn made(name: &str, members: Members) -> ToolUse {
    ToolUse { name: name.to_owned(), arguments: members.finish() }
}

/// A call of the agent in the common form.
pub(crate) fn common(call: &ToolUse) -> Option<ToolUse> {
    let mut from = Arguments::of(&call.arguments)?;
    let mut to = Members::default();
    let name = match call.name.as_str() {
        "exec" => {
            to.text("command", &from.text("command")?);
            from.maybe("workdir", &mut to, "cwd")?;
            "run"
        }
        "read" => {
            to.text("path", &from.text("file_path")?);
            from.raw("offset", &mut to, "offset");
            from.raw("limit", &mut to, "limit");
            "read"
        }
        "write" => {
            to.text("path", &from.text("file_path")?);
            to.text("content", &from.text("content")?);
            "write"
        }
        "edit" => {
            to.text("path", &from.text("file_path")?);
            let mut edit = Members::default();
            edit.text("old", &from.text("old_string")?);
            edit.text("new", &from.text("new_string")?);
            to.list("edits", &[edit.finish()]);
            "edit"
        }
        "grep" => {
            to.text("pattern", &from.text("pattern")?);
            from.raw("path", &mut to, "path");
            from.raw("glob", &mut to, "glob");
            "search"
        }
        "webfetch" => {
            to.text("url", &from.text("url")?);
            "fetch"
        }
        "run_subagent" => {
            from.maybe("title", &mut to, "description")?;
            to.text("prompt", &from.text("task")?);
            from.maybe("profile", &mut to, "agent")?;
            "task"
        }
        _ => return None,
    };
    from.whole().then(|| made(name, to))
}

members! {
    Edit {
        old: Str<'a> = "old",
        new: Str<'a> = "new",
        all: Flag = "all",
    }
}

/// A common call as one of the agent's.
pub(crate) fn own(call: &ToolUse) -> Option<ToolUse> {
    let mut from = Arguments::of(&call.arguments)?;
    let mut to = Members::default();
    let name = match call.name.as_str() {
        "run" => {
            to.text("command", &from.text("command")?);
            from.maybe("cwd", &mut to, "workdir")?;
            from.aside("description");
            from.aside("timeoutMs");
            "exec"
        }
        "read" => {
            to.text("file_path", &from.text("path")?);
            from.raw("offset", &mut to, "offset");
            from.raw("limit", &mut to, "limit");
            "read"
        }
        "write" => {
            to.text("file_path", &from.text("path")?);
            to.text("content", &from.text("content")?);
            "write"
        }
        "edit" => {
            to.text("file_path", &from.text("path")?);
            let List { mut items, odd } = parse::<List<Edit<'_>>>(from.members.get("edits")?.get()).ok()?;
            from.taken += 1;
            // One change a call, of one place.
            let (true, Some(mut edit)) = (items.len() == 1 && !odd, items.pop()) else { return None };
            if edit.odd || edit.all.0 {
                return None;
            }
            to.text("old_string", &edit.old.take_owned()?);
            to.text("new_string", &edit.new.take_owned()?);
            "edit"
        }
        "search" => {
            to.text("pattern", &from.text("pattern")?);
            from.raw("path", &mut to, "path");
            from.raw("glob", &mut to, "glob");
            "grep"
        }
        "fetch" => {
            to.text("url", &from.text("url")?);
            // What to look for on the page; the page comes back whole.
            from.aside("prompt");
            "webfetch"
        }
        "task" => {
            from.maybe("description", &mut to, "title")?;
            to.text("task", &from.text("prompt")?);
            from.maybe("agent", &mut to, "profile")?;
            "run_subagent"
        }
        _ => return None,
    };
    from.whole().then(|| made(name, to))
}
