//! Looking for text: in texts, and in files that spell it with JSON's escapes.
//!
//! ```text
//! pattern   a query made ready; matches in texts
//! atoms     text that every match has in it, from the query's expression
//! forms     an atom as bytes of a file, however JSON spells it
//! scan      the lines of a file that hold one of some atoms
//! files     what the host answers of files
//! ```

mod atoms;
mod files;
mod forms;
mod pattern;
mod scan;

#[cfg(test)]
mod tests;

pub use pattern::Pattern;
