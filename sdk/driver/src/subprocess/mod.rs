//! A driver as a program: its services done in this process, and the loop on stdio.

mod serve;
mod services;

pub use serve::{answer, serve};
pub use services::Native;
