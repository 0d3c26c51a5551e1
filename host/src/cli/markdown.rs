//! A session as Markdown, to be read elsewhere: its live branch, in order.

use super::time;
use crate::text::{clean_line, clean_text};
use sepia_ir::{Block, MessageNode, Role, Session, ToolCallStatus};
use std::io::{self, Write};

/// What session it is.
pub(super) fn header(out: &mut impl Write, session: &Session) -> io::Result<()> {
    writeln!(out, "# {}\n", plain(&session.title, 400))?;
    let facts = [
        ("agent", session.backend_type.clone()),
        ("directory", session.working_directory.clone()),
        ("model", session.model.clone()),
        ("from", time::local(session.created_at, "%Y-%m-%d %H:%M")),
        ("to", time::local(session.last_activity_at, "%Y-%m-%d %H:%M")),
        ("session", session.id.clone()),
    ];
    for (name, fact) in facts.iter().filter(|(_, fact)| !fact.is_empty()) {
        writeln!(out, "- {name}: {}", plain(fact, 4096))?;
    }
    Ok(())
}

/// One message.
pub(super) fn node(out: &mut impl Write, node: &MessageNode) -> io::Result<()> {
    let clock = time::local(node.created_at, "%H:%M:%S");
    match node.role {
        Role::Tool => {
            let name = plain(node.tool_name.as_deref().unwrap_or("tool"), 120);
            let outcome = match node.tool_result.as_ref().map(|result| (result.status, result.exit_code)) {
                Some((ToolCallStatus::Error, Some(code))) => format!(" (failed, exit {code})"),
                Some((ToolCallStatus::Error, None)) => " (failed)".to_owned(),
                _ => String::new(),
            };
            writeln!(out, "\n### Result of {name}{outcome}\n")?;
            return fenced(out, "", &clean_text(&node.content, usize::MAX));
        }
        Role::User => writeln!(out, "\n## User, {clock}\n")?,
        Role::Assistant => writeln!(out, "\n## Assistant, {clock}\n")?,
        Role::System => writeln!(out, "\n## System, {clock}\n")?,
    }
    if let Some(thinking) = &node.thinking {
        for line in clean_text(thinking, usize::MAX).lines() {
            writeln!(out, "> {line}")?;
        }
        writeln!(out)?;
    }
    // What was said is Markdown mostly, and stays as it is.
    if !node.content.is_empty() {
        writeln!(out, "{}", clean_text(&node.content, usize::MAX))?;
    }
    for block in &node.blocks {
        let what = match block {
            Block::Text(_) => continue,
            Block::Image(image) => ("image", image.mime_type.as_deref()),
            Block::Audio(audio) => ("audio", audio.mime_type.as_deref()),
            Block::File(file) => ("file", file.name.as_deref().or(file.mime_type.as_deref())),
        };
        writeln!(out, "\n*[{} {}]*", what.0, plain(what.1.unwrap_or_default(), 200))?;
    }
    for call in &node.tool_calls {
        writeln!(out, "\n### {}\n", plain(&call.name, 120))?;
        fenced(out, "json", &clean_text(&call.arguments, usize::MAX))?;
    }
    Ok(())
}

/// Text between fences that are longer than any run of backticks in it.
fn fenced(out: &mut impl Write, language: &str, text: &str) -> io::Result<()> {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    writeln!(out, "{fence}{language}\n{}\n{fence}", text.trim_end_matches('\n'))
}

/// One line in which nothing is taken for Markdown.
fn plain(text: &str, most: usize) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in clean_line(text, most).chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|') {
            plain.push('\\');
        }
        plain.push(c);
    }
    plain
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use sepia_ir::ToolResult;

    fn text(message: &MessageNode) -> String {
        let mut out = Vec::new();
        node(&mut out, message).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_result_can_not_leave_its_fence() {
        let mut message = MessageNode::new(1, Role::Tool, 0.0);
        message.content = "a\n```\n# not a heading\n````\n".into();
        message.tool_name = Some("Run_it".into());
        message.tool_result = Some(ToolResult { status: ToolCallStatus::Error, exit_code: Some(3), duration_ms: None });
        let expected = "\n### Result of Run\\_it (failed, exit 3)\n\n`````\na\n```\n# not a heading\n````\n`````\n";
        assert_eq!(text(&message), expected);
    }

    #[test]
    fn a_title_is_one_line_of_text() {
        let mut session = Session::new("id", "agent");
        session.title = "# <b>`x`\u{1b}[2J".into();
        let mut out = Vec::new();
        header(&mut out, &session).unwrap();
        assert!(String::from_utf8(out).unwrap().starts_with("# \\# \\<b\\>\\`x\\`"));
    }
}
