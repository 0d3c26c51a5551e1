//! The methods that write.

use super::error;
use super::methods::Call;
use super::params::{
    ConvertParams, DeleteParams, EmptyParams, ImportParams, NoParams, RenameParams, RestoreParams, RewindParams,
    TrashParams,
};
use super::results::{Converted, Emptied, Renamed};
use crate::jsonrpc::{ErrorObject, Outgoing};
use crate::plane::{ErrorKind, PlaneError};
use serde::Serialize;

type Answer = Result<Outgoing, ErrorObject>;

fn invalid(message: String) -> ErrorObject {
    error::of_plane(&PlaneError::new(ErrorKind::Invalid, message))
}

impl Call<'_> {
    pub(super) async fn sessions_import(&self) -> Answer {
        let params: ImportParams = match self.params() {
            // A session that is none is the caller's data, not the shape of the call.
            Err(_) if self.has_member("session") && self.has_member("agent") => {
                let why = self.params::<ImportParams>().err().map(|e| e.message).unwrap_or_default();
                return Err(invalid(format!("the session can't be imported: {why}")));
            }
            params => params?,
        };
        let (session, to) = params.into_parts();
        self.done(self.plane.import(session, &to).await)
    }

    pub(super) async fn sessions_convert(&self) -> Answer {
        let params: ConvertParams = self.params()?;
        let (id, from, to) = params.into_parts();
        self.done(self.plane.convert(&id, from.as_deref(), &to).await.map(Converted::from))
    }

    pub(super) async fn sessions_delete(&self) -> Answer {
        let params: DeleteParams = self.params()?;
        self.done(self.plane.delete(&params.id, params.agent.as_deref(), params.options()).await)
    }

    pub(super) async fn sessions_rename(&self) -> Answer {
        let params: RenameParams = self.params()?;
        let renamed = self.plane.rename(&params.id, params.agent.as_deref(), &params.title).await;
        self.done(renamed.map(|title| Renamed { title }))
    }

    pub(super) async fn sessions_rewind(&self) -> Answer {
        let params: RewindParams = self.params()?;
        let (cut, options) = params.cut().map_err(invalid)?;
        self.done(self.plane.rewind(&params.id, params.agent.as_deref(), &cut, options).await)
    }

    pub(super) async fn sessions_restore(&self) -> Answer {
        let params: RestoreParams = self.params()?;
        let request = params.request().map_err(invalid)?;
        self.done(self.plane.restore(&params.id, params.agent.as_deref(), &request).await)
    }

    pub(super) fn trash_list(&self) -> Answer {
        let NoParams {} = self.params()?;
        self.done(self.plane.trashed())
    }

    pub(super) async fn trash_restore(&self) -> Answer {
        let params: TrashParams = self.params()?;
        self.done(self.plane.restore_from_trash(&params.entry).await)
    }

    pub(super) fn trash_empty(&self) -> Answer {
        let params: EmptyParams = self.params()?;
        params.checked().map_err(|e| error::invalid_params("trash.empty", &e))?;
        self.done(self.plane.empty_trash(params.entry.as_deref()).map(|emptied| Emptied { emptied }))
    }

    fn done<R: Serialize>(&self, outcome: Result<R, PlaneError>) -> Answer {
        Ok(self.result(&outcome.map_err(|e| error::of_plane(&e))?))
    }
}
