//! The session plane.
