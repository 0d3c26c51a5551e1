//! The methods: what is available, and what each does.

use super::answer;
use super::error;
use super::feeds::Feeds;
use super::live::Answered;
use super::order::Position;
use super::params::{self, HistoryParams, ListParams, NoParams, SearchParams, SessionParams};
use super::params::{PatchMetaParams, ProjectCreateParams, ProjectParams, ProjectRenameParams};
use super::results::ServiceManifest;
use crate::home::machine_name;
use crate::jsonrpc::{ErrorObject, Id, Outgoing, Request};
use crate::plane::{ErrorKind, FoundRow, OpenSession, Plane, PlaneError};
use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use std::collections::HashMap;
use std::io;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

/// A method of this build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Manifest,
    AgentsList,
    SessionsList,
    SessionsGet,
    SessionsSummary,
    SessionsExport,
    SessionsHistory,
    SessionsSearch,
    SessionsImport,
    SessionsConvert,
    SessionsDelete,
    SessionsRename,
    SessionsRewind,
    SessionsRestore,
    TrashList,
    TrashRestore,
    TrashEmpty,
    SessionsPatchMeta,
    ProjectsList,
    ProjectsCreate,
    ProjectsRename,
    ProjectsDelete,
    SessionsAttach,
    SessionsDetach,
    SessionsCreate,
    SessionsPrompt,
    SessionsCancel,
    SessionsPermission,
    SessionsSubscribe,
    SessionsEvents,
    EventsSubscribe,
    Shutdown,
}

impl Method {
    /// Whether it changes something that a later request may build on: these keep their order.
    pub(super) fn changes_something(self) -> bool {
        matches!(
            self,
            Self::SessionsPatchMeta
                | Self::ProjectsCreate
                | Self::ProjectsRename
                | Self::ProjectsDelete
                | Self::SessionsDelete
                | Self::SessionsRename
                | Self::SessionsRewind
                | Self::SessionsRestore
                | Self::TrashRestore
                | Self::TrashEmpty
        )
    }
}

impl Method {
    /// Whether it is said to a live session, or decides whether there is one: these reach it in the order in which
    /// they came, however long their answers take.
    pub(super) fn is_said_to_a_session(self) -> bool {
        matches!(
            self,
            Self::SessionsAttach
                | Self::SessionsDetach
                | Self::SessionsPrompt
                | Self::SessionsCancel
                | Self::SessionsPermission
                | Self::SessionsSubscribe
                | Self::EventsSubscribe
        )
    }

    /// Whether its answer waits for what an agent does, for as long as that takes.
    pub(super) fn waits_for_an_agent(self) -> bool {
        matches!(self, Self::SessionsAttach | Self::SessionsCreate | Self::SessionsPrompt | Self::SessionsDetach)
    }
}

/// The methods of this build, in the order of the wire document.
pub(super) const METHODS: [(&str, Method); 32] = [
    ("manifest", Method::Manifest),
    ("agents.list", Method::AgentsList),
    ("sessions.list", Method::SessionsList),
    ("sessions.get", Method::SessionsGet),
    ("sessions.summary", Method::SessionsSummary),
    ("sessions.export", Method::SessionsExport),
    ("sessions.history", Method::SessionsHistory),
    ("sessions.attach", Method::SessionsAttach),
    ("sessions.detach", Method::SessionsDetach),
    ("sessions.create", Method::SessionsCreate),
    ("sessions.prompt", Method::SessionsPrompt),
    ("sessions.cancel", Method::SessionsCancel),
    ("sessions.permission", Method::SessionsPermission),
    ("sessions.search", Method::SessionsSearch),
    ("sessions.import", Method::SessionsImport),
    ("sessions.convert", Method::SessionsConvert),
    ("sessions.delete", Method::SessionsDelete),
    ("sessions.rename", Method::SessionsRename),
    ("sessions.rewind", Method::SessionsRewind),
    ("sessions.restore", Method::SessionsRestore),
    ("trash.list", Method::TrashList),
    ("trash.restore", Method::TrashRestore),
    ("trash.empty", Method::TrashEmpty),
    ("sessions.patch_meta", Method::SessionsPatchMeta),
    ("projects.list", Method::ProjectsList),
    ("projects.create", Method::ProjectsCreate),
    ("projects.rename", Method::ProjectsRename),
    ("projects.delete", Method::ProjectsDelete),
    ("sessions.subscribe", Method::SessionsSubscribe),
    ("sessions.events", Method::SessionsEvents),
    ("events.subscribe", Method::EventsSubscribe),
    ("shutdown", Method::Shutdown),
];

/// Methods of the wire document that this build lacks.
const LATER: [&str; 3] = ["config.list", "config.get", "config.import"];

