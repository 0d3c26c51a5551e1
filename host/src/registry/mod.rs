//! The capability registry.
