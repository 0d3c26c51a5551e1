//! The wire as JSON Schema, made from the types that it is spoken with.

use super::events::{NodeEventParams, SessionEventParams};
use super::methods::{METHODS, Method};
use super::params::{AttachParams, CreateParams, EventsParams, PermissionParams, PromptParams, SubscribeParams};
use super::params::{
    ConvertParams, DeleteParams, EmptyParams, HistoryParams, ImportParams, ListParams, NoParams, RenameParams,
    RestoreParams, RewindParams, SearchParams, SessionParams, TrashParams,
};
use super::params::{PatchMetaParams, ProjectCreateParams, ProjectParams, ProjectRenameParams};
use super::results::{
    Bundle, Converted, Emptied, Prompted, Renamed, ServiceManifest, StoredEvents, Subscribed, SubscribedNode,
};
use crate::plane::{
    Agent, Attached, Created, Deleted, FilesRestored, FoundRow, HistoryPage, Project, Restored, Rewound, Saved,
    SessionRow, Trashed,
};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use sepia_ir::Session;
use serde_json::{Value, json};

/// JSON Schema (draft 2020-12) of every method's params and result and of every notification:
/// `{protocol, methods: {<name>: {params, result}}, notifications: {<name>: {params}}, $defs}`.
pub fn schema() -> Value {
    let mut requests = SchemaSettings::draft2020_12().for_deserialize().into_generator();
    let mut answers = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let methods: serde_json::Map<String, Value> = METHODS
        .iter()
        .map(|(name, method)| {
            let (params, result) = of_method(*method, &mut requests, &mut answers);
            ((*name).to_owned(), json!({ "params": params, "result": result }))
        })
        .collect();
    let notifications = json!({
        "session.event": { "params": answers.subschema_for::<SessionEventParams>() },
        "node.event": { "params": answers.subschema_for::<NodeEventParams>() },
    });
    let mut definitions = requests.take_definitions(true);
    definitions.extend(answers.take_definitions(true));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "sepia serve",
        "protocol": super::PROTOCOL,
        "methods": methods,
        "notifications": notifications,
        "$defs": definitions,
    })
}

fn of_method(method: Method, requests: &mut SchemaGenerator, answers: &mut SchemaGenerator) -> (Schema, Schema) {
    fn of<P: JsonSchema, R: JsonSchema>(
        params: &mut SchemaGenerator,
        result: &mut SchemaGenerator,
    ) -> (Schema, Schema) {
        (params.subschema_for::<P>(), result.subschema_for::<R>())
    }
    match method {
        Method::Manifest => of::<NoParams, ServiceManifest>(requests, answers),
        Method::AgentsList => of::<NoParams, Vec<Agent>>(requests, answers),
        Method::SessionsList => of::<ListParams, Vec<SessionRow>>(requests, answers),
        Method::SessionsGet | Method::SessionsSummary => of::<SessionParams, Session>(requests, answers),
        Method::SessionsExport => of::<SessionParams, Bundle>(requests, answers),
        Method::SessionsHistory => of::<HistoryParams, HistoryPage>(requests, answers),
        Method::SessionsSearch => of::<SearchParams, Vec<FoundRow>>(requests, answers),
        Method::SessionsImport => of::<ImportParams, Saved>(requests, answers),
        Method::SessionsConvert => of::<ConvertParams, Converted>(requests, answers),
        Method::SessionsDelete => of::<DeleteParams, Deleted>(requests, answers),
        Method::SessionsRename => of::<RenameParams, Renamed>(requests, answers),
        Method::SessionsRewind => of::<RewindParams, Rewound>(requests, answers),
        Method::SessionsRestore => of::<RestoreParams, FilesRestored>(requests, answers),
        Method::TrashList => of::<NoParams, Vec<Trashed>>(requests, answers),
        Method::TrashRestore => of::<TrashParams, Restored>(requests, answers),
        Method::TrashEmpty => of::<EmptyParams, Emptied>(requests, answers),
        Method::SessionsPatchMeta => of::<PatchMetaParams, ()>(requests, answers),
        Method::ProjectsList => of::<NoParams, Vec<Project>>(requests, answers),
        Method::ProjectsCreate => of::<ProjectCreateParams, Project>(requests, answers),
        Method::ProjectsRename => of::<ProjectRenameParams, Project>(requests, answers),
        Method::ProjectsDelete => of::<ProjectParams, ()>(requests, answers),
        Method::SessionsAttach => of::<AttachParams, Attached>(requests, answers),
        Method::SessionsDetach | Method::SessionsCancel => of::<SessionParams, ()>(requests, answers),
        Method::SessionsCreate => of::<CreateParams, Created>(requests, answers),
        Method::SessionsPrompt => of::<PromptParams, Prompted>(requests, answers),
        Method::SessionsPermission => of::<PermissionParams, ()>(requests, answers),
        Method::SessionsSubscribe => of::<SubscribeParams, Subscribed>(requests, answers),
        Method::SessionsEvents => of::<EventsParams, StoredEvents<'_>>(requests, answers),
        Method::EventsSubscribe => of::<NoParams, SubscribedNode<'_>>(requests, answers),
        Method::Shutdown => of::<NoParams, ()>(requests, answers),
    }
}
