//! Projects: names under which a person keeps sessions of any agent together.

use super::document::Document;
use super::patch::project_name;
use super::{Overlay, file};
use crate::plane::{ErrorKind, Plane, PlaneError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use std::collections::BTreeMap;

/// Projects that there may be.
const MOST_PROJECTS: usize = 10_000;

/// A project of this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Project {
    /// `proj_` and 8 hexadecimal digits.
    pub id: String,
    /// Name for people, 1 to 100 characters; several projects may have the same.
    pub name: String,
}

impl Plane {
    /// The projects, by id.
    pub async fn projects(&self) -> Result<Vec<Project>, PlaneError> {
        self.overlay().read(|document| document.project_list().collect()).await
    }

    /// A new project of this name.
    pub async fn create_project(&self, name: &str) -> Result<Project, PlaneError> {
        let name = project_name(name)?;
        let place = self.overlay().file.clone();
        self.overlay()
            .change(move |document| {
                if document.projects.len() >= MOST_PROJECTS {
                    let message = format!("there are {MOST_PROJECTS} projects, and no more can be kept; delete some");
                    return Err(PlaneError::new(ErrorKind::Invalid, message));
                }
                let mut id = fresh_id();
                while document.projects.contains_key(&id) {
                    id = fresh_id();
                }
                document.name_project(&id, &name).map_err(|e| file::failed(&place, "could not be changed", e))?;
                Ok(Project { id, name })
            })
            .await
    }

    /// Gives a project another name. `not_found` when there is none of that id.
    pub async fn rename_project(&self, id: &str, name: &str) -> Result<Project, PlaneError> {
        let (id, name, place) = (id.to_owned(), project_name(name)?, self.overlay().file.clone());
        self.overlay()
            .change(move |document| {
                document.known_project(&id)?;
                document.name_project(&id, &name).map_err(|e| file::failed(&place, "could not be changed", e))?;
                Ok(Project { id, name })
            })
            .await
    }

    /// Deletes a project, and takes it out of all sessions. That there is none of that id is fine.
    pub async fn delete_project(&self, id: &str) -> Result<(), PlaneError> {
        let (id, place) = (id.to_owned(), self.overlay().file.clone());
        self.overlay()
            .change(move |document| {
                document.projects.remove(&id);
                document.leave_project(&id).map_err(|e| file::failed(&place, "could not be changed", e))
            })
            .await
    }

    /// The project that a person means: by its id, or by its name when only one has it.
    pub async fn find_project(&self, given: &str) -> Result<Project, PlaneError> {
        let projects = self.projects().await?;
        if let Some(project) = projects.iter().find(|project| project.id == given) {
            return Ok(project.clone());
        }
        let mut named: Vec<Project> = projects.into_iter().filter(|project| project.name == given.trim()).collect();
        match (named.pop(), named.len()) {
            (None, _) => Err(unknown_project(given)),
            (Some(one), 0) => Ok(one),
            (Some(_), others) => {
                let shown = crate::text::clean_line(given, 80);
                let message = format!("{} projects have the name `{shown}`; take the id of one", others + 1);
                Err(PlaneError::new(ErrorKind::Invalid, message))
            }
        }
    }

    /// Puts a session into a project, or takes it out. `not_found` when there is no such project
    /// or session. The agent that the session belongs to.
    pub async fn set_in_project(
        &self,
        project: &str,
        id: &str,
        agent: Option<&str>,
        inside: bool,
    ) -> Result<String, PlaneError> {
        let agent = self.owner_of(id, agent).await?;
        let (project, id, owner, place) =
            (project.to_owned(), id.to_owned(), agent.clone(), self.overlay().file.clone());
        self.overlay()
            .change(move |document| {
                document.known_project(&project)?;
                let changed = document.change_session(&owner, &id, |entry| {
                    if inside { entry.join_project(&project) } else { entry.leave_project(&project).map(|_| ()) }
                });
                changed.map_err(|e| file::failed(&place, "could not be changed", e))
            })
            .await?;
        Ok(agent)
    }
}

impl Overlay {
    /// Reads something out of the document. A damaged file is kept aside, and the log says so.
    async fn read<T: Send + 'static>(
        &self,
        take: impl FnOnce(&Document) -> T + Send + 'static,
    ) -> Result<T, PlaneError> {
        self.noted().await;
        let (path, wait) = (self.file.clone(), self.wait);
        let read = tokio::task::spawn_blocking(move || {
            let (document, said) = super::read_or_set_right(&path, wait)?;
            if let Some(said) = said {
                tracing::warn!("{said}");
            }
            Ok(take(&document))
        });
        read.await
            .map_err(|e| PlaneError::new(ErrorKind::Internal, "the overlay could not be read").because(e.to_string()))?
    }
}

impl Document {
    fn project_list(&self) -> impl Iterator<Item = Project> {
        self.projects.iter().filter_map(|(id, value)| Some(Project { id: id.clone(), name: name_of(value)? }))
    }

    fn known_project(&self, id: &str) -> Result<(), PlaneError> {
        if self.projects.contains_key(id) { Ok(()) } else { Err(unknown_project(id)) }
    }

    /// Names a project, and leaves alone what else is said of it.
    fn name_project(&mut self, id: &str, name: &str) -> Result<(), serde_json::Error> {
        let known = self.projects.get(id).and_then(|value| serde_json::from_str(value.get()).ok());
        let mut members: BTreeMap<String, Box<RawValue>> = known.unwrap_or_default();
        members.insert("name".to_owned(), to_raw_value(name)?);
        self.projects.insert(id.to_owned(), to_raw_value(&members)?);
        Ok(())
    }
}

/// Name of a project; in older files it stands alone.
fn name_of(value: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Form {
        Object { name: String },
        Alone(String),
    }
    match serde_json::from_str(value.get()).ok()? {
        Form::Object { name } | Form::Alone(name) => Some(name),
    }
}

fn unknown_project(id: &str) -> PlaneError {
    let shown = crate::text::clean_line(id, 80);
    let message = format!("there is no project `{shown}`; `sepia project list` shows those that there are");
    PlaneError::new(ErrorKind::NotFound, message)
}

fn fresh_id() -> String {
    let random = uuid::Uuid::new_v4().simple().to_string();
    format!("proj_{}", &random[..8])
}
