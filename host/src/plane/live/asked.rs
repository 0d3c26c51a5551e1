//! Permissions that an agent waits for, and which of them were told.
//!
//! Whoever begins to follow is told of those that are open, once: the ones that were told before
//! are handed to them, and the others they hear of like everybody else.

use super::batch::Batch;
use super::event::{AskedPermission, SessionEvent};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The name of the event that tells of one.
pub const PERMISSION_REQUEST: &str = "acp:permission_request";

/// Those of one session, in their order.
#[derive(Debug, Clone, Default)]
pub(super) struct Asked(Arc<Mutex<Vec<Open>>>);

#[derive(Debug)]
struct Open {
    permission: AskedPermission,
    told: bool,
}

impl Asked {
    /// One that is to be told.
    pub(super) fn add(&self, permission: AskedPermission) {
        self.open().push(Open { permission, told: false });
    }

    /// It is answered.
    pub(super) fn remove(&self, request: &str) {
        self.open().retain(|open| open.permission.request_id != request);
    }

    /// What a batch tells of was told from here on.
    pub(super) fn tells(&self, batch: &Batch) {
        for event in &batch.events {
            let SessionEvent::Custom { name, value } = event else { continue };
            let request = value["requestId"].as_str().filter(|_| name == PERMISSION_REQUEST);
            if let Some(open) = self.open().iter_mut().find(|open| Some(open.permission.request_id.as_str()) == request)
            {
                open.told = true;
            }
        }
    }

    /// All that are open.
    pub(super) fn all(&self) -> Vec<AskedPermission> {
        self.open().iter().map(|open| open.permission.clone()).collect()
    }

    /// Those that were told.
    pub(super) fn told(&self) -> Vec<AskedPermission> {
        self.open().iter().filter(|open| open.told).map(|open| open.permission.clone()).collect()
    }

    fn open(&self) -> MutexGuard<'_, Vec<Open>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
