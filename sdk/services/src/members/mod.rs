//! Members of a line of JSON, found in one look without building a value: for guests and for
//! the host alike.

mod escape;
mod pattern;
mod scan;

pub use pattern::{BadMember, Pattern};
pub use scan::Scanner;