/// Finds a method by its name.
pub(super) fn by_name(name: &str) -> Result<Method, ErrorObject> {
    match METHODS.iter().find(|(known, _)| *known == name) {
        Some((_, method)) => Ok(*method),
        None if LATER.contains(&name) => Err(error::not_in_this_build(name)),
        None => Err(error::unknown_method(name)),
    }
}

/// Answers a request; `shutdown` is answered by whoever ends the connection.
pub(super) async fn answer_to(
    plane: &Arc<Plane>,
    method: Method,
    request: Request,
    feeds: &Feeds,
    turn: Option<Position>,
) -> Answered {
    let mut turn = turn;
    if let Some(turn) = &mut turn {
        turn.reached().await;
    }
    let call = Call { plane, request: &request, feeds, turn: Mutex::new(turn) };
    let subscribed = match method {
        Method::SessionsSubscribe => Some(call.sessions_subscribe().await),
        Method::EventsSubscribe => Some(call.events_subscribe()),
        _ => None,
    };
    if let Some(subscribed) = subscribed {
        return subscribed.unwrap_or_else(|error| answer::failure(&request.id, &error).into());
    }
    let answer = match method {
        Method::Manifest => call.manifest(),
        Method::AgentsList => call.agents_list().await,
        Method::SessionsList => call.sessions_list().await,
        Method::SessionsSummary => call.sessions_summary().await,
        Method::SessionsHistory => call.sessions_history().await,
        Method::SessionsSearch => call.sessions_search().await,
        Method::SessionsGet => call.sessions_whole(b"", b"").await,
        Method::SessionsPatchMeta => call.sessions_patch_meta().await,
        Method::ProjectsList => call.projects_list().await,
        Method::ProjectsCreate => call.projects_create().await,
        Method::ProjectsRename => call.projects_rename().await,
        Method::ProjectsDelete => call.projects_delete().await,
        Method::SessionsExport => call.sessions_whole(b"{\"session\":", b"}").await,
        Method::SessionsImport => call.sessions_import().await,
        Method::SessionsConvert => call.sessions_convert().await,
        Method::SessionsDelete => call.sessions_delete().await,
        Method::SessionsRename => call.sessions_rename().await,
        Method::SessionsRewind => call.sessions_rewind().await,
        Method::SessionsRestore => call.sessions_restore().await,
        Method::TrashList => call.trash_list(),
        Method::TrashRestore => call.trash_restore().await,
        Method::TrashEmpty => call.trash_empty(),
        Method::SessionsAttach => call.sessions_attach().await,
        Method::SessionsDetach => call.sessions_detach().await,
        Method::SessionsCreate => call.sessions_create().await,
        Method::SessionsPrompt => call.sessions_prompt().await,
        Method::SessionsCancel => call.sessions_cancel().await,
        Method::SessionsPermission => call.sessions_permission().await,
        Method::SessionsEvents => call.sessions_events().await,
        Method::Shutdown | Method::SessionsSubscribe | Method::EventsSubscribe => Ok(call.result(&())),
    };
    answer.unwrap_or_else(|error| answer::failure(&request.id, &error)).into()
}

pub(super) struct Call<'a> {
    pub(super) plane: &'a Arc<Plane>,
    request: &'a Request,
    pub(super) feeds: &'a Feeds,
    /// What is said to live sessions after this waits for it.
    turn: Mutex<Option<Position>>,
}

