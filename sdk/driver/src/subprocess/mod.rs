//! A driver as a program: its services done in this process, and the loop on stdio.

mod services;

pub use services::Native;
