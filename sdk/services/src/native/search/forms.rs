//! An atom as bytes of a file: as it is, or with any of its characters written as JSON's
//! escapes.

use super::atoms::Atom;
use memchr::memmem;
use regex::bytes::{Regex, RegexBuilder};
use std::fmt::Write;

/// Finds an atom in bytes.
#[derive(Debug)]
pub(super) struct Finder {
    plain: Plain,
    /// With escapes: right for every spelling, and slower.
    spelled: Regex,
    /// What escapes of its characters begin with, and what the four digits then say.
    units: Vec<u16>,
    slash: bool,
    /// Bytes of its longest spelling.
    longest: usize,
}

#[derive(Debug)]
enum Plain {
    Bytes(Box<memmem::Finder<'static>>),
    Choices(Regex),
}

/// How to look through one block.
#[derive(Clone, Copy)]
pub(super) enum InBlock<'a> {
    Bytes(&'a memmem::Finder<'static>),
    Expression(&'a Regex),
}

impl InBlock<'_> {
    pub(super) fn find(self, bytes: &[u8]) -> Option<usize> {
        match self {
            Self::Bytes(finder) => finder.find(bytes),
            Self::Expression(regex) => regex.find(bytes).map(|found| found.start()),
        }
    }
}

/// Bytes of an escape, `\u` and four digits.
const ESCAPE: usize = 6;

impl Finder {
    /// None when the atom is more than the engine takes: then nothing is told by it.
    pub(super) fn new(atom: &Atom) -> Option<Self> {
        let characters = || atom.iter().flatten().copied();
        let mut units: Vec<u16> = characters().flat_map(|c| c.encode_utf16(&mut [0; 2]).to_vec()).collect();
        units.sort_unstable();
        units.dedup();
        let plain = match atom.iter().map(|choices| <[char; 1]>::try_from(choices.as_slice()).ok()).collect() {
            Some(only) => {
                let only: Vec<[char; 1]> = only;
                let text: String = only.into_iter().flatten().collect();
                Plain::Bytes(Box::new(memmem::Finder::new(text.as_bytes()).into_owned()))
            }
            None => Plain::Choices(regex(atom, raw)?),
        };
        let longest_of = |choices: &Vec<char>| choices.iter().map(|c| c.len_utf16() * ESCAPE).max().unwrap_or(0);
        Some(Self {
            plain,
            spelled: regex(atom, |c, out| {
                raw(c, out);
                out.push('|');
                escaped(c, out);
                if c == '/' {
                    out.push_str("|\\\\/");
                }
            })?,
            units,
            slash: characters().any(|c| c == '/'),
            longest: atom.iter().map(longest_of).sum::<usize>().max(1),
        })
    }

    /// Bytes that an occurrence may have.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    /// What to look for in this block: escapes only where it holds one that matters.
    pub(super) fn in_block(&self, block: &[u8]) -> InBlock<'_> {
        if self.may_be_spelled(block) {
            return InBlock::Expression(&self.spelled);
        }
        match &self.plain {
            Plain::Bytes(finder) => InBlock::Bytes(finder),
            Plain::Choices(regex) => InBlock::Expression(regex),
        }
    }

    fn may_be_spelled(&self, block: &[u8]) -> bool {
        let unit = |at: usize| {
            let digits = std::str::from_utf8(block.get(at + 2..at + ESCAPE)?).ok()?;
            u16::from_str_radix(digits, 16).ok()
        };
        let of_atom = |at: usize| unit(at).is_some_and(|unit| self.units.binary_search(&unit).is_ok());
        memmem::find_iter(block, b"\\u").any(of_atom) || self.slash && memmem::find(block, b"\\/").is_some()
    }
}

/// An expression over bytes: of each place the choices, each in all of its spellings.
fn regex(atom: &Atom, spell: impl Fn(char, &mut String)) -> Option<Regex> {
    let mut expression = String::new();
    for choices in atom {
        expression.push_str("(?:");
        for (at, c) in choices.iter().enumerate() {
            if at > 0 {
                expression.push('|');
            }
            spell(*c, &mut expression);
        }
        expression.push(')');
    }
    RegexBuilder::new(&expression).unicode(false).build().ok()
}

fn raw(c: char, out: &mut String) {
    for byte in c.encode_utf8(&mut [0; 4]).bytes() {
        // Writing to a string does not fail.
        let _ = write!(out, "\\x{byte:02x}");
    }
}

/// `\u` and digits of either case; two of them for what is outside the basic plane.
fn escaped(c: char, out: &mut String) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        out.push_str("\\\\u");
        for digit in format!("{unit:04x}").chars() {
            if digit.is_ascii_digit() {
                out.push(digit);
            } else {
                out.extend(['[', digit, digit.to_ascii_uppercase(), ']']);
            }
        }
    }
}
