//! A driver as a program: its services done in this process, and the loop on stdio.

mod serve;
mod services;
mod writing_services;

pub use serve::{Writing, answer, answer_writing, serve, serve_writing};
pub use services::Native;
pub use writing_services::NativeWriting;
