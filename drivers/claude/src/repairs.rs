//! Which records of a transcript will need repair, told before their nodes are read: half
//! surrogate pairs are found by what they are written with. It is one more pass over the file,
//! so of a large one only the nodes themselves tell it.

use crate::lines::{self, Lines, MAX_LINE, Repair};
use crate::place::STORE;
use sepia_ir::{DriverError, FileEntry, SurveyQuery, Warning};
use sepia_sdk::Host;

/// Escapes of surrogates are rare: the agent writes such characters as they are.
const NEEDLES: [&[u8]; 2] = [b"\\ud", b"\\uD"];
/// Lines that are looked into.
const MOST_LINES: u32 = 1024;
/// Bytes that are looked into.
const MOST_BYTES: u64 = 32 << 20;

/// Larger files are not looked through.
const LARGEST: u64 = 16 << 20;

/// A warning for each record with half surrogate pairs.
pub(crate) fn of(host: &Host, file: &FileEntry) -> Result<Vec<Warning>, DriverError> {
    let path = file.path.as_str();
    if file.bytes > LARGEST {
        return Ok(Vec::new());
    }
    let query = SurveyQuery {
        needles: NEEDLES.map(<[u8]>::to_vec).to_vec(),
        head: 0,
        tail: 0,
        max_line: 0,
        max_lines: MOST_LINES,
    };
    let mut lines = Lines::sparse(host.clone(), path.to_owned());
    let (mut warnings, mut looked) = (Vec::new(), 0);
    for found in host.survey(STORE, path, &query)?.lines {
        looked += found.bytes;
        let Some(length) = u32::try_from(found.bytes).ok().filter(|length| *length <= MAX_LINE) else { continue };
        if looked > MOST_BYTES {
            break;
        }
        let (repaired, count) = sepia_ir::json_text::replace_lone_surrogates(lines.get(found.offset, length)?);
        if count == 0 {
            continue;
        }
        let (code, what) = Repair::Surrogates(count).told();
        let member = lines::repaired_member(&String::from_utf8_lossy(&repaired));
        let member = member.map(|member| format!(" of `{member}`")).unwrap_or_default();
        let mut warning = Warning::new(code, format!("{what}{member} in `{path}`")).in_file(path);
        warning.offset = Some(found.offset);
        warnings.push(warning);
    }
    Ok(warnings)
}
