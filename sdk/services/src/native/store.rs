//! A granted store, opened: the only way to its files.

use super::error::ServiceError;
use super::place::is_directory;
use cap_std::fs::Dir;
use sepia_ir::{FileEntry, Projection, StoreKind, SurveyQuery, SurveyReport, WalkReport};
use std::path::{Path, PathBuf};

/// The stores of one driver.
#[derive(Debug, Default)]
pub struct Stores(Vec<Store>);

/// A granted store. What does not exist opens as an empty one.
#[derive(Debug)]
pub struct Store {
    name: String,
    place: PathBuf,
    root: Option<Dir>,
    links: Vec<Link>,
}

/// A link at a place where the store allows links, followed once by the host.
#[derive(Debug)]
pub struct Link {
    /// Relative to the store.
    pub path: String,
    /// Where it leads.
    pub target: PathBuf,
    /// Its target, opened.
    pub dir: Dir,
}