impl Call<'_> {
    /// It has reached its session: what was said after it may go on.
    pub(super) fn reached(&self) {
        drop(self.turn.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    fn manifest(&self) -> Result<Outgoing, ErrorObject> {
        self.with_params(|_: NoParams| {
            let name = machine_name(&|name| std::env::var(name).ok());
            Ok(ServiceManifest {
                name: "sepia",
                version: env!("CARGO_PKG_VERSION"),
                protocol: super::PROTOCOL,
                node: self.plane.node(&name),
                config: self.plane.config().clone(),
                methods: METHODS.iter().map(|(name, _)| *name).collect(),
            })
        })
    }

    async fn agents_list(&self) -> Result<Outgoing, ErrorObject> {
        let NoParams {} = self.params()?;
        Ok(self.result(&self.plane.agents().await))
    }

    async fn sessions_list(&self) -> Result<Outgoing, ErrorObject> {
        let params: ListParams = self.params()?;
        let request = params.into_request().map_err(|e| error::invalid_params(&self.request.method, &e))?;
        let listing = self.plane.list(&request).await.map_err(|e| error::of_plane(&e))?;
        Ok(self.result(&listing.rows))
    }

    async fn sessions_summary(&self) -> Result<Outgoing, ErrorObject> {
        let params: SessionParams = self.params()?;
        let summary = self.plane.summary(&params.id, params.agent.as_deref()).await;
        Ok(self.result(&summary.map_err(|e| error::of_plane(&e))?))
    }

    async fn sessions_history(&self) -> Result<Outgoing, ErrorObject> {
        let params: HistoryParams = self.params()?;
        let page = self.plane.history(&params.into_request()).await.map_err(|e| error::of_plane(&e))?;
        Ok(self.result(&page))
    }

    async fn sessions_search(&self) -> Result<Outgoing, ErrorObject> {
        let params: SearchParams = self.params()?;
        let request = params.into_request().map_err(|e| error::invalid_params(&self.request.method, &e))?;
        let mut rows = Vec::new();
        let end = self.plane.search(&request, |row| {
            rows.push(row);
            ControlFlow::Continue(())
        });
        let end = end.await.map_err(|e| error::of_plane(&e))?;
        rows.extend(end.warnings.into_iter().map(FoundRow::of_warning));
        Ok(self.result(&rows))
    }

    /// A whole session between two pieces of JSON.
    async fn sessions_whole(&self, before: &'static [u8], after: &'static [u8]) -> Result<Outgoing, ErrorObject> {
        let params: SessionParams = self.params()?;
        let session = self.plane.open(&params.id, params.agent.as_deref()).await.map_err(|e| error::of_plane(&e))?;
        let (id, in_memory) = (self.request.id.clone(), self.plane.limits().answer_in_memory);
        let written = tokio::task::spawn_blocking(move || written_out(session, &id, in_memory, before, after));
        written.await.map_err(|e| error::internal(e.to_string()))?.map_err(|e| error::of_plane(&e))
    }

    async fn sessions_patch_meta(&self) -> Result<Outgoing, ErrorObject> {
        let params: PatchMetaParams = self.params()?;
        let patched = self.plane.patch_meta(&params.id, params.agent.as_deref(), params.patch.into()).await;
        self.answered(patched.map(|_agent| ()))
    }

    async fn projects_list(&self) -> Result<Outgoing, ErrorObject> {
        let NoParams {} = self.params()?;
        self.answered(self.plane.projects().await)
    }

    async fn projects_create(&self) -> Result<Outgoing, ErrorObject> {
        let params: ProjectCreateParams = self.params()?;
        self.answered(self.plane.create_project(&params.name).await)
    }

    async fn projects_rename(&self) -> Result<Outgoing, ErrorObject> {
        let params: ProjectRenameParams = self.params()?;
        self.answered(self.plane.rename_project(&params.id, &params.name).await)
    }

    async fn projects_delete(&self) -> Result<Outgoing, ErrorObject> {
        let params: ProjectParams = self.params()?;
        self.answered(self.plane.delete_project(&params.id).await)
    }

    pub(super) fn answered<R: Serialize>(&self, value: Result<R, PlaneError>) -> Result<Outgoing, ErrorObject> {
        value.map_err(|e| error::of_plane(&e)).map(|value| self.result(&value))
    }

    fn with_params<P: DeserializeOwned, R: Serialize>(
        &self,
        answer: impl FnOnce(P) -> Result<R, PlaneError>,
    ) -> Result<Outgoing, ErrorObject> {
        let params = self.params()?;
        let value = answer(params).map_err(|e| error::of_plane(&e))?;
        Ok(self.result(&value))
    }

    pub(super) fn params<P: DeserializeOwned>(&self) -> Result<P, ErrorObject> {
        let text = self.request.params.as_ref().map(crate::jsonrpc::Fragment::get);
        params::parse(text).map_err(|e| error::invalid_params(&self.request.method, &e))
    }

    /// Whether the parameters are an object that has this member, which is not `null`.
    pub(super) fn has_member(&self, name: &str) -> bool {
        let text = self.request.params.as_ref().map(crate::jsonrpc::Fragment::get);
        let members = params::parse::<HashMap<String, Option<IgnoredAny>>>(text);
        members.is_ok_and(|members| members.get(name).is_some_and(Option::is_some))
    }

    pub(super) fn result<R: Serialize + ?Sized>(&self, value: &R) -> Outgoing {
        answer::result(&self.request.id, value, self.plane.limits().answer_in_memory)
    }
}

/// Writes the session out while it is read.
fn written_out(
    session: OpenSession,
    id: &Id,
    in_memory: usize,
    before: &[u8],
    after: &[u8],
) -> Result<Outgoing, PlaneError> {
    struct Failed(PlaneError);
    impl From<io::Error> for Failed {
        fn from(e: io::Error) -> Self {
            let message = "the answer could not be kept until it was whole; is the disk of temporary files full?";
            Self(PlaneError::new(ErrorKind::Internal, message).because(e.to_string()))
        }
    }
    let answer = answer::streamed(id, in_memory, before, after, |out| {
        session.serialize_blocking(&mut (), |streamed| streamed.serialize(out)).map_err(Failed)
    });
    answer.map_err(|failed: Failed| failed.0)
}
