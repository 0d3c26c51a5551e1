//! The host side of `wit/host.wit`.
