//! The files that a call names, and the changes that it asks for.

use sepia_ir::{Diff, Location};
use sepia_sdk::json::{Number, Raw, Str, members, text_of};
use std::borrow::Cow;

members! {
    /// What file tools are called with.
    Called {
        path: Str<'a> = "path",
        files: Raw<'a> = "files",
        start_line: Number = "start_line",
        insert_line: Number = "insert_line",
        old_text: Raw<'a> = "old_text",
        new_text: Raw<'a> = "new_text",
        /// `apply_patch`.
        input: Str<'a> = "input",
        patch: Str<'a> = "patch",
        /// Older tasks.
        content: Raw<'a> = "content",
    }
}

fn input(arguments: &str) -> Option<Called<'_>> {
    serde_json::from_str(arguments).ok()
}

/// The files that a call names.
pub(crate) fn locations(tool: &str, arguments: &str) -> Vec<Location> {
    match tool {
        "read_files" => {
            let Some(files) = input(arguments).and_then(|input| input.files) else { return Vec::new() };
            let files = serde_json::from_str::<Vec<Called<'_>>>(files.get()).unwrap_or_default();
            files.iter().filter_map(location).collect()
        }
        "editor" | "read_file" | "write_to_file" | "replace_in_file" | "list_files" | "search_files" => {
            input(arguments).as_ref().and_then(location).into_iter().collect()
        }
        "apply_patch" => {
            let mut places: Vec<Location> = Vec::new();
            for path in
                patch(arguments).iter().flat_map(|patch| patch.lines().filter_map(Part::of)).map(|part| part.path)
            {
                if !path.is_empty() && places.iter().all(|place| place.path != path) {
                    places.push(Location { path, line: None });
                }
            }
            places
        }
        _ => Vec::new(),
    }
}

fn location(input: &Called<'_>) -> Option<Location> {
    let line = [input.start_line.0, input.insert_line.0].into_iter().flatten().find(|line| *line >= 1.0);
    #[expect(clippy::cast_possible_truncation, reason = "a float becomes the nearest whole number")]
    Some(Location { path: input.path.filled()?.to_owned(), line: line.map(|line| line as i64) })
}

/// The changes that a call made, if it worked.
pub(crate) fn diffs(tool: &str, arguments: &str) -> Vec<Diff> {
    match tool {
        "editor" | "write_to_file" => edited(arguments).into_iter().collect(),
        "apply_patch" => patched(arguments),
        _ => Vec::new(),
    }
}

fn edited(arguments: &str) -> Option<Diff> {
    let input = input(arguments)?;
    let new_text = text_of(input.new_text.or(input.content)).map(Cow::into_owned)?;
    let old_text = text_of(input.old_text).map(Cow::into_owned).filter(|old| !old.is_empty());
    // A line put in between others replaces nothing, but the file was there.
    let old_text = old_text.or_else(|| input.insert_line.0.map(|_| String::new()));
    Some(Diff { path: input.path.filled()?.to_owned(), old_text, new_text: Some(new_text) })
}

fn patch(arguments: &str) -> Option<String> {
    let mut input = input(arguments)?;
    let patch = input.input.take().or_else(|| input.patch.take())?;
    Some(patch.into_owned()).filter(|patch| !patch.is_empty())
}

/// The changes in a patch of the form `*** Update File: …`: one for each place that it changes.
fn patched(arguments: &str) -> Vec<Diff> {
    let Some(patch) = patch(arguments) else { return Vec::new() };
    let mut diffs: Vec<Diff> = Vec::new();
    let mut part: Option<Part> = None;
    for line in patch.lines() {
        if line.starts_with("*** ") {
            diffs.extend(part.take().and_then(Part::finish));
            part = Part::of(line);
        } else if line.starts_with("@@") {
            let path = part.as_ref().map(|part| (part.path.clone(), part.kind));
            diffs.extend(part.take().and_then(Part::finish));
            part = path.map(|(path, kind)| Part::new(path, kind));
        } else if let Some(part) = &mut part {
            part.line(line);
        }
    }
    diffs.extend(part.and_then(Part::finish));
    diffs
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Add,
    Update,
    Delete,
}

