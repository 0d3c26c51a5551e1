//! The table at the end.

use crate::child::Used;
use std::io::{self, Write};

/// One line of it.
pub(crate) struct Row {
    pub(crate) task: String,
    pub(crate) sepia: Used,
    /// The bare program, where there is one.
    pub(crate) native: Option<Used>,
    pub(crate) bar: Bar,
    /// Rows or figures that differ from the truth.
    pub(crate) differ: usize,
}

/// What is demanded.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Bar {
    /// Times the bare program.
    pub(crate) ratio: Option<f64>,
    /// Peak memory, MiB.
    pub(crate) peak: Option<u64>,
    /// Milliseconds.
    pub(crate) wall: Option<f64>,
}

const MIB: u64 = 1 << 20;

impl Row {
    fn ratio(&self) -> Option<f64> {
        self.native.map(|native| self.sepia.wall / native.wall.max(1e-3))
    }

    fn holds(&self) -> bool {
        let ratio = self.bar.ratio.is_none_or(|bar| self.ratio().is_some_and(|ratio| ratio <= bar));
        let peak = self.bar.peak.is_none_or(|bar| self.sepia.peak <= bar * MIB);
        ratio && peak && self.bar.wall.is_none_or(|bar| self.sepia.wall <= bar) && self.differ == 0
    }

    fn cells(&self) -> [String; 8] {
        let shown = |used: &Used| match used.cpu {
            cpu if cpu > 0.0 => format!("{:.1} ({cpu:.0})", used.wall),
            _ => format!("{:.1}", used.wall),
        };
        let ratio = self.native.zip(self.ratio()).map(|(native, wall)| {
            let cpu = self.sepia.cpu / native.cpu.max(1e-3);
            format!("{wall:.2} ({cpu:.2})")
        });
        let peak = if self.sepia.peak > 0 { (self.sepia.peak / MIB).to_string() } else { String::new() };
        let bars = [
            self.bar.ratio.map(|bar| format!("{bar}x")),
            self.bar.wall.map(|bar| format!("{bar} ms")),
            self.bar.peak.map(|bar| format!("{bar} MiB")),
        ];
        let bars: Vec<String> = bars.into_iter().flatten().collect();
        let ok = match (bars.is_empty() && self.differ == 0, self.holds()) {
            (true, _) => "-",
            (_, true) => "yes",
            (_, false) => "NO",
        };
        [
            self.task.clone(),
            shown(&self.sepia),
            self.native.as_ref().map_or_else(String::new, shown),
            ratio.unwrap_or_default(),
            peak,
            bars.join(", "),
            self.differ.to_string(),
            ok.to_owned(),
        ]
    }
}

/// Prints the table; whether every bar was held.
pub(crate) fn print(rows: &[Row]) -> io::Result<bool> {
    let head = ["task", "sepia ms (cpu)", "native ms (cpu)", "ratio (cpu)", "peak MiB", "bar", "differ", "ok"];
    let mut lines = vec![head.map(str::to_owned)];
    lines.extend(rows.iter().map(Row::cells));
    let width = |at: usize| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut out = io::stdout().lock();
    for (at, line) in lines.iter().enumerate() {
        let cells: Vec<String> = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        writeln!(out, "{}", cells.join(" | ").trim_end())?;
        if at == 0 {
            let rules: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
            writeln!(out, "{}", rules.join("-+-"))?;
        }
    }
    Ok(rows.iter().all(Row::holds))
}
