//! Tables: aligned and cut to the width of a terminal, tab-separated and whole elsewhere.

use super::output;
use comfy_table::{Table, presets};
use std::borrow::Cow;
use std::io::{self, Write};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A column.
pub(super) struct Column {
    pub(super) title: &'static str,
    /// Whether it gives up width when the terminal is narrow, and how far.
    pub(super) shrinks_to: Option<usize>,
}

impl Column {
    pub(super) const fn fixed(title: &'static str) -> Self {
        Self { title, shrinks_to: None }
    }

    pub(super) const fn shrinking(title: &'static str, least: usize) -> Self {
        Self { title, shrinks_to: Some(least) }
    }
}

const GAP: usize = 2;

/// Prints a table whose cells are clean already.
pub(super) fn print(
    out: &mut impl Write,
    columns: &[Column],
    rows: impl IntoIterator<Item = Vec<String>>,
) -> io::Result<()> {
    if !output::is_terminal() {
        return rows.into_iter().try_for_each(|row| writeln!(out, "{}", row.join("\t")));
    }
    let rows: Vec<Vec<String>> = rows.into_iter().collect();
    print_aligned(out, columns, &rows, output::width())
}

fn print_aligned(out: &mut impl Write, columns: &[Column], rows: &[Vec<String>], width: usize) -> io::Result<()> {
    let widths = widths(columns, rows, width);
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let cut_row = |cells: &mut dyn Iterator<Item = &str>| -> Vec<String> {
        cells.zip(&widths).map(|(cell, width)| cut(cell, *width).into_owned()).collect()
    };
    table.set_header(cut_row(&mut columns.iter().map(|column| column.title)));
    for row in rows {
        table.add_row(cut_row(&mut row.iter().map(String::as_str)));
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    for line in table.lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// A column of fewer characters than this tells nothing.
const LEAST: usize = 3;

/// The width of each column: as wide as its cells. When the terminal is too narrow the widest
/// gives way first: the shrinking ones down to their least, then below it, then all of them,
/// so that no line is ever wider than the terminal.
fn widths(columns: &[Column], rows: &[Vec<String>], width: usize) -> Vec<usize> {
    let mut widths: Vec<usize> = columns.iter().map(|column| column.title.width()).collect();
    for row in rows {
        for (known, cell) in widths.iter_mut().zip(row) {
            *known = (*known).max(cell.width());
        }
    }
    let room = width.saturating_sub(GAP * columns.len());
    let steps: [fn(&Column) -> Option<usize>; 4] =
        [|c| c.shrinks_to, |c| c.shrinks_to.map(|_| LEAST), |_| Some(LEAST), |_| Some(1)];
    for least_of in steps {
        while widths.iter().sum::<usize>() > room {
            let least = |column| least_of(column).unwrap_or(usize::MAX);
            let shrinkable = columns.iter().zip(&mut widths).filter(|(column, width)| **width > least(column));
            let Some((_, widest)) = shrinkable.max_by_key(|(_, width)| **width) else { break };
            *widest -= 1;
        }
    }
    widths
}

/// Cut to a width, with an ellipsis where something is gone.
pub(super) fn cut(text: &str, width: usize) -> Cow<'_, str> {
    if text.width() <= width {
        return Cow::Borrowed(text);
    }
    let (mut used, mut kept) = (0, String::new());
    for character in text.chars() {
        let wide = character.width().unwrap_or(0);
        if used + wide + 1 > width {
            break;
        }
        used += wide;
        kept.push(character);
    }
    kept.push('…');
    Cow::Owned(kept)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_narrow_terminal_takes_from_what_can_shrink() {
        let columns = [Column::fixed("ID"), Column::shrinking("TITLE", 5), Column::fixed("AGE")];
        let rows = vec![vec!["12345678".to_owned(), "a rather long title of 日本語".to_owned(), "1m".to_owned()]];
        let mut out = Vec::new();
        print_aligned(&mut out, &columns, &rows, 30).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.lines().collect::<Vec<_>>(), ["ID        TITLE          AGE", "12345678  a rather lon…  1m"]);
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let columns = [
            Column::fixed("ID"),
            Column::fixed("AGENT"),
            Column::fixed("ACTIVE"),
            Column::shrinking("TITLE", 16),
            Column::shrinking("DIRECTORY", 12),
            Column::fixed("TOKENS"),
        ];
        let titles = [
            "short",
            "a title that is longer than most terminals are wide, by far, and then some",
            "日本語の長い題名です、とても長い",
        ];
        let row = |title: &&str| {
            let cells = ["11111111", "claude", "2026-11-30", *title, "/home/dev/日本語/a-long-folder", "1.5M"];
            cells.map(str::to_owned).to_vec()
        };
        let rows: Vec<Vec<String>> = titles.iter().map(row).collect();
        for width in [40, 41, 60, 80, 100, 200] {
            let mut out = Vec::new();
            print_aligned(&mut out, &columns, &rows, width).unwrap();
            let text = String::from_utf8(out).unwrap();
            assert_eq!(text.lines().count(), 4, "{text}");
            assert!(text.lines().all(|line| line.width() <= width), "{width}:\n{text}");
        }
    }

    #[test]
    fn cutting_counts_columns_not_characters() {
        assert_eq!(cut("日本語", 6), "日本語");
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut("abc", 1), "…");
    }
}