struct Part {
    path: String,
    kind: Kind,
    old: String,
    new: String,
}

impl Part {
    fn of(line: &str) -> Option<Self> {
        let header = line.strip_prefix("*** ")?;
        let kinds = [("Add File: ", Kind::Add), ("Update File: ", Kind::Update), ("Delete File: ", Kind::Delete)];
        kinds.iter().find_map(|(name, kind)| Some(Self::new(header.strip_prefix(name)?.trim().to_owned(), *kind)))
    }

    fn new(path: String, kind: Kind) -> Self {
        Self { path, kind, old: String::new(), new: String::new() }
    }

    fn line(&mut self, line: &str) {
        let push = |side: &mut String, text: &str| {
            side.push_str(text);
            side.push('\n');
        };
        match line.as_bytes().first() {
            Some(b'+') => push(&mut self.new, &line[1..]),
            Some(b'-') => push(&mut self.old, &line[1..]),
            Some(b' ') => {
                push(&mut self.old, &line[1..]);
                push(&mut self.new, &line[1..]);
            }
            _ => {}
        }
    }

    /// What it says of a file; nothing when it changes none of it.
    fn finish(self) -> Option<Diff> {
        let Self { path, kind, old, new } = self;
        match kind {
            _ if path.is_empty() => None,
            Kind::Add => Some(Diff { path, old_text: None, new_text: Some(new) }),
            // What was in a file that is deleted is mostly not said, and then nothing can be told.
            Kind::Delete if old.is_empty() => None,
            Kind::Delete => Some(Diff { path, old_text: Some(old), new_text: None }),
            Kind::Update if old == new => None,
            Kind::Update => Some(Diff { path, old_text: Some(old), new_text: Some(new) }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{diffs, locations};
    use sepia_ir::{Diff, Location};

    fn diff(path: &str, old: Option<&str>, new: Option<&str>) -> Diff {
        Diff { path: path.into(), old_text: old.map(str::to_owned), new_text: new.map(str::to_owned) }
    }

    #[test]
    fn an_edit_without_old_text_makes_a_file() {
        assert_eq!(diffs("editor", r#"{"path":"/a","new_text":"x\n"}"#), [diff("/a", None, Some("x\n"))]);
        let replaced = r#"{"path":"/a","old_text":"x","new_text":"y"}"#;
        assert_eq!(diffs("editor", replaced), [diff("/a", Some("x"), Some("y"))]);
        assert_eq!(diffs("editor", r#"{"path":7}"#), []);
        assert_eq!(diffs("run_commands", replaced), []);
    }

    #[test]
    fn a_patch_is_a_change_for_each_place() {
        let patch = "*** Begin Patch\n*** Update File: a.py\n@@ def f\n x\n-y\n+z\n@@ def g\n-1\n+2\n*** Add File: b\n+new\n*** Delete File: c\n*** End Patch";
        let arguments = serde_json::json!({ "input": patch }).to_string();
        assert_eq!(
            diffs("apply_patch", &arguments),
            [
                diff("a.py", Some("x\ny\n"), Some("x\nz\n")),
                diff("a.py", Some("1\n"), Some("2\n")),
                diff("b", None, Some("new\n")),
            ]
        );
        let places: Vec<String> = locations("apply_patch", &arguments).into_iter().map(|place| place.path).collect();
        assert_eq!(places, ["a.py", "b", "c"]);
    }

    #[test]
    fn files_are_named_with_their_lines() {
        let arguments = r#"{"files":[{"path":"/a"},{"path":"/b","start_line":3,"end_line":4},{"x":1},5]}"#;
        let place = |path: &str, line| Location { path: path.into(), line };
        assert_eq!(locations("read_files", arguments), [place("/a", None), place("/b", Some(3))]);
    }
}
